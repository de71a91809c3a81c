import Foundation
import TestSupport
import Testing

@Suite("hlsget --access-log", .ownThread, .timeLimit(.minutes(10)))
struct AccessLogTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    @Test("O01: the log is W3C text, or JSON lines if the name says so")
    func formats() async throws {
        let folder = try ScratchFolder()
        let text = try await hlsget("--fast", "--no-decode", "--access-log", "a.log", Self.master, in: folder)
        #expect(text.status == 0, "\(text.errors)")
        let lines = try String(contentsOfFile: folder.path + "/a.log", encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "#Version: 1.0")
        let rows = lines.filter { !$0.hasPrefix("#") }
        #expect(!rows.isEmpty)
        let names = lines.first { $0.hasPrefix("#Fields: ") }?.split(separator: " ").dropFirst() ?? []
        #expect(lines.last?.split(separator: " ").count == names.count)

        let json = try await hlsget("--fast", "--no-decode", "--access-log", "a.ndjson", Self.master, in: folder)
        #expect(json.status == 0)
        let first = try String(contentsOfFile: folder.path + "/a.ndjson", encoding: .utf8).split(separator: "\n")[0]
        let object = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
        #expect(object?["event"] as? String == "access_log")
        #expect((object?["media_requests"] as? Int ?? 0) > 0)
    }

    @Test(
        "D14, E04: an expensive network has a separate limit, and its requests are counted",
        arguments: [true, false])
    func expensive(_ isExpensive: Bool) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            [
                "--fast", "--no-decode", "--one-quality", "--to", "8", "--expensive-peak-bitrate", "150k",
                "--access-log",
                "a.json", Self.master,
            ] + (isExpensive ? ["--expensive"] : []), in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: folder.path + "/a.json", encoding: .utf8)
        let objects = try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        // The sample has variants of 127 and 386 kbit/s.
        #expect(!objects.isEmpty)
        #expect(objects.allSatisfy { $0["indicated_bitrate"] as? Int == (isExpensive ? 127_446 : 385_604) })
        for object in objects {
            let count = object["media_requests"] as? Int
            #expect(object["media_requests_expensive"] as? Int == (isExpensive ? count : 0))
        }
    }

    @Test("an existing log is kept, and an impossible one is an output error before any request")
    func unwritable() async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "a.log")
        for path in ["a.log", "none/a.log"] {
            let result = try await hlsget("--access-log", path, Self.master, in: folder)
            #expect(result.status == 9, "\(result.errors)")
            #expect(result.errorLines.count == 1)
        }
        #expect(FileManager.default.contents(atPath: folder.path + "/a.log") == Data([1]))
    }

    @Test("D13: an impossible cache is an output error, too", arguments: ["a.log", "none/cache", ""])
    func noCache(path: String) async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "a.log")
        let result = try await hlsget("--cache", path, "--fast", Self.master, in: folder)
        #expect(result.status == 9, "\(result.errors)")
        #expect(result.errorLines.count == 1)
    }

    @Test("O02: the error log contains recovered failures, as W3C text or as JSON lines")
    func errors() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        for name in ["e.log", "e.ndjson"] {
            let origin = FaultyOrigin(
                files, ["v2.m4s": (.status("503 Service Unavailable"), 1), "v4.m4s": (.status("500 No"), 1)])
            try await withServer(answering: origin.answer) { server in
                let result = try await hlsget(
                    "--fast", "--no-decode", "--error-log", name, "\(server.url)/master.m3u8", in: folder)
                #expect(result.status == 0, "\(result.errors)")
            }
        }
        let text = try String(contentsOfFile: folder.path + "/e.log", encoding: .utf8).split(separator: "\n")
        let names = text.first { $0.hasPrefix("#Fields: ") }?.split(separator: " ").dropFirst() ?? []
        let rows = text.filter { !$0.hasPrefix("#") }
        #expect(rows.count == 2)
        #expect(rows.allSatisfy { $0.split(separator: " ").count == names.count })
        #expect(rows.contains { $0.contains("v2.m4s") && $0.contains(" 503 ") })
        let lines = try String(contentsOfFile: folder.path + "/e.ndjson", encoding: .utf8).split(separator: "\n")
        let objects = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        #expect(objects.map { $0?["event"] as? String } == ["error_log", "error_log"])
        #expect(Set(objects.compactMap { $0?["status_code"] as? Int }) == [500, 503])
    }
}
