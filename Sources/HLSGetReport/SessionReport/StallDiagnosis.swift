import HLSGetKit

/// Why a player waited for media, derived from the requests of a record before and during the wait.
struct StallDiagnosis: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
        case failures
        case slowServer
        /// Media arrived more slowly than it plays.
        case slowNetwork
        case nothingListed
        /// The player waited for a playlist or a key.
        case otherRequest
        case noRequest
        /// Media was buffered.
        case notTheNetwork
        case unknown
    }

    let stall: SessionRecord.Spell
    let cause: Cause
    let title: String
    let text: String
    let notes: [String]
    /// The time to show, which includes some time before and after the stall.
    let window: ClosedRange<Double>
    /// Indices in ``SessionRecord/requests`` of the requests active in ``window``.
    let requests: [Int]

    /// The maximum time before the stall to search for a cause, in seconds. The search ends at the previous wait.
    private static let lookBack = 20.0

    /// - Parameter stall: One of the waits of `record`.
    init(of stall: SessionRecord.Spell, in record: SessionRecord) {
        self.stall = stall
        let previousEnd = record.spells.last { $0.end <= stall.start && $0.activity.waitCause != nil }?.end ?? 0
        let from = max(previousEnd, stall.start - Self.lookBack, 0)
        let nearby = record.requests.indices.filter {
            record.requests[$0].end >= from && record.requests[$0].start <= stall.end
        }
        let evidence = Evidence(of: stall, from: from, requests: nearby.map { record.requests[$0] }, record)
        (cause, title, text) = evidence.verdict
        notes = evidence.notes
        // Show the awaited request from its start on.
        let first = nearby.map { record.requests[$0] }.filter { $0.end > stall.start }.map(\.start).min() ?? stall.start
        let start = max(0, min(stall.start - max(2, stall.duration / 2), max(first - 0.5, stall.start - 60)))
        window = start...max(start + 1, min(record.end, stall.end + max(1, stall.duration * 0.15)))
        let shown = start...window.upperBound
        requests = record.requests.indices.filter {
            record.requests[$0].end >= shown.lowerBound && record.requests[$0].start <= shown.upperBound
        }
    }
}

private struct Evidence {
    let stall: SessionRecord.Spell
    let from: Double
    let requests: [SessionRecord.Request]
    let record: SessionRecord

    init(of stall: SessionRecord.Spell, from: Double, requests: [SessionRecord.Request], _ record: SessionRecord) {
        self.stall = stall
        self.from = from
        self.requests = requests
        self.record = record
    }

    private var segments: [SessionRecord.Request] {
        requests.filter { [.video, .audio, .initializationSection].contains($0.kind) && !$0.isFromCache }
    }
    /// The media requests that were active while the player waited.
    private var awaited: [SessionRecord.Request] {
        segments.filter { $0.end > stall.start && $0.start < stall.end && ($0.byteCount > 0 || $0.hasFailed) }
    }

    var verdict: (StallDiagnosis.Cause, String, String) {
        let failed = requests.filter { $0.hasFailed && $0.kind != .subtitles }
        if !failed.isEmpty, isWorthBlaming(failed) { return (.failures, "requests failed", failureText(failed)) }
        if let ahead = aheadAtStart, ahead > 1.5, awaited.isEmpty {
            return (
                .notTheNetwork, "media was buffered",
                "\(seconds(ahead)) of media was buffered: decoding or the output was too slow, not the network."
            )
        }
        if let slow = slowest(of: awaited), let first = slow.responseStart {
            let wait = first - slow.start
            if wait > 1, wait > slow.duration / 2 {
                return (
                    .slowServer, "the server responded late",
                    "The server took \(seconds(wait)) to respond to the request for \(slow.name), and "
                        + "\(seconds(slow.end - first)) to deliver it."
                )
            }
        } else if let silent = awaited.first(where: { $0.responseStart == nil && $0.duration > 1 }) {
            return (
                .slowServer, "the server did not respond",
                "The request for \(silent.name) got no response in \(seconds(silent.duration))."
            )
        }
        if let text = networkText { return (.slowNetwork, "the network was too slow", text) }
        if let other = requests.filter({ !$0.isReload && $0.kind.isNotMedia && $0.end > stall.start }).max(by: {
            $0.duration < $1.duration
        }), other.duration > 0.4 * stall.duration {
            return (
                .otherRequest, "the player waited for \(other.kind.name)",
                "The request for \(other.name) took \(seconds(other.duration))."
            )
        }
        let reloads = requests.filter { $0.isReload && $0.end > stall.start - 1 }
        if awaitedShare < 0.5, !reloads.isEmpty {
            return (
                .nothingListed, "nothing new was listed",
                "The media playlist was loaded \(Decimals.count(reloads.count, "time")) during the stall, and no media was "
                    + "being loaded for most of it: the stream listed nothing new."
            )
        }
        if awaited.isEmpty {
            return record.requests.isEmpty
                ? (.unknown, "the log has no requests", "The log contains no requests.")
                : (.noRequest, "no media was being loaded", "No media was being loaded while the player waited.")
        }
        return (
            .unknown, "media came too late",
            "\(awaited[0].name.capitalizedFirst) arrived \(seconds(awaited[0].end - stall.start)) too late; "
                + "the log does not show the cause."
        )
    }

