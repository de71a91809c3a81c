public import HLSKitMedia
package import HLSKitPlaylist
public import HLSKitTime

/// Metadata that applies to a range of time, such as a chapter.
public struct TimedMetadataGroup: Sendable {
    /// The ``trackID`` of `emsg` events and splice information, which belong to no track.
    public static let eventMessageTrackID = -1

    /// The time range to which the items apply.
    public let timeRange: MediaTimeRange
    /// The items that apply during ``timeRange``, which may be empty.
    public let items: [MetadataItem]
    /// The identifier of the track in its container (`MediaTrack.id`), or `nil` outside of media.
    ///
    /// It is the PID in a transport stream, `track_ID` in MP4, 1 in packed audio, and ``eventMessageTrackID`` for
    /// events. Chapters, for example, are outside of media.
    public let trackID: Int?
    /// The item time of the splice that a section in a transport stream announces, or `nil` if there is none.
    ///
    /// The section arrives seconds earlier, at the start of ``timeRange``. The value is also `nil` if the section gives
    /// no time.
    public let spliceTime: MediaTime?
    /// The original bytes: a tag or the message of an event.
    package let sample: SampleData?
    private let identity: Identity?

    /// The identity of a tag or event, by which it is recognized in another copy of the media.
    package struct Identity: Sendable, Hashable {
        package var content: Int
        /// The allowed difference between the times.
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

    package func filtered(_ items: [MetadataItem]) -> TimedMetadataGroup {
        TimedMetadataGroup(
            timeRange: timeRange, items: items, trackID: trackID, sample: sample, spliceTime: spliceTime,
            identity: identity)
    }

    package func isSame(as other: TimedMetadataGroup, apart distance: Duration) -> Bool {
        guard let identity, identity == other.identity else { return false }
        return distance <= identity.tolerance
    }

    package var byteCount: Int { sample?.count ?? 0 }

    /// The splice information (SCTE 35) of the group, or `nil` if it has none or it is malformed.
    ///
    /// The source is a transport stream or an event message. The section is parsed on each access.
    public var spliceInformation: SpliceInformation? {
        guard trackID == Self.eventMessageTrackID, let sample,
            items.contains(where: { $0.format == .eventMessage && $0.key.hasPrefix(Self.spliceScheme) })
        else { return nil }
        return sample.withUnsafeBytes { try? SpliceInformation(parsing: Array($0)) }
    }

    /// The scheme of splice sections in event messages (SCTE 214-3 §7.3.2).
    static let spliceScheme = "urn:scte:scte35:2013:bin"
}

package struct Chapters: Sendable {
    package struct Chapter: Sendable {
        package var start: MediaTime
        /// The duration, or nil if the chapter lasts until the next one.
        package var duration: MediaTime?
        /// The titles by language, in the order of the source. The language `und` stands for none.
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
    private static let maximumCount = 4096

    private let chapters: [Chapter]
    private let end: MediaTime

    package init(chapters: [Chapter], end: MediaTime) {
        self.chapters = chapters.sorted { $0.start < $1.start }
        self.end = end
    }

    package var locales: [String] {
        var result: [String] = []
        for chapter in chapters {
            for title in chapter.titles where !result.contains(title.language) { result.append(title.language) }
        }
        return result
    }

    /// Returns the chapters with the titles of one language. A chapter without such a title gets no title item.
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

    /// Creates the chapters from the JSON of `com.apple.hls.chapters`, or returns nil if it is not an array.
    ///
    /// The elements are objects with `start-time` and `duration` in seconds, `titles`, `images` and `metadata`. Invalid
    /// elements are omitted.
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

    package init(_ chapters: [MP4UserData.Chapter], end: MediaTime) {
        self.init(
            chapters: chapters.map { chapter in
                Chapter(
                    start: MediaTime(value: chapter.start, timescale: 10_000_000), titles: [("und", chapter.title)])
            }, end: end)
    }

    package init(_ metadata: FileMetadata, end: MediaTime) {
        self.init(
            chapters: metadata.chapters.map { chapter in
                Chapter(
                    start: MediaTime(chapter.start), duration: chapter.end.map { MediaTime($0 - chapter.start) },
                    titles: [("und", chapter.title)])
            }, end: end)
    }
}
