import HLSGetKit
import HLSKitCore

struct StreamList: Sendable {
    enum Estimate: String, Sendable {
        case averageBitRate = "average_bandwidth"
        case peakBitRate = "bandwidth"
    }

    struct Entry: Sendable {
        var variant: AssetVariant
        var audio: String?
        var subtitles: String?
        /// The value to pass to `--quality`.
        var quality: String
        var reasons: [String]
        var isChosen = false

        var rate: (bitsPerSecond: Double, estimate: Estimate)? {
            if let average = variant.averageBitRate { return (average, .averageBitRate) }
            return variant.peakBitRate.map { ($0, .peakBitRate) }
        }

        func byteCount(of duration: Duration) -> Int? {
            rate.map { Int(min(max(0, $0.bitsPerSecond / 8 * (duration / .seconds(1))), 1e15)) }
        }
    }

    struct Option: Sendable, Equatable {
        var type: Rendition.MediaType
        /// The value to pass to `--audio`, `--subs` or `--service`.
        var preference: String
        var name: String
        var language: String?
        var channels: String?
        var flags: [String]
        var groups: [String]
    }

    let url: String
    private(set) var entries: [Entry] = []
    private(set) var options: [Option] = []
    /// The duration of a stream with an end.
    private(set) var duration: Duration?
    /// The duration of the current live window.
    private(set) var window: Duration?
    private(set) var isLive = false
    /// The encryption of the measured playlist, or `nil` if it is unknown.
    private(set) var encryption: StreamEncryption?
    private var segmentCount: Int?
    private var file: MediaFileReport?
    private var tracks: SegmentTracks?
    private var hasPreference = false

    init(url: String, media: MediaPlaylist, tracks: SegmentTracks? = nil) {
        self.url = url
        self.tracks = tracks
        measure(media)
    }

    init(url: String, file: MediaFileReport) {
        self.url = url
        self.file = file
    }

    /// - Parameter wish: Selects the variant to mark, or `nil` for the best one.
    init(url: String, _ playlist: MultivariantPlaylist, preference: QualityExpression?) {
        self.url = url
        let variants = AssetVariant.listed(in: playlist)
        let order = (try? QualityExpression(parsing: "bitrate>=0"))?.matches(variants) ?? []
        let places = Dictionary(zip(order, order.indices), uniquingKeysWith: { first, _ in first })
        // Best first, in the client's order.
        entries = zip(variants, playlist.variants).map { variant, declared in
            Entry(
                variant: variant, audio: declared.audio, subtitles: declared.subtitles,
                quality: Self.preference(for: variant, among: variants),
                reasons: variant.ineligibilityReasons.map(Self.words)
            )
        }.sorted { places[$0.variant.index] ?? .max < places[$1.variant.index] ?? .max }
        options = Self.options(of: playlist.renditions)
        encryption = StreamEncryption(announcedBy: playlist)
        hasPreference = preference != nil
        choose(preference)
        self.preference = preference
    }

    private var preference: QualityExpression?

    private mutating func choose(_ preference: QualityExpression?) {
        for index in entries.indices { entries[index].isChosen = false }
        // Saving a stream unchanged requires no decoder.
        let codec = Self.words(.codec)
        let eligible = entries.filter { $0.reasons.allSatisfy { $0 == codec } }.map(\.variant)
        let matching = preference.map { $0.matches(eligible) } ?? eligible.map(\.index)
        guard let chosen = entries.firstIndex(where: { matching.contains($0.variant.index) }) else { return }
        entries[chosen].isChosen = true
    }

    mutating func limit(peakBitRate: Double?, maximumResolution: PixelSize?) {
        for index in entries.indices {
            let variant = entries[index].variant
            if let peakBitRate, let rate = variant.peakBitRate, rate > peakBitRate {
                entries[index].reasons.append("above --peak-bitrate")
            }
            if let maximum = maximumResolution, let size = variant.videoAttributes?.presentationSize,
                size.width > maximum.width || size.height > maximum.height
            {
                entries[index].reasons.append("above --max-resolution")
            }
        }
        choose(preference)
    }

