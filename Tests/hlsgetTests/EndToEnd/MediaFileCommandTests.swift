import Foundation
import TestSupport
import Testing

@Suite("hlsget with media files", .timeLimit(.minutes(2))) struct MediaFileCommandTests {
    private static let languages = "\(SampleMedia.fixtures)/media/mp4/languages.mp4"

    private func document(_ path: String) async throws -> [String: Any] {
        let result = try await hlsget(["inspect", "--json", path])
        #expect(result.status == 0 && result.errors.isEmpty)
        return try #require(JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
    }

    struct File: Sendable, CustomTestStringConvertible {
        var name: String
        var container: String
        var codecs: [String]
        var testDescription: String { name }
    }

    @Test(
        "inspect shows container, duration and tracks of a file",
        arguments: [
            File(name: "mp4/languages.mp4", container: "MP4", codecs: ["h264", "aac", "aac", "tx3g"]),
            File(name: "mp4/indexed.mp4", container: "fragmented MP4", codecs: ["h264", "aac"]),
            File(name: "ts-languages.ts", container: "MPEG-2 transport stream", codecs: ["h264", "aac", "aac"]),
            File(name: "packed.mp3", container: "packed audio", codecs: ["mp3"]),
        ])
    func inspect(_ file: File) async throws {
        let document = try await document("\(SampleMedia.fixtures)/media/\(file.name)")
        #expect(document["kind"] as? String == "file")
        #expect(document["container"] as? String == file.container)
        #expect((document["duration"] as? Double ?? 0) > 0.4)
        let tracks = try #require(document["tracks"] as? [[String: Any]])
        #expect(tracks.compactMap { $0["codec"] as? String } == file.codecs)
        if file.name.contains("languages") {
            #expect(tracks.dropFirst().prefix(2).map { $0["language"] as? String } == ["eng", "deu"])
            #expect(tracks.first?["width"] as? Int == 64)
        }
    }

    @Test("a file that is larger than a playlist may be is looked at over http, too")
    func large() async throws {
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: Self.languages)))
        // A box of nothing.
        bytes += [1, 0x10, 0, 0] + Array("free".utf8) + [UInt8](repeating: 0, count: 0x110_0000 - 8)
        let file = bytes
        try await withServer(answering: { connection, _ in connection.respond(file) }) { server in
            let document = try await document("\(server.url)/film.mp4")
            #expect(document["container"] as? String == "MP4")
        }
    }

    @Test("inspect shows a file as a table, and says what is neither")
    func table() async throws {
        let result = try await hlsget(["inspect", Self.languages])
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0)
        #expect(text.contains("media file: MP4, 0:20") && text.contains("TRACKS") && text.contains("64x36"))
        let folder = try ScratchFolder()
        try folder.write(Array("neither".utf8), to: "x.txt")
        let other = try await hlsget(["inspect", "x.txt"], in: folder)
        #expect(other.status == 5)
    }

    @Test(
        "download packs the samples of a file again", .enabled(if: ProbedFile.isAvailable),
        arguments: ["mp4", "mkv", "ts"])
    func download(_ ending: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["download", "-q", "--audio", "lang=de", "-o", "x.\(ending)", Self.languages], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let probed = try ProbedFile("x.\(ending)", in: folder)
        #expect(probed.streams.map(\.type).sorted() == ["audio", "video"])
        let pictures = try ProbedFile.pictures("x.\(ending)", in: folder)
        let expected = try ProbedFile.pictures(Self.languages, in: folder)
        #expect(pictures == expected)
    }

    @Test("download takes all sounds of a file", .enabled(if: ProbedFile.isAvailable))
    func allSounds() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["download", "-q", "--audio", "all", "-o", "x.mkv", Self.languages], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let sounds = try ProbedFile("x.mkv", in: folder).streams.filter { $0.type == "audio" }
        #expect(sounds.map(\.language) == ["eng", "ger"])
    }
}
