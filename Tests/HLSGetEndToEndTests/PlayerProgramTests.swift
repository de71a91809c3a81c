import Foundation
import TestSupport
import Testing

@Suite("Playing into another command", .ownThread, .timeLimit(.minutes(10)))
struct PlayerProgramTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    @Test("Q01: a --player command gets everything on standard input, in addition to files, and is awaited")
    func whole() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "--fast", "--quality", "180p", "-o", "a.ts", "--player", "cat > b.ts; echo done > c.txt",
            Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errorLines.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["a.ts", "b.ts", "c.txt"])
        let (file, piped) = (
            FileManager.default.contents(atPath: folder.path + "/a.ts"),
            FileManager.default.contents(atPath: folder.path + "/b.ts")
        )
        #expect(piped?.isEmpty == false && piped == file)
        #expect(result.errors.contains("a.ts") && !result.errors.contains("/dev/fd"), "\(result.errors)")
    }

    @Test("Q01: -f sets the format for the --player command")
    func format() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "--fast", "--quality", "180p", "--no-audio", "-f", "framemd5", "--player", "cat > a.framemd5", Self.master,
            in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: folder.path + "/a.framemd5", encoding: .utf8)
        let hashes = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
        #expect(hashes == (try SampleMedia.frameHashes(of: "180p")))
    }

    @Test("Q01: a --player command that closes its input ends playback without an error")
    func enough() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "--fast", "-f", "rawvideo", "--player", "head -c 1000 > a", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errorLines.isEmpty)
        #expect(FileManager.default.contents(atPath: folder.path + "/a")?.count == 1000)
    }

    @Test("Q01: a failing --player is reported", arguments: [("cat > a; exit 3", "3"), ("no-such-command-x", "127")])
    func failure(command: String, word: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("--fast", "--to", "4", "--player", command, Self.master, in: folder)
        #expect(result.status == 9, "\(result.errors)")
        #expect(result.errorLines.count == 1 && result.errorLines.first?.contains(word) == true, "\(result.errors)")
    }
}
