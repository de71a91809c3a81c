import HLSGetKit
import HLSKitCore
import HLSKitPlaylist

/// One line of a JSON log and its members. Impossible numbers are ignored.
struct LogEntry: Sendable {
    private let document: JSONDocument

    init(_ document: JSONDocument) { self.document = document }

    // MARK: Members

    func string(_ name: String) -> String? { document[name]?.string.map { String($0.prefix(4000)) } }

    func number(_ name: String) -> Double? {
        guard let number = document[name]?.number, abs(number) < 1e15 else { return nil }
        return number
    }

    func integer(_ name: String) -> Int? { number(name).map { Int($0.rounded()) } }

    func bool(_ name: String) -> Bool {
        if case .bool(true)? = document[name] { true } else { false }
    }

    func array(_ name: String) -> [JSONDocument] { document[name]?.array ?? [] }

    func member(_ name: String) -> LogEntry { LogEntry(document[name] ?? .null) }

    func date(_ name: String) -> PlaylistDate? { string(name).flatMap { PlaylistDate($0) } }

    /// Seconds since the start, or `nil` if the time is missing or invalid.
    var time: Double? {
        guard let time = number("time"), time >= 0, time < 1e9 else { return nil }
        return time
    }

    var date: PlaylistDate? { date("date") }

    private func moment(_ name: String) -> Double? {
        guard let time = number(name), time >= 0, time < 1e9 else { return nil }
        return time
    }

    // MARK: Values

    var variant: SessionRecord.Variant? {
        guard let index = integer("index"), (0..<100_000).contains(index) else { return nil }
        var variant = SessionRecord.Variant(index: index, bandwidth: max(0, number("bandwidth") ?? 0))
        variant.averageBandwidth = number("average_bandwidth")
        variant.width = integer("width") ?? 0
        variant.height = integer("height") ?? 0
        variant.codecs = string("codecs") ?? ""
        return variant
    }

    func request(_ event: String, at time: Double) -> SessionRecord.Request? {
        guard let start = moment("request_start"), let end = moment("response_end"), end >= start else { return nil }
        let kind: SessionRecord.RequestKind =
            switch event {
            case "playlist_request": string("kind") == "multivariant" ? .multivariantPlaylist : .mediaPlaylist
            case "content_key_request": .key
            default: bool("map") ? .initializationSection : mediaKind
            }
        var request = SessionRecord.Request(kind: kind, url: string("url") ?? "", start: start, end: end)
        /// Times outside the request are ignored.
        func phase(_ name: String) -> Double? { moment(name).flatMap { $0 >= start && $0 <= end ? $0 : nil } }
        request.transferStart = phase("transfer_start")
        request.nameLookupEnd = phase("name_lookup_end")
        request.connectEnd = phase("connect_end")
        request.secureConnectEnd = phase("secure_connect_end")
        request.responseStart = phase("response_start")
        request.byteCount = max(0, integer("bytes") ?? 0)
        request.error = string("error")
        request.isFromCache = bool("from_cache")
        request.isReload = bool("reload")
        request.mediaSequence = integer("media_sequence")
        request.segmentStart = number("segment_start")
        request.segmentDuration = number("segment_duration")
        request.variant = integer("variant")
        request.protocolName = string("protocol")
        request.serverAddress = string("server_address")
        return request
    }

    private var mediaKind: SessionRecord.RequestKind {
        switch string("lane") {
        case "audio": .audio
        case "subtitles": .subtitles
        default: .video
        }
    }

    func sample(at time: Double) -> SessionRecord.Sample {
        var sample = SessionRecord.Sample(time: time)
        sample.itemTime = number("item_time")
        sample.throughput = number("throughput_estimate")
        sample.variant = member("variant").integer("index")
        sample.liveOffset = number("latency") ?? number("live_offset")
        guard let playhead = sample.itemTime else { return sample }
        let ranges = array("loaded_time_ranges").compactMap { range -> (start: Double, end: Double)? in
            guard let ends = range.array, ends.count == 2, let start = ends[0].number, let end = ends[1].number,
                end >= start
            else { return nil }
            return (start, end)
        }
        // The playhead may be slightly before the start of the loaded media.
        let range = ranges.first { $0.start - 0.2 <= playhead && playhead < $0.end }
        sample.ahead = range.map { $0.end - playhead } ?? 0
        return sample
    }

    func failure(at time: Double) -> SessionRecord.Failure {
        .init(
            time: time, isRecoverable: bool("recoverable"), code: string("code"),
            cause: string("cause") ?? "unknown", url: string("url"), detail: string("detail"))
    }

    var logFailure: SessionRecord.Failure {
        let status = integer("status_code").flatMap { $0 > 0 ? "HTTP \($0)" : nil }
        return .init(
            isRecoverable: true, code: string("domain"), cause: string("comment") ?? status ?? "unknown",
            url: string("uri"))
    }

