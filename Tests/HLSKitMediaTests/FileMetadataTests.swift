import HLSKitMedia
import Testing

@Suite struct FileMetadataTests {
    private static let chapters = [
        FileMetadata.Chapter(start: .zero, end: .seconds(9), title: "One"),
        FileMetadata.Chapter(start: .seconds(10), title: "Two"),
        FileMetadata.Chapter(start: .seconds(20), title: "Three"),
    ]

    private static var metadata: FileMetadata {
        var metadata = FileMetadata()
        for chapter in chapters { metadata.add(chapter) }
        return metadata
    }

    struct Part: Sendable, CustomTestStringConvertible {
        var start: Double
        var end: Double?
        var expected: [String]
        var testDescription: String { "\(start) to \(end.map { "\($0)" } ?? "?")" }
    }

    @Test(
        "S03: a part has its own chapters, with times from its start",
        arguments: [
            Part(start: 0, end: nil, expected: ["0.0-9.0 One", "10.0-20.0 Two", "20.0-? Three"]),
            Part(start: 0, end: 25, expected: ["0.0-9.0 One", "10.0-20.0 Two", "20.0-25.0 Three"]),
            Part(start: 5, end: 15, expected: ["0.0-4.0 One", "5.0-10.0 Two"]),
            // A part does not include a chapter that ends at its start or starts at its end.
            Part(start: 9, end: 20, expected: ["1.0-11.0 Two"]),
            Part(start: 20, end: nil, expected: ["0.0-? Three"]),
            Part(start: 30, end: 40, expected: ["0.0-10.0 Three"]),
        ])
    func part(_ test: Part) {
        let part = Self.metadata.part(from: .seconds(test.start), to: test.end.map { .seconds($0) })
        let lines = part.chapters.map { chapter in
            "\(chapter.start / .seconds(1))-\(chapter.end.map { "\($0 / .seconds(1))" } ?? "?") \(chapter.title)"
        }
        #expect(lines == test.expected)
    }

    @Test("the first tag of a name and chapters in order are kept, up to limits")
    func limits() {
        var metadata = Self.metadata
        metadata.add(FileMetadata.Chapter(start: .seconds(5), title: "late"))
        metadata.add(
            FileMetadata.Chapter(start: .seconds(30), end: .seconds(1), title: String(repeating: "x", count: 5000)))
        #expect(metadata.chapters.count == 4)
        #expect(metadata.chapters.last?.end == .seconds(30) && metadata.chapters.last?.title.count == 1000)
        for second in 0..<5000 { metadata.add(FileMetadata.Chapter(start: .seconds(40 + second), title: "")) }
        #expect(metadata.chapters.count == FileMetadata.maximumChapterCount)
        metadata.add(" \n", for: "title")
        metadata.add("A", for: "title")
        metadata.add("B", for: "title")
        #expect(metadata.tags == [FileMetadata.Tag(name: "title", value: "A")])
        #expect(metadata.withoutChapters.chapters.isEmpty && metadata.withoutChapters.tags == metadata.tags)
    }
}
