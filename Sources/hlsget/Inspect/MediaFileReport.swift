import HLSGetKit
import HLSKitCore

struct MediaFileReport: Sendable {
    struct Track: Sendable {
        var id: Int
        var description: MediaTrack
        var size: PixelSize
        var frameRate: Double
        var bitRate: Double
        var language: String?
        var timeRange: MediaTimeRange
        var isPlayable: Bool
        var isProtected: Bool
    }

    var url: String
    var file: MediaFileDescription
    var duration: MediaTime
    var tracks: [Track]
    var metadata: [MetadataItem] = []
    var chapters: [TimedMetadataGroup] = []

    /// Reads the description of a file without its media.
    ///
    /// - Returns: The report, or `nil` if the input is a playlist.
    static func load(_ url: String, _ options: AssetOptions) async throws -> MediaFileReport? {
        let asset = Asset(urlString: url, options: options)
        guard let file = try await asset.loadMediaFileDescription() else { return nil }
        let (duration, tracks, metadata) = try await asset.load(.duration, .tracks, .metadata)
        var report = MediaFileReport(
            url: url, file: file, duration: duration, tracks: try await describe(tracks), metadata: metadata)
        // Chapters are optional, and reading them may cost more requests.
        let languages = LanguageTag.preferred(nil, by: SourceClock.host)
        report.chapters =
            (try? await asset.loadChapterMetadataGroups(bestMatchingPreferredLanguages: languages)) ?? []
        return report
    }

    static func describe(_ tracks: [AssetTrack]) async throws -> [Track] {
        var described: [Track] = []
        for track in tracks {
            let (formats, size, rate, bitRate, language) = try await track.load(
                .formatDescriptions, .naturalSize, .nominalFrameRate, .estimatedDataRate, .extendedLanguageTag)
            let (range, isPlayable, isProtected) = try await track.load(
                .timeRange, .isPlayable, .hasProtectedContent)
            guard let description = formats.first else { continue }
            described.append(
                Track(
                    id: track.trackID, description: description, size: size, frameRate: rate ?? 0,
                    bitRate: bitRate ?? 0,
                    language: language, timeRange: range, isPlayable: isPlayable, isProtected: isProtected))
        }
        return described
    }

    // MARK: Text

    var text: String {
        var facts = [duration.isNumeric ? Decimals.clock(duration.seconds) : "duration unknown"]
        if duration.hasBeenRounded { facts[0] = "about \(facts[0])" }
        if let count = file.byteCount { facts.append(Decimals.bytes(count)) }
        let lines = ["media file: \(file.container), \(facts.joined(separator: ", "))"]
        let tables =
            Self.table(tracks)
            + PlaylistTable.table(
                "METADATA", ["name", "language", "value"],
                metadata.map { [Self.name(of: $0), $0.extendedLanguageTag ?? "", Self.text(of: $0.heldValue)] })
            + PlaylistTable.table(
                "CHAPTERS", ["from", "to", "title"],
                chapters.map { [Self.time($0.timeRange.start), Self.time($0.timeRange.end), $0.title] })
        return (lines + tables).map { $0 + "\n" }.joined()
    }

    private static func name(of item: MetadataItem) -> String { item.commonKey?.rawValue ?? item.key }

