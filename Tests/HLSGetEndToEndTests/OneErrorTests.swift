import Foundation
import Glibc
import TestSupport
import Testing

/// A fault has the same code and the same line in every command.
///
/// Source: docs/reference/failures.md, docs/guide/configuration.md.
@Suite("Equal errors in all commands", .ownThread, .timeLimit(.minutes(10)))
struct OneErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The input, in which `@` is the server.
        var input: String
        var status: Int32
        var words: String
        /// Whether the detail depends on the limit that is reached first. The cause is always the same.
        var hasVariousDetails = false
    }

    static let cases = [
        Case(testDescription: "404", input: "@/none.m3u8", status: 3, words: "not found"),
        Case(testDescription: "403", input: "@/forbidden.m3u8", status: 3, words: "denied access"),
        Case(testDescription: "no such file", input: "none.m3u8", status: 3, words: "no such file"),
        Case(testDescription: "an empty file", input: "empty.m3u8", status: 5, words: "the response is empty: "),
        Case(testDescription: "a page", input: "@/page", status: 5, words: "(line 1)"),
        Case(testDescription: "a file that is a page", input: "page.m3u8", status: 5, words: "(line 1)"),
        Case(
            testDescription: "a malformed playlist", input: "bad.m3u8", status: 5, words: "(line 3: EXT-X-BYTERANGE"),
        Case(
            testDescription: "a line without end", input: "line.m3u8", status: 12,
            words: "too large: file:///"),
        Case(testDescription: "Matroska", input: "a.mkv", status: 8, words: "the file cannot be read"),
        Case(
            testDescription: "FLAC from a server", input: "@/a.flac", status: 8,
            words: "FLAC is read only as a local file"),
        Case(
            testDescription: "a playlist without end", input: "@/huge.m3u8", status: 12,
            words: "too large: http://127.0.0.1:", hasVariousDetails: true),
        Case(testDescription: "no host", input: "http://", status: 64, words: "http:// has no host"),
        Case(testDescription: "another scheme", input: "gopher://h/a", status: 64, words: "gopher: is not supported"),
    ]

    private static let commands: [[String]] = [
        ["play", "-f", "null"], ["play", "--fast", "--no-decode"], ["download", "-o", "a.mp4"], ["inspect"],
        ["captions"], ["thumbnails"],
    ]

    @Test("code and line are the same for all commands", arguments: cases)
    func line(_ test: Case) async throws {
        let page = Array("<html>no</html>\n".utf8)
        let flac = Array("fLaC".utf8) + [UInt8](repeating: 7, count: 5000)
        let line = Array(("#" + String(repeating: "a", count: 1022) + "\n").utf8)
        var huge = Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n".utf8)
        for _ in 0..<17 << 10 { huge += line }
        let origin = try OddOrigin(
            ["page": page, "a.flac": flac, "huge.m3u8": huge], forbidding: "forbidden.m3u8")
        defer { origin.stop() }
        let folder = try ScratchFolder()
        try folder.write(page, to: "page.m3u8")
        try folder.write([], to: "empty.m3u8")
        try folder.write(Array("#EXTM3U\n#EXTINF:4,\n#EXT-X-BYTERANGE:x\na\n".utf8), to: "bad.m3u8")
        try folder.write(Array("#EXTM3U\n".utf8) + [UInt8](repeating: 0x61, count: 100_000), to: "line.m3u8")
        try folder.write([0x1A, 0x45, 0xDF, 0xA3] + [UInt8](repeating: 7, count: 5000), to: "a.mkv")
        var lines: Set<String> = []
        for command in Self.commands {
            let result = try await hlsget(
                command + [test.input.replacing("@", with: origin.url)], in: folder)
            #expect(result.status == test.status, "\(command): \(result.errors)")
            let line = try #require(result.errorLines.first, "\(command): \(result.errors)")
            #expect(line.contains(test.words), "\(command): \(line)")
            #expect(result.errorLines.count == 1, "\(command): \(result.errors)")
            lines.insert(test.hasVariousDetails ? String(line.prefix { $0 != "(" }) : line)
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/a.mp4"))
        }
        // Playback reports the segment and inspection reports the media, so there may be two lines.
        #expect(lines.count <= (test.status == 8 ? 2 : 1), "\(lines)")
    }

    @Test("too few file descriptors are reported as such", arguments: [12, 20, 24])
    func descriptors(limit: Int) async throws {
        let folder = try ScratchFolder()
        let origin = try OddOrigin()
        defer { origin.stop() }
        let result = try await Command(
            [
                "/bin/sh", "-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", Command.productFolder + "/hlsget", "--fast",
                "--retries", "0", "--duration", "4", "-o", "a.ts", origin.url + "/master.m3u8",
            ], in: folder.path
        ).result()
        // If libdispatch cannot open its own files, it ends the process (SIGILL), and the command cannot report it.
        guard ![SIGILL, -SIGILL, 128 + SIGILL].contains(result.status) else { return }
        guard result.status != 0 else {
            // The limit was high enough after all, so the file exists.
            #expect(FileManager.default.fileExists(atPath: folder.path + "/a.ts"))
            return
        }
        #expect(result.errors.lowercased().contains("too many open files"), "\(result.errors)")
        let isThere = FileManager.default.fileExists(atPath: folder.path + "/a.ts")
        #expect(isThere == result.errors.contains("wrote     a.ts"), "\(result.errors)")
    }

    @Test("a replay's log is not written through a symbolic link")
    func link() async throws {
        let folder = try ScratchFolder()
        let play = try await hlsget(
            "--to", "1", "--fast", "--record-trace", "r.jsonl", SampleMedia.folder + "/master.m3u8", in: folder)
        #expect(play.status == 0, "\(play.errors)")
        try folder.write(Array("mine".utf8), to: "mine.txt")
        symlink("mine.txt", folder.path + "/log.txt")
        let result = try await hlsget("replay", "r.jsonl", "--log", "log.txt", in: folder)
        #expect(result.status == 9, "\(result.errors)")
        #expect(FileManager.default.contents(atPath: folder.path + "/mine.txt") == Data("mine".utf8))
    }
}
