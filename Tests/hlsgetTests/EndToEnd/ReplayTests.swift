import Foundation
import TestSupport
import Testing

@Suite("hlsget --record-trace and replay", .timeLimit(.minutes(2)))
struct ReplayTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    @Test("a play is recorded, and replayed to the same decisions, byte for byte the same each time")
    func recordAndReplay() async throws {
        let folder = try ScratchFolder()
        let play = try await hlsget(
            "--to", "3", "--quality=180p", "--throttle", "2M,20ms", "--record-trace", "r.jsonl", Self.master, in: folder
        )
        #expect(play.status == 0, "\(play.errors)")
        let first = try await hlsget("replay", "r.jsonl", "--log", "-", "--bandwidth", "link.csv", in: folder)
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.errors.contains("decided as recorded"), "\(first.errors)")
        let text = String(decoding: first.output, as: UTF8.self)
        #expect(text.hasSuffix(" played to end\n"), "\(text)")
        #expect(text.contains("variant none -> 0"), "the options were kept: \(text)")
        let second = try await hlsget("replay", "r.jsonl", "--log", "-", in: folder)
        #expect(second.output == first.output)
        let link = try String(contentsOfFile: folder.path + "/link.csv", encoding: .utf8)
        #expect(link.hasPrefix("# hlskit-trace 1\n"))
    }

    @Test("an existing recording stays, and one that cannot be made is an output error before the first request")
    func unwritable() async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "r.jsonl")
        for path in ["r.jsonl", "none/r.jsonl"] {
            let result = try await hlsget("--record-trace", path, Self.master, in: folder)
            #expect(result.status == 9, "\(result.errors)")
            #expect(result.errorLines.count == 1)
        }
        #expect(FileManager.default.contents(atPath: folder.path + "/r.jsonl") == Data([1]))
    }

    @Test("what is not a recording is refused in one line", arguments: ["", "#EXTM3U\n"])
    func notARecording(text: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(text.utf8), to: "r.jsonl")
        let result = try await hlsget("replay", "r.jsonl", in: folder)
        #expect(result.status == 5)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(try await hlsget("replay", "none.jsonl", in: folder).status == 3)
    }
}