    var notes: [String] {
        var notes: [String] = []
        if let before = decision(before: stall.start) { notes.append(before) }
        let after = record.decisions.first {
            $0.kind == .down && $0.time > stall.start && $0.time < stall.end + 0.5
        }
        if let after {
            notes.append("At \(Decimals.moment(after.time)) the player switched down: \(after.what).")
        } else if isOnLowest {
            notes.append("The player was on the lowest variant already.")
        }
        let abandoned = requests.filter { $0.isAbandoned && $0.end <= stall.end }
        if !abandoned.isEmpty {
            notes.append(
                "It had cancelled \(Decimals.count(abandoned.count, "download")) in favour of a smaller variant.")
        }
        if let ahead = aheadBefore {
            notes.append(
                "\(seconds(ahead.time).capitalizedFirst) before the stall, \(seconds(ahead.ahead)) of media was buffered."
            )
        }
        return notes
    }

    // MARK: Parts

    private func seconds(_ value: Double) -> String { Decimals.seconds(value) }

    /// Whether failures explain the wait: one occurred during it, or they took a large part of it.
    private func isWorthBlaming(_ failed: [SessionRecord.Request]) -> Bool {
        if failed.contains(where: { $0.end > stall.start }) { return true }
        let lost = failed.reduce(0) { $0 + $1.duration }
        return lost > 0.3 * stall.duration || failed.count > 2
    }

    private func failureText(_ failed: [SessionRecord.Request]) -> String {
        var counts: [(text: String, count: Int)] = []
        for request in failed {
            let text = request.error ?? "failed"
            if let index = counts.firstIndex(where: { $0.text == text }) {
                counts[index].count += 1
            } else {
                counts.append((text, 1))
            }
        }
        counts.sort { $0.count > $1.count }
        let most = counts.first.map { " (\($0.text)\(counts.count > 1 ? ", and others" : ""))" } ?? ""
        let first = failed[0]
        let count =
            failed.count == 1
            ? "The request for \(first.name) failed" : "\(failed.count) requests failed, from \(first.name) on"
        let lost = failed.reduce(0) { $0 + $1.duration }
        return "\(count)\(most); \(failed.count == 1 ? "it" : "they") took \(seconds(lost))."
    }

    private func slowest(of requests: [SessionRecord.Request]) -> SessionRecord.Request? {
        requests.filter { $0.responseStart != nil }.max { $0.duration < $1.duration }
    }

