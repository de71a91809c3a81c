import Foundation
import TestSupport
import Testing

@Suite("hlsget thumbnails", .ownThread, .timeLimit(.minutes(10))) struct ThumbnailsTests {
    private static let sample = SampleMedia.folder + "/master.m3u8"

    private func names(_ folder: ScratchFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("L01: a number of images is spread evenly over the stream, in a new folder")
    func count() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("thumbnails", Self.sample, "--count", "4", "-o", "out/", "--json", in: folder)
        #expect(result.status == 0)
        let document = try #require(
            JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
        let images = document["images"] as? [[String: Any]] ?? []
        #expect(images.compactMap { $0["requested"] as? Double } == [5, 15, 25, 35])
        #expect(images.compactMap { $0["actual"] as? Double } == [4, 16, 24, 36])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out").sorted()
        #expect(files == (1...4).map { "thumbnail-000\($0).jpg" })
    }

    @Test("L01: a sheet and a storyboard with each image's position are written")
    func sheet() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "thumbnails", Self.sample, "--every", "10", "--size", "64x0", "--sheet", "s.png", "--columns", "3",
            "--storyboard", "s.vtt", in: folder)
        #expect(result.status == 0)
        #expect(result.lines == ["hlsget: 4 images: s.png, s.vtt"])
        #expect(try names(folder) == ["s.png", "s.vtt"])
        let text = try String(contentsOfFile: folder.path + "/s.vtt", encoding: .utf8)
        #expect(text.hasPrefix("WEBVTT\n\n00:00:00.000 --> 00:00:10.000\ns.png#xywh=0,0,64,36\n"))
        #expect(text.hasSuffix("00:00:30.000 --> 00:00:40.000\ns.png#xywh=0,36,64,36\n"))
    }

    @Test(
        "times past the end are omitted, all files are listed, and the exit code reports it"
    )
    func partly() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("thumbnails", Self.sample, "--times", "1,39,99", "-o", "a-%d.jpg", in: folder)
        #expect(result.status == 10)
        #expect(try names(folder) == ["a-1.jpg", "a-2.jpg"])
        #expect(result.lines.last == "hlsget: 2 images: a-1.jpg to a-2.jpg")
        #expect(result.errors.contains("outside the available media, which ends at 0:40 (99.000 s)"))
    }

    @Test("one image by itself has the full size, on standard output, too; a pattern's folder is made")
    func single() async throws {
        let folder = try ScratchFolder()
        let piped = try await hlsget("thumbnails", Self.sample, "--times", "1", "-o", "-", "-f", "png", in: folder)
        #expect(piped.status == 0)
        let file = try await hlsget("thumbnails", Self.sample, "--times", "1", "-o", "a.png", in: folder)
        #expect(file.status == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/a.png"))
        #expect(Array(bytes) == Array(piped.output))
        // The width is in the header chunk.
        #expect(Array(bytes[16..<20]) == [0, 0, 3, 192])
        let pattern = try await hlsget("thumbnails", Self.sample, "--times", "1,2", "-o", "d/t-%02d.jpg", in: folder)
        #expect(pattern.status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/d").sorted() == [
                "t-01.jpg", "t-02.jpg",
            ])
    }

    @Test("L02: the exact frames of given times are written as numbered PNG files")
    func exact() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "thumbnails", Self.sample, "--times", "1.25,0:02", "--exact", "-o", "a-%d.png", "--json", in: folder)
        #expect(result.status == 0)
        #expect(try names(folder) == ["a-1.png", "a-2.png"])
        #expect(String(decoding: result.output, as: UTF8.self).contains("\"actual\":1.24"))
    }

    struct Failure: Sendable, CustomStringConvertible {
        var arguments: [String]
        var status: Int32
        var words: String
        var description: String { arguments.joined(separator: " ") }
    }

    @Test(
        "each failure is one line and an exit code",
        arguments: [
            Failure(arguments: ["/nowhere.m3u8"], status: 3, words: "no such file"),
            Failure(arguments: [SampleMedia.folder + "/subtitles-en-0.vtt"], status: 5, words: "not an HLS playlist"),
            Failure(arguments: [SampleMedia.folder + "/audio-en.m3u8"], status: 8, words: "the stream has no video"),
            Failure(arguments: [sample, "--times", "99", "--exact"], status: 10, words: "outside the available media"),
            Failure(arguments: [sample, "--times", "99"], status: 10, words: "outside the available media"),
            Failure(arguments: ["http://"], status: 64, words: "has no host"),
            Failure(arguments: ["/"], status: 64, words: "folder without an index.m3u8"),
            Failure(arguments: [sample, "-o", "a.jpg"], status: 64, words: "%03d"),
            Failure(arguments: [sample, "-o", "no/such/folder/a-%d.jpg"], status: 9, words: "cannot write"),
            Failure(arguments: [sample, "--sheet", "a.gif"], status: 64, words: ".png"),
            Failure(arguments: [sample, "--storyboard", "a.vtt"], status: 64, words: "--sheet"),
            Failure(arguments: [sample, "--count", "0"], status: 64, words: "from 1"),
            Failure(arguments: [sample, "--times", "1:xx"], status: 64, words: "not a time"),
            Failure(arguments: [sample, "--times", "1,,2"], status: 64, words: "not a time"),
            Failure(arguments: [sample, "--count", "2", "--every", "3"], status: 64, words: "mutually exclusive"),
        ])
    func failures(_ c: Failure) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(["thumbnails"] + c.arguments, in: folder)
        #expect(result.status == c.status)
        #expect(result.errorLines.count == 1)
        #expect(result.errors.contains(c.words))
        let parts = try names(folder).filter { $0.hasSuffix(".part") }
        #expect(parts.isEmpty)
    }

    @Test("existing files are kept, unless they may be replaced")
    func existing() async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "a.jpg")
        let arguments = ["thumbnails", Self.sample, "--times", "1", "-o", "a.jpg"]
        let refused = try await hlsget(arguments, in: folder)
        #expect(refused.status == 9)
        #expect(refused.errorLines.first?.contains("the file exists; --overwrite replaces it") == true)
        #expect(try await hlsget(arguments + ["--overwrite"], in: folder).status == 0)
        #expect(FileManager.default.contents(atPath: folder.path + "/a.jpg")?.starts(with: [0xFF, 0xD8]) == true)
    }
}
