public import HLSKitMedia
package import HLSKitPlaylist
public import HLSKitTime

/// Metadata that holds for a stretch of time, such as a chapter.
public struct TimedMetadataGroup: Sendable {
    /// The ``trackID`` of events in `emsg` boxes and of splice information, which belong to no track.
    public static let eventMessageTrackID = -1

    /// When the items apply.
    public let timeRange: MediaTimeRange
    /// The items that apply during ``timeRange``; may be empty.
    public let items: [MetadataItem]
    /// The track that it comes from, by the number of its container (`MediaTrack.id`): the PID in a transport stream,
    /// `track_ID` in MP4, 1 in packed audio; ``eventMessageTrackID`` for events. nil for what is in no media, as chapters.
    public let trackID: Int?
    /// When the splice is that the section in a transport stream announces, on the item's timeline; the section itself comes
    /// seconds before, at the start of ``timeRange``. nil for all else, and where the section says no time.
    public let spliceTime: MediaTime?
    /// The bytes of the media: a tag, or an event's message.
    package let sample: SampleData?
    private let identity: Identity?

    /// What makes it the same as another one that is read elsewhere.
    package struct Identity: Sendable, Hashable {
        /// A hash of all that it says.
        package var content: Int
        /// By so much their times may differ.
        package var tolerance: Duration

        package init(content: Int, tolerance: Duration) {
            self.content = content
            self.tolerance = tolerance
        }
    }

    package init(
        timeRange: MediaTimeRange, items: [MetadataItem], trackID: Int? = nil, sample: SampleData? = nil,
        spliceTime: MediaTime? = nil, identity: Identity? = nil
    ) {
        self.timeRange = timeRange
        self.items = items
        self.trackID = trackID
        self.sample = sample
        self.spliceTime = spliceTime
        self.identity = identity
    }

    /// The same with some of its items.
    package func filtered(_ items: [MetadataItem]) -> TimedMetadataGroup {
        TimedMetadataGroup(
            timeRange: timeRange, items: items, trackID: trackID, sample: sample, spliceTime: spliceTime,
            identity: identity)
    }

    /// Both are the same tag or event, whose times are `distance` apart.
    package func isSame(as other: TimedMetadataGroup, apart distance: Duration) -> Bool {
        guard let identity, identity == other.identity else { return false }
        return distance <= identity.tolerance
    }

    /// So much memory it takes at least.
    package var byteCount: Int { sample?.count ?? 0 }

    /// The splice information (SCTE 35) that it is, from a transport stream or an event message; nil for all else, and where it
    /// cannot be read. Reads the section each time.
    public var spliceInformation: SpliceInformation? {
        guard trackID == Self.eventMessageTrackID, let sample,
            items.contains(where: { $0.format == .eventMessage && $0.key.hasPrefix(Self.spliceScheme) })
        else { return nil }
        return sample.withUnsafeBytes { try? SpliceInformation(parsing: Array($0)) }
    }

    /// The scheme of sections in event messages (SCTE 214-3 §7.3.2).
    static let spliceScheme = "urn:scte:scte35:2013:bin"
}

/// The chapters of an asset with their titles in all languages.
package struct Chapters: Sendable {
    package struct Chapter: Sendable {
        package var start: MediaTime
        /// nil: up to the next one.
        package var duration: MediaTime?
        /// By language, in the order of the source; `und` where there is none.
        package var titles: [(language: String, text: String)] = []
        package var items: [MetadataItem] = []

        package init(
            start: MediaTime, duration: MediaTime? = nil, titles: [(language: String, text: String)] = [],
            items: [MetadataItem] = []
        ) {
            self.start = start
            self.duration = duration
            self.titles = titles
            self.items = items
        }
    }

    package static let none = Chapters(chapters: [], end: .indefinite)
    /// Lists that are longer are cut.
    private static let maximumCount = 4096

    private let chapters: [Chapter]
    private let end: MediaTime

    package init(chapters: [Chapter], end: MediaTime) {
        self.chapters = chapters.sorted { $0.start < $1.start }
        self.end = end
    }

    /// Languages of titles, each once, in the order in which they come.
    package var locales: [String] {
        var result: [String] = []
        for chapter in chapters {
            for title in chapter.titles where !result.contains(title.language) { result.append(title.language) }
        }
        return result
    }

    /// The chapters with the titles of one language; those that have none in it have no title item.
    package func groups(locale: String) -> [TimedMetadataGroup] {
        guard locales.contains(where: { LanguageTag.matches($0, locale) }) else { return [] }
        return chapters.enumerated().map { index, chapter in
            let next = index + 1 < chapters.count ? chapters[index + 1].start : end
            let duration = chapter.duration ?? (next.isNumeric ? max(.zero, next - chapter.start) : .indefinite)
            let titles = chapter.titles.filter { LanguageTag.matches($0.language, locale) }.map { title in
                MetadataItem(
                    .hlsMetadata, key: CommonMetadataKey.title.rawValue, common: .title,
                    language: title.language == "und" ? nil : title.language, value: .string(title.text))
            }
            return TimedMetadataGroup(
                timeRange: MediaTimeRange(start: chapter.start, duration: duration), items: titles + chapter.items)
        }
    }

    // MARK: Sources

    /// The JSON of `com.apple.hls.chapters`: an array of objects with `start-time` and `duration` in seconds, `titles`,
    /// `images` and `metadata`. Entries that make no sense are left out; nil if it is no such array.
    ///
    /// Source: Apple, "Providing JavaScript Object Notation (JSON) chapters".
    package init?(_ document: JSONDocument, end: MediaTime) {
        guard let entries = document.array else { return nil }
        let chapters = entries.prefix(Self.maximumCount).compactMap { entry -> Chapter? in
            guard let start = entry["start-time"]?.number, (0...1e9).contains(start) else { return nil }
            var chapter = Chapter(start: MediaTime(seconds: start, preferredTimescale: 90_000))
            if let duration = entry["duration"]?.number, (0...1e9).contains(duration) {
                chapter.duration = MediaTime(seconds: duration, preferredTimescale: 90_000)
            }
            for title in entry["titles"]?.array ?? [] {
                guard let text = title["title"]?.string else { continue }
                chapter.titles.append((title["language"]?.string ?? "und", text))
            }
            for image in entry["images"]?.array ?? [] {
                guard let url = image["url"]?.string else { continue }
                chapter.items.append(
                    MetadataItem(
                        .hlsMetadata, key: image["image-category"]?.string ?? "image", common: .artwork,
                        value: .string(url)))
            }
            for item in entry["metadata"]?.array ?? [] {
                guard let key = item["key"]?.string, let value = item["value"] else { continue }
                chapter.items.append(
                    MetadataItem(
                        .hlsMetadata, key: key, common: nil, language: item["language"]?.string,
                        value: value.string.map(MetadataValue.string) ?? value.number.map(MetadataValue.number)
                            ?? .json(value)))
            }
            return chapter
        }
        self.init(chapters: chapters, end: end)
    }

    /// The chapter list of an MP4 file. Its titles are of no language.
    package init(_ chapters: [MP4UserData.Chapter], end: MediaTime) {
        self.init(
            chapters: chapters.map { chapter in
                Chapter(
                    start: MediaTime(value: chapter.start, timescale: 10_000_000), titles: [("und", chapter.title)])
            }, end: end)
    }
}