    /// The period that a line of the access log describes. Unknown values are negative.
    var period: SessionRecord.Period {
        func known(_ name: String) -> Double? { number(name).flatMap { $0 >= 0 ? $0 : nil } }
        var period = SessionRecord.Period()
        period.uri = string("uri")
        period.watched = known("duration_watched") ?? 0
        period.stalls = Int(known("stalls") ?? 0)
        period.byteCount = Int(known("bytes") ?? 0)
        period.requestCount = Int(known("media_requests") ?? 0)
        period.indicatedBitrate = known("indicated_bitrate")
        period.observedBitrate = known("observed_bitrate")
        period.startupTime = known("startup_time")
        return period
    }

    func fill(_ summary: inout SessionRecord.Summary) {
        summary.watched = number("duration_watched") ?? summary.watched
        summary.duration = number("duration") ?? summary.duration
        summary.startedAfter = number("started_after") ?? summary.startedAfter
        summary.stalls = integer("stalls") ?? summary.stalls
        summary.stallDuration = number("stall_duration") ?? summary.stallDuration
        summary.bytes = integer("bytes") ?? summary.bytes
        summary.requests = integer("requests") ?? summary.requests
        summary.averageBitrate = number("average_bitrate") ?? summary.averageBitrate
        summary.droppedFrames = integer("dropped_frames") ?? summary.droppedFrames
        summary.skippedSegments = integer("skipped_segments") ?? summary.skippedSegments
    }
}

extension LogEntry {
    func decision(_ event: String) -> SessionRecord.Decision? {
        func decision(
            _ kind: SessionRecord.Decision.Kind, _ what: String, _ reason: String? = nil, variant: Int? = nil
        ) -> SessionRecord.Decision {
            .init(time: time ?? 0, kind: kind, what: what, reason: reason, variant: variant)
        }
        switch event {
        case "variant_switch_start":
            guard let to = member("to").variant else { return nil }
            let reason = string("explanation").flatMap { $0.isEmpty ? nil : $0 }
            guard let from = member("from").variant else {
                return decision(.start, "started with \(to.name)", reason, variant: to.index)
            }
            let kind: SessionRecord.Decision.Kind =
                to.bandwidth > from.bandwidth ? .up : to.bandwidth < from.bandwidth ? .down : .same
            return decision(kind, "\(from.name) → \(to.name)", reason, variant: to.index)
        case "pathway_changed":
            return decision(
                .pathway, "loads from \(string("to") ?? "elsewhere") instead of \(string("from") ?? "before")",
                string("reason"))
        case "segment_skipped": return decision(.skip, "skipped \(segmentsText)", string("cause"))
        case "segments_missed": return decision(.skip, "missed \(segmentsText)", string("cause"))
        case "link_too_slow":
            return decision(
                .other, "the link is slower than the lowest variant",
                number("bits_per_second").flatMap { rate in
                    let rate = Decimals.bitRateWithUnit(rate)
                    return number("needed").map { "\(rate) instead of \(Decimals.bitRateWithUnit($0))" }
                })
        case "low_latency_declined": return decision(.live, "plays without low latency", string("cause"))
        case "trick_play_unavailable":
            return decision(.other, "cannot play \(Decimals.rate(number("rate") ?? 0))", string("cause"))
        case "rendition_change":
            let kind = string("kind") ?? "media"
            return decision(.rendition, string("to") == nil ? "no \(kind) rendition" : "another \(kind) rendition")
        case "seek": return decision(.seek, "seek", number("item_time").map { "from \(Decimals.clock($0))" })
        case "time_jump":
            return decision(.seek, "item time jumped", number("item_time").map { "to \(Decimals.clock($0))" })
        case "hole":
            return decision(
                .skip, "skipped missing media",
                number("media_duration").map { "\(Decimals.text($0, places: 1)) s without media" })
        case "break", "interstitial", "asset_list", "interstitial_skippable", "seek_refused":
            let words = [event.replacing("_", with: " "), string("phase")].compactMap(\.self).joined(separator: " ")
            return decision(.other, words, string("cause") ?? string("reason") ?? string("id"))
        case "content_skipped": return decision(.skip, "skipped content", string("id"))
        case "warning", "note": return decision(.other, string("text") ?? event, string("detail"))
        default: return nil
        }
    }

    /// Text such as `segment 7 (4.0 s)` or `segments 7–9 (12.0 s)`.
    private var segmentsText: String {
        let (first, last) = (integer("first_media_sequence"), integer("last_media_sequence"))
        let numbers = first.map { first in
            last.flatMap { $0 > first ? "segments \(first)–\($0)" : nil } ?? "segment \(first)"
        }
        let length = number("media_duration").map { " (\(Decimals.text($0, places: 1)) s)" } ?? ""
        return (numbers ?? "segments") + length
    }
}

extension SessionRecord.Variant {
    /// A name such as `720p 2.4M`, `64k` or `#3`.
    var name: String {
        var words: [String] = []
        if height > 0 { words.append("\(height)p") }
        if bandwidth > 0 { words.append(Decimals.bitRate(bandwidth)) }
        return words.isEmpty ? "#\(index)" : words.joined(separator: " ")
    }

    /// The bit rate needed for playback, in bits per second: the average if declared.
    var usualBitRate: Double { averageBandwidth ?? bandwidth }
}
