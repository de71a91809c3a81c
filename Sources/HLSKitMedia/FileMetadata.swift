/// The metadata that a file stores next to its media: title, names, dates and chapters.
package struct FileMetadata: Sendable, Hashable {
    /// A text by the name that FFmpeg uses in all containers, such as `title` or `creation_time`.
    package struct Tag: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    package struct Chapter: Sendable, Hashable {
        package var start: Duration
        /// The end, or `nil` if the chapter lasts until the next one or the end of the file.
        package var end: Duration?
        package var title: String

        package init(start: Duration, end: Duration? = nil, title: String) {
            (self.start, self.end, self.title) = (start, end, title)
        }
    }

    /// Limits on data from the network. Titles of chapters have 16-bit lengths in MP4.
    package static let maximumChapterCount = 4096
    private static let maximumTitleLength = 1000
    private static let maximumTagLength = 16_000

    package private(set) var tags: [Tag] = []
    /// The chapters in the order of their start times.
    package private(set) var chapters: [Chapter] = []

    package init() {}

    package var isEmpty: Bool { tags.isEmpty && chapters.isEmpty }

    package mutating func add(_ value: String, for name: String) {
        let text = String(value.prefix(Self.maximumTagLength))
        guard text.contains(where: { !$0.isWhitespace }), !tags.contains(where: { $0.name == name }) else { return }
        tags.append(Tag(name: name, value: text))
    }

    /// Adds a chapter that starts at or after the last one.
    package mutating func add(_ chapter: Chapter) {
        guard chapters.count < Self.maximumChapterCount, chapter.start >= chapters.last?.start ?? .zero else { return }
        var chapter = chapter
        chapter.title = String(chapter.title.prefix(Self.maximumTitleLength))
        chapter.end = chapter.end.map { max($0, chapter.start) }
        chapters.append(chapter)
    }

    package var withoutChapters: FileMetadata {
        var metadata = self
        metadata.chapters = []
        return metadata
    }

    /// Returns the metadata of a part. Times of its chapters are relative to the start of the part.
    ///
    /// - Parameter end: The end of the part, or `nil` if it is unknown.
    package func part(from start: Duration, to end: Duration? = nil) -> FileMetadata {
        var part = self
        part.chapters = chapters.indices.compactMap { index in
            var chapter = chapters[index]
            let next = index + 1 < chapters.count ? chapters[index + 1].start : nil
            let until = [chapter.end ?? next, end].compactMap(\.self).min()
            guard until.map({ $0 > start }) ?? true, end.map({ $0 > chapter.start }) ?? true else { return nil }
            chapter.start = max(chapter.start, start) - start
            chapter.end = until.map { $0 - start }
            return chapter
        }
        return part
    }
}
