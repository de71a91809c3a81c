import Foundation
import HLSGetKit
import HLSKitCore
import HLSKitSimulation
import TestSupport
import Testing

@testable import hlsget

@Suite("hlsget --record-trace and replay", .ownThread, .timeLimit(.minutes(10)))
struct ReplayTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    @Test("a recorded play is replayed to the same decisions, always byte for byte")
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

    @Test("an existing recording is kept, and an impossible one is an error before any request")
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

    @Test("an invalid recording is refused in one line", arguments: ["", "#EXTM3U\n"])
    func notARecording(text: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(text.utf8), to: "r.jsonl")
        let result = try await hlsget("replay", "r.jsonl", in: folder)
        #expect(result.status == 5)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(try await hlsget("replay", "none.jsonl", in: folder).status == 3)
    }

    private func refusingRecording(in folder: ScratchFolder) async throws -> [[String: Any]] {
        let origin = try OddOrigin(OddOrigin.cutSample())
        defer { origin.stop() }
        let play = try await hlsget(
            "--fast", "--to", "11", "--record-trace", "r.jsonl", origin.url + "/v.m3u8", in: folder)
        #expect(play.status == 0, "\(play.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/r.jsonl"))
        var lines = try bytes.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONSerialization.jsonObject(with: $0) as? [String: Any])
        }
        let request = lines.first {
            $0["type"] as? String == "request" && ($0["url"] as? String)?.hasSuffix("/1.m4s") == true
        }
        let id = try #require(request?["id"] as? Int)
        lines = lines.compactMap { line in
            guard line["id"] as? Int == id, line["type"] as? String != "request" else { return line }
            guard line["type"] as? String == "response", let time = line["time_ns"] else { return nil }
            return ["type": "failure", "id": id, "time_ns": time, "code": "httpStatus", "status": 403, "text": "no"]
        }
        return lines
    }

    private func write(_ lines: [[String: Any]], to path: String) throws {
        let texts = try lines.map { try JSONSerialization.data(withJSONObject: $0) + Data("\n".utf8) }
        try texts.reduce(Data(), +).write(to: URL(fileURLWithPath: path))
    }

    @Test("a recording that contains a command or foreign options is refused and runs nothing")
    func hostileOptions() async throws {
        let folder = try ScratchFolder()
        var lines = try await refusingRecording(in: folder)
        for options in [["--fast", "--refresh-cmd", "touch PWNED"], ["--refresh-cmd=touch PWNED"], ["-o", "PWNED"]] {
            lines[0]["options"] = options
            try write(lines, to: folder.path + "/evil.jsonl")
            let result = try await hlsget("replay", "evil.jsonl", in: folder)
            #expect(result.status == 5, "\(result.errors)")
            #expect(result.errorLines.count == 1, "\(result.errors)")
            #expect(result.errors.contains("option not allowed in a recording"), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/PWNED"))
        }
    }

    @Test("a replay runs no command, whatever its options are")
    func noCommand() async throws {
        let folder = try ScratchFolder()
        try write(try await refusingRecording(in: folder), to: folder.path + "/r403.jsonl")
        let recording = try NetworkRecording(contentsOfFile: folder.path + "/r403.jsonl")
        var options = PlayOptions(url: recording.urlString)
        options.pace = .fast
        options.refreshCommand = "touch \(folder.path)/PWNED; sleep 1"
        let session = ReplaySession(recording: recording, options: options, selector: ScenarioRule())
        for _ in 0..<5 { _ = try session.run() }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/PWNED"))
    }
}