    /// Compares delivered with needed bits, for requests shortly before and during the wait.
    private var networkText: String? {
        guard let main = awaited.filter({ $0.kind == .video && !$0.hasFailed }).max(by: { $0.duration < $1.duration }),
            let own = main.mediaBitRate ?? main.variant.flatMap({ record.variants[$0]?.usualBitRate }), own > 0
        else { return nil }
        let (first, last) = (max(from, stall.start - 10), main.end)
        let loads = segments.filter { !$0.hasFailed && $0.end > first && $0.start < last }
        // Count only the part of a request inside the period, as other requests that shared the network before or after
        // are not counted either.
        let spans = loads.map { load in
            let start = load.responseStart ?? load.start
            return (load: load, start: max(start, first), end: min(load.end, last), length: load.end - start)
        }
        let bits = spans.reduce(0.0) { sum, span in
            sum + Double(span.load.byteCount) * 8 * max(0, span.end - span.start) / max(span.length, 0.001)
        }
        // A separate audio rendition shares the network.
        let audio = loads.filter { $0.kind == .audio }.compactMap(\.mediaBitRate).sorted()
        let need = own + (audio.isEmpty ? 0 : audio[audio.count / 2])
        let time = Self.union(spans.map { ($0.start, $0.end) })
        guard time > 0.05 else { return nil }
        let delivered = bits / time
        let media = main.segmentDuration ?? 0
        guard delivered < need * 1.15 || main.duration > media else { return nil }
        let variant = main.variant.flatMap { record.variants[$0]?.name }.map { " of \($0)" } ?? ""
        let with = audio.isEmpty ? "" : " with its audio"
        return "The network delivered \(Decimals.bitRateWithUnit(delivered)), but \(main.name)\(variant)\(with) needs "
            + "\(Decimals.bitRateWithUnit(need)): \(seconds(media)) of media took \(seconds(main.duration)) to load."
    }

    private static func union(_ ranges: [(Double, Double)]) -> Double {
        var (total, reached) = (0.0, -Double.infinity)
        for (start, end) in ranges.sorted(by: { $0.0 < $1.0 }) where end > reached {
            total += end - max(start, reached)
            reached = end
        }
        return total
    }

    private var awaitedShare: Double {
        guard stall.duration > 0 else { return 0 }
        return Self.union(awaited.map { (max($0.start, stall.start), min($0.end, stall.end)) }) / stall.duration
    }

    private var aheadAtStart: Double? {
        record.samples.last { $0.time <= stall.start + 0.05 && $0.time > stall.start - 2 }?.ahead
    }

    /// The largest buffer before the stall, and how long before.
    private var aheadBefore: (time: Double, ahead: Double)? {
        let samples = record.samples.filter { $0.time > from && $0.time < stall.start - 1 }
        guard let best = samples.max(by: { ($0.ahead ?? 0) < ($1.ahead ?? 0) }), let ahead = best.ahead, ahead >= 1
        else { return nil }
        return (stall.start - best.time, ahead)
    }

    private func decision(before time: Double) -> String? {
        guard let last = record.decisions.last(where: { $0.time <= time && [.up, .down, .start].contains($0.kind) })
        else { return nil }
        let ago = time - last.time
        switch last.kind {
        case .up where ago < 30:
            return "\(seconds(ago).capitalizedFirst) before the stall, the player had switched up: \(last.what)"
                + (last.reason.map { " (\($0))" } ?? "") + "."
        case .down where ago < 30:
            return "\(seconds(ago).capitalizedFirst) before the stall, the player had switched down: \(last.what)."
        default: return nil
        }
    }

    private var isOnLowest: Bool {
        guard record.hasLadder, let lowest = record.ladder.first, record.variants.count > 1,
            let variant = awaited.last(where: { $0.kind == .video })?.variant
        else { return false }
        return variant == lowest.index
    }
}

extension SessionRecord.RequestKind {
    var isNotMedia: Bool { self == .multivariantPlaylist || self == .mediaPlaylist || self == .key }

    /// A phrase for sentences, as in "the request for a key".
    var name: String {
        switch self {
        case .multivariantPlaylist: "the multivariant playlist"
        case .mediaPlaylist: "a media playlist"
        case .initializationSection: "an initialization section"
        case .video: "a segment"
        case .audio: "an audio segment"
        case .subtitles: "a subtitle segment"
        case .key: "a key"
        }
    }

    var label: String {
        switch self {
        case .multivariantPlaylist: "multivariant playlist"
        case .mediaPlaylist: "media playlist"
        case .initializationSection: "initialization section"
        case .video: "segment"
        case .audio: "audio"
        case .subtitles: "subtitles"
        case .key: "key"
        }
    }
}

extension SessionRecord.Request {
    /// A name such as `segment 41` or `a key`.
    var name: String {
        guard let mediaSequence else { return kind.name }
        switch kind {
        case .audio: return "audio segment \(mediaSequence)"
        case .subtitles: return "subtitle segment \(mediaSequence)"
        default: return "segment \(mediaSequence)"
        }
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