    /// Adds reasons found in the media playlists, by the index of the variant.
    mutating func add(_ reasons: [Int: [String]]) {
        for index in entries.indices {
            for reason in reasons[entries[index].variant.index] ?? [] where !entries[index].reasons.contains(reason) {
                entries[index].reasons.append(reason)
            }
        }
        choose(preference)
    }

    var measuredIndex: Int? { (entries.first(where: \.isChosen) ?? entries.first)?.variant.index }

    mutating func measure(_ playlist: MediaPlaylist) {
        isLive = !playlist.isComplete
        segmentCount = playlist.segments.count
        encryption = StreamEncryption(of: playlist)
        if isLive { window = playlist.duration } else { duration = playlist.duration }
    }

    // MARK: Expressions

    /// Among more variants, only a few expressions are tried.
    private static let maximumComparedCount = 100

    /// The shortest expression that matches only this variant, or the closest one if several variants are alike.
    static func preference(for variant: AssetVariant, among all: [AssetVariant]) -> String {
        let rows = variant.videoAttributes?.presentationSize?.height
        let rate = variant.peakBitRate.map { "bitrate=\(Int($0))" }
        let frames = variant.videoAttributes?.nominalFrameRate.map { Int($0.rounded()) }
        let bases = rows.map { rows in ["\(rows)p"] + (frames.map { ["\(rows)p\($0)"] } ?? []) } ?? [""]
        // Prefer facts that remain when the stream is encoded again. Bit rates do not.
        let names = variant.codecs.compactMap(QualityExpression.codecName).map { "codec=\($0)" }
        let range = variant.videoAttributes.map { "range=\($0.videoRange.rawValue.lowercased())" }
        let facts = names + [range].compactMap(\.self)
        var terms: [String] = []
        if all.count <= maximumComparedCount {
            terms += facts + pairs(of: facts) + variant.codecs.map { "codec=\($0)" }
        }
        if let rate { terms.append(rate) }
        var candidates = bases + terms.flatMap { term in bases.map { "\($0) \(term)" } }
        if let rate, let codec = variant.codecs.first { candidates.append("\(rate) codec=\(codec)") }
        candidates = candidates.map { $0.trimmed() }.filter { !$0.isEmpty }
        let matching = candidates.first { text in
            (try? QualityExpression(parsing: text)).map { $0.matches(all) == [variant.index] } ?? false
        }
        return matching ?? candidates.first { $0.contains("bitrate") } ?? candidates.first ?? ""
    }

    private static func pairs(of terms: [String]) -> [String] {
        terms.indices.flatMap { first in terms[(first + 1)...].map { "\(terms[first]) \($0)" } }
    }

    private static func options(of renditions: [Rendition]) -> [Option] {
        var options: [Option] = []
        for rendition in renditions {
            let flags = [
                rendition.isDefault ? "default" : nil, rendition.isAutoselect ? "auto" : nil,
                rendition.isForced ? "forced" : nil,
            ].compactMap(\.self)
            let option = Option(
                type: rendition.type, preference: rendition.instreamID.map { "--service \($0)" } ?? "",
                name: rendition.name,
                language: rendition.language, channels: rendition.channels, flags: flags, groups: [rendition.groupID])
            let same = options.firstIndex {
                $0.type == option.type && $0.name == option.name && $0.language == option.language
                    && $0.channels == option.channels && $0.preference == option.preference
            }
            if let same { options[same].groups.append(rendition.groupID) } else { options.append(option) }
        }
        for index in options.indices where options[index].preference.isEmpty {
            options[index].preference = preference(
                for: options[index], among: options.filter { $0.type == options[index].type })
        }
        return options
    }