    private static func text(of value: MetadataValue?) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): Decimals.text(number, places: 3)
        case .data(let bytes): Decimals.bytes(bytes.count)
        case .json, nil: ""
        }
    }

    static func table(_ tracks: [Track]) -> [String] {
        PlaylistTable.table(
            "TRACKS", ["track", "type", "codec", "size", "fps", "sound", "language", "name", "rate", "from", "to", ""],
            tracks.map(row))
    }

    private static func row(_ track: Track) -> [String] {
        let description = track.description
        let isVideo = description.mediaType == .video
        var audio: [String] = []
        if description.sampleRate > 0 { audio.append("\(description.sampleRate) Hz") }
        if description.channelCount > 0 { audio.append("\(description.channelCount) ch") }
        let label = description.label
        let notes = [
            label.isDefault && !isVideo ? "default" : nil,
            isForced(description) ? "forced" : nil,
            label.describesAudio ? "SDH" : nil,
            label.describesVideo ? "audio description" : nil,
            description.declaredFieldCount == 2 ? "interlaced" : nil,
            description.rotation > 0 ? "turned by \(description.rotation)°" : nil,
            track.isProtected ? "encrypted" : nil,
            description.holdsChapters ? "chapters" : track.isPlayable ? nil : "cannot be played",
        ]
        return [
            "\(track.id)", description.mediaType.rawValue, description.codec.rawValue,
            isVideo ? "\(track.size.width)x\(track.size.height)" : "",
            isVideo && track.frameRate > 0 ? Decimals.text(track.frameRate, places: 2) : "",
            audio.joined(separator: " "), track.language ?? "", label.name ?? "",
            track.bitRate > 0 ? Decimals.bitRate(track.bitRate) : "", time(track.timeRange.start),
            time(track.timeRange.end),
            (ColorReport(description).notes + notes.compactMap { $0 }).joined(separator: ", "),
        ]
    }

    private static func isForced(_ track: MediaTrack) -> Bool { track.label.isForced || track.holdsOnlyForcedText }

    private static func time(_ time: MediaTime) -> String {
        time.isNumeric ? Decimals.text(time.seconds, places: 3) : ""
    }

    // MARK: JSON

    /// Omits values that are absent, empty or false.
    var document: JSONValue {
        var object = JSONObject()
        object.add("v", PlaylistJSON.formatVersion)
        object.add("kind", "file")
        object.add("container", file.container)
        object.add("duration", Self.seconds(duration))
        object.add("duration_is_estimate", duration.hasBeenRounded)
        object.add("byte_count", file.byteCount)
        object.add("tracks", tracks.map(Self.value))
        object.add("metadata", metadata.map(Self.value))
        object.add("chapters", chapters.map(Self.value))
        return object.value
    }

    private static func value(_ item: MetadataItem) -> JSONValue {
        var object = JSONObject()
        object.add("key", item.identifier)
        object.add("name", item.commonKey?.rawValue)
        object.add("language", item.extendedLanguageTag)
        switch item.heldValue {
        case .string(let text): object.add("value", JSONValue.string(text))
        case .number(let number): object.add("value", JSONValue.number(number))
        case .data(let bytes): object.add("byte_count", bytes.count)
        case .json, nil: break
        }
        return object.value
    }

    private static func value(_ chapter: TimedMetadataGroup) -> JSONValue {
        var object = JSONObject()
        object.add("start", seconds(chapter.timeRange.start))
        object.add("end", seconds(chapter.timeRange.end))
        object.add("title", chapter.title)
        return object.value
    }

    static func value(_ track: Track) -> JSONValue {
        let description = track.description
        let isVideo = description.mediaType == .video
        var object = JSONObject()
        object.add("id", track.id)
        object.add("type", description.mediaType.rawValue)
        object.add("codec", description.codec.rawValue)
        object.add("width", isVideo ? track.size.width : nil)
        object.add("height", isVideo ? track.size.height : nil)
        object.add("interlaced", isVideo && description.declaredFieldCount == 2)
        object.add("rotation", description.rotation > 0 ? description.rotation : nil)
        if isVideo { ColorReport(description).add(to: &object) }
        object.add("frame_rate", isVideo && track.frameRate > 0 ? JSONValue.number(track.frameRate) : nil)
        object.add("sample_rate", description.sampleRate > 0 ? description.sampleRate : nil)
        object.add("channels", description.channelCount > 0 ? description.channelCount : nil)
        object.add("language", track.language)
        let label = description.label
        object.add("name", label.name)
        object.add("default", label.isDefault && !isVideo)
        object.add("forced", isForced(description))
        object.add("characteristics", label.characteristics.joined(separator: ","))
        object.add("bit_rate", track.bitRate > 0 ? JSONValue.number(track.bitRate) : nil)
        object.add("start", seconds(track.timeRange.start))
        object.add("end", seconds(track.timeRange.end))
        object.add("chapters", description.holdsChapters)
        object.add("playable", track.isPlayable)
        object.add("encrypted", track.isProtected)
        return object.value
    }

    private static func seconds(_ time: MediaTime) -> JSONValue? { time.isNumeric ? .number(time.seconds) : nil }
}

extension TimedMetadataGroup {
    fileprivate var title: String {
        if case .string(let text)? = items.first(where: { $0.commonKey == .title })?.heldValue { text } else { "" }
    }
}