    private static func preference(for option: Option, among all: [Option]) -> String {
        let language: String? = option.language.map { "lang=\(QualityExpression.quoted($0))" }
        let name: String? = option.name.isEmpty ? nil : "name=\(QualityExpression.quoted(option.name))"
        let count = option.channels?.prefix(while: \.isNumber) ?? ""
        let channels: String? = count.isEmpty ? nil : "channels=\(count)"
        let forced: String? = option.flags.contains("forced") ? "forced=yes" : "forced=no"
        let candidates = [
            [language], [language, name], [name], [language, name, channels], [language, name, channels, forced],
            [language, name, forced],
        ].map { (terms: [String?]) in terms.compactMap { $0 }.joined(separator: " ") }.filter { !$0.isEmpty }
        let renditions = all.enumerated().map { index, option in
            RenditionCandidate(
                index: index, language: option.language, name: option.name,
                channelCount: option.channels.flatMap { Int($0.prefix(while: \.isNumber)) },
                isForced: option.flags.contains("forced"))
        }
        let own = all.firstIndex(of: option)
        let matching = candidates.filter { text in
            guard let found = try? QualityExpression(parsing: text, for: .renditions).matches(renditions) else {
                return false
            }
            return found.count == 1 && found.first == own
        }
        return matching.first ?? candidates.last ?? ""
    }

    static func shellQuoted(_ value: String) -> String {
        let isPlain = value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "=-_.,:/+%@".contains($0)) }
        return isPlain
            ? value
            : "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    static func words(_ reason: IneligibilityReason) -> String {
        switch reason {
        case .notPinned: "another one is pinned"
        case .codec: "codec"
        case .requirement: "video layout or protection"
        case .hdcpLevel: "HDCP"
        case .videoRange: "video range"
        case .audioGroup: "audio group"
        case .audioFormat: "audio format"
        case .penalized: "failed recently"
        case .audioOnly: "audio only"
        case .peakBitRate: "bit rate"
        case .maximumResolution, .displaySize: "resolution"
        case .limits: "limits"
        case .keySystem: "key system"
        }
    }

    // MARK: Text

    var text: String {
        if let file { return file.text }
        var lines = [heading] + (tracks?.lines ?? [])
        let usesPeak = entries.contains { $0.rate?.estimate == .peakBitRate }
        lines += PlaylistTable.table(
            "VARIANTS",
            [
                "", "--quality", "size", "fps", "range", "peak", "average", isLive ? "per hour" : "estimate", "codecs",
                "audio", "subtitles", "not played",
            ], entries.map(row))
        let kinds: [(Rendition.MediaType, String, String)] = [
            (.audio, "AUDIO", "--audio"), (.subtitles, "SUBTITLES", "--subs"),
            (.closedCaptions, "CLOSED CAPTIONS", "hlsget captions"), (.video, "VIDEO RENDITIONS", "--video"),
        ]
        for (type, title, option) in kinds {
            lines += PlaylistTable.table(
                title, [option, "name", "language", "channels", "flags", "group"],
                options.filter { $0.type == type }.map { option in
                    [
                        type == .closedCaptions ? option.preference : Self.shellQuoted(option.preference),
                        option.name, option.language ?? "", option.channels ?? "",
                        option.flags.joined(separator: " "), option.groups.joined(separator: " "),
                    ]
                })
        }
        if !entries.isEmpty {
            lines.append("")
            lines.append("* " + (hasPreference ? "selected by --quality" : "selected by a download"))
            if entries.contains(where: { $0.rate != nil }), duration != nil || isLive {
                let rate = usesPeak ? "average bit rate, or peak where marked <," : "average bit rate"
                lines.append("estimate: \(rate) times \(isLive ? "an hour" : Decimals.length(length)), audio included")
            }
        }
        return lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }

    private var length: Double { (duration ?? window ?? .zero).inSeconds }

    private var heading: String {
        var facts: [String] = []
        if !entries.isEmpty { facts.append(Decimals.count(entries.count, "variant")) }
        if isLive {
            facts.append("live, \(Decimals.length(length)) listed")
        } else if duration != nil {
            facts.append(Decimals.length(length))
        }
        if let encryption { facts.append(encryption.text) }
        if entries.isEmpty, let segmentCount {
            facts.append("\(Decimals.count(segmentCount, "segment")); a media playlist offers no choice")
        }
        return "\(ErrorLine.bare(url: url)): \(facts.joined(separator: ", "))"
    }

    private func row(_ entry: Entry) -> [String] {
        let video = entry.variant.videoAttributes
        let count = isLive ? entry.byteCount(of: .seconds(3600)) : duration.flatMap(entry.byteCount)
        let mark = entry.rate?.estimate == .peakBitRate ? "<" : "~"
        return [
            entry.isChosen ? "*" : "", Self.shellQuoted(entry.quality),
            video?.presentationSize.map { "\($0.width)x\($0.height)" } ?? "",
            video?.nominalFrameRate.map { Decimals.text($0, places: $0 == $0.rounded() ? 0 : 2) } ?? "",
            video.map { $0.videoRange == .sdr ? "" : $0.videoRange.rawValue } ?? "",
            entry.variant.peakBitRate.map(Decimals.bitRate) ?? "",
            entry.variant.averageBitRate.map(Decimals.bitRate) ?? "",
            count.map { mark + Decimals.bytes($0) } ?? "", entry.variant.codecs.joined(separator: ","),
            entry.audio ?? "",
            entry.subtitles ?? "", entry.reasons.joined(separator: ", "),
        ]
    }

    // MARK: JSON

    var document: JSONValue {
        if let file { return file.document }
        let document: KeyValuePairs<String, JSONValue> = [
            "v": .integer(PlaylistJSON.formatVersion), "url": .string(ErrorLine.bare(url: url)), "live": .bool(isLive),
            "duration": JSONValue(duration?.inSeconds), "window": JSONValue(window?.inSeconds),
            "encryption": encryption.map { .array($0.methods.map(JSONValue.string)) } ?? .null,
            "variants": .array(entries.map(value)),
            "audio": .array(options.filter { $0.type == .audio }.map(value)),
            "subtitles": .array(options.filter { $0.type == .subtitles }.map(value)),
            "closed_captions": .array(options.filter { $0.type == .closedCaptions }.map(value)),
            "video": .array(options.filter { $0.type == .video }.map(value)),
        ]
        return .object(document.map { JSONValue.Member(name: $0.key, value: $0.value) } + (tracks?.members ?? []))
    }

    private func value(_ entry: Entry) -> JSONValue {
        let own: KeyValuePairs<String, JSONValue> = [
            "id": .string(entry.variant.id.rawValue), "quality": .string(entry.quality),
            "chosen": .bool(entry.isChosen),
            "eligible": .bool(entry.reasons.isEmpty), "reasons": .array(entry.reasons.map(JSONValue.string)),
            "estimated_bytes": JSONValue(duration.flatMap(entry.byteCount)),
            "estimated_bytes_per_hour": JSONValue(isLive ? entry.byteCount(of: .seconds(3600)) : nil),
            "estimated_by": JSONValue(entry.rate?.estimate.rawValue),
            "video_range": JSONValue(entry.variant.videoAttributes?.videoRange.rawValue),
            "audio": JSONValue(entry.audio), "subtitles": JSONValue(entry.subtitles),
            "url": .string(ErrorLine.bare(url: entry.variant.urlString)),
        ]
        guard case .object(let declared) = entry.variant.json else { return .null }
        let members = own.map { JSONValue.Member(name: $0.key, value: $0.value) }
        return .object(Array(members.prefix(1)) + declared + members.dropFirst())
    }

    private func value(_ option: Option) -> JSONValue {
        [
            "name": .string(option.name), "language": JSONValue(option.language),
            "channels": JSONValue(option.channels),
            "choose": .string(option.preference), "flags": .array(option.flags.map(JSONValue.string)),
            "groups": .array(option.groups.map(JSONValue.string)),
        ]
    }
}
