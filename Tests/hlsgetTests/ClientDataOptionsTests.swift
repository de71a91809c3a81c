import ArgumentParser
import HLSGetKit
import HLSKitCore
import Synchronization
import TestSupport
import Testing

@testable import hlsget

@Suite("hlsget --cmcd", .ownThread, .serialized, .timeLimit(.minutes(10)))
struct ClientDataOptionsTests {
    private static func options(_ arguments: String...) throws -> PlayOptions {
        try #require(try HLSGet.parseAsRoot(["play", "http://a.example/x.m3u8"] + arguments) as? PlayCommand).options()
    }

    @Test("the options become the client data settings")
    func options() throws {
        #expect(try Self.options().clientData.clientData == nil)
        var data = ClientData()
        #expect(try Self.options("--cmcd", "headers").clientData.clientData == data)
        data.transmission = .query
        data.version = .two
        data.contentID = "film"
        data.sessionID = "s"
        #expect(
            try Self.options(
                "--cmcd", "query", "--cmcd-version", "2", "--content-id", "film", "--session-id", "s"
            ).clientData.clientData == data)
        data.keys = ["br", "sta", "com.example-plan"]
        data.customKeys = ["com.example-plan": .string("gold=1")]
        #expect(
            try Self.options(
                "--cmcd", "query", "--cmcd-version", "2", "--content-id", "film", "--session-id", "s", "--cmcd-keys",
                "br, sta", "--cmcd-custom", "com.example-plan=gold=1"
            ).clientData.clientData == data)
        var events = ClientData()
        events.transmission = nil
        events.version = .two
        events.eventTargets = ["http://a/", "https://b/x"].map { ClientData.EventTarget(urlString: $0) }
        #expect(
            try Self.options("--cmcd-events", "http://a/", "--cmcd-events", "https://b/x").clientData.clientData
                == events)
    }

    @Test(
        "options without effect and invalid values are refused",
        arguments: [
            (["--cmcd", "body"], "headers"), (["--cmcd", "headers", "--cmcd-version", "3"], "1, 2"),
            (["--cmcd-version", "2"], "--cmcd-version has no effect"),
            (["--content-id", "x"], "--content-id has no effect"),
            (["--cmcd-events", "ftp://a/"], "http://"), (["--cmcd-events", "https://"], "http://"),
            (["--cmcd-events", "http://a/", "--cmcd-version", "1"], "--cmcd-version has no effect"),
            (["--cmcd-keys", "br"], "--cmcd-keys has no effect"),
            (["--cmcd-custom", "a-b=c"], "--cmcd-custom has no effect"),
            (["--cmcd", "query", "--cmcd-keys", "br,xyz"], "xyz is not a key"),
            (["--cmcd", "query", "--cmcd-keys", ","], "expected keys"),
            (["--cmcd", "query", "--cmcd-keys", "br,sta"], "--cmcd-keys sta needs --cmcd-version 2"),
            (["--cmcd", "query", "--cmcd-custom", "plan=x"], "com.example-plan"),
            (["--cmcd", "query", "--cmcd-custom", "a-b"], "com.example-plan"),
            (["--cmcd", "query", "--cmcd-custom", "a-b=\(String(repeating: "x", count: 65))"], "1 to 64"),
            (["--session-id", ""], "1 to 64"), (["--session-id", "é"], "ASCII"),
            (["--cmcd", "query", "--content-id", String(repeating: "x", count: 129)], "1 to 128"),
        ])
    func refused(arguments: [String], words: String) {
        do {
            _ = try HLSGet.parseAsRoot(["play", "http://a.example/x.m3u8"] + arguments)
            Issue.record("was taken")
        } catch {
            #expect(HLSGet.exitCode(for: error).rawValue == 64)
            #expect(HLSGet.fullMessage(for: error).contains(words), "\(HLSGet.fullMessage(for: error))")
        }
    }

    @Test(
        "O05: requests of play, download, thumbnails and inspect contain CMCD, and it is not printed",
        arguments: [
            ["--fast", "--no-decode", "-v"], ["download", "-o", "a.mp4", "--overwrite"], ["inspect"],
            ["thumbnails", "--count", "2", "--sheet", "s.png", "--overwrite"],
        ])
    func requests(_ arguments: [String]) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try CutStream.files())
        try await withServer(answering: origin.answer) { server in
            for (mode, mark) in [("headers", "CMCD-Session: "), ("query", "CMCD=")] {
                let count = server.requests.count
                let result = try await hlsget(
                    arguments + [
                        "--cmcd", mode, "--content-id", "film", "--session-id", "abc", "\(server.url)/master.m3u8",
                    ], in: folder)
                #expect(result.status == 0, "\(arguments) \(result.errors)")
                let requests = server.requests.dropFirst(count)
                #expect(!requests.isEmpty)
                for request in requests {
                    let line = request.first { $0.contains(mark) }
                    #expect(line != nil, "\(arguments) \(request)")
                    #expect(line?.contains(mode == "query" ? "cid%3D%22film%22" : "cid=\"film\"") == true)
                    #expect(line?.contains(mode == "query" ? "sid%3D%22abc%22" : "sid=\"abc\"") == true)
                }
                #expect(!result.errors.contains("CMCD"), "\(result.errors)")
            }
        }
    }

    @Test("events arrive by POST, the last one before the command ends")
    func events() async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try CutStream.files())
        let bodies = Bodies()
        try await withServer(answering: { connection, request in
            let length = request.first { $0.lowercased().hasPrefix("content-length:") }.flatMap {
                Int($0.split(separator: " ").last ?? "")
            }
            bodies.append(String(decoding: connection.read(length ?? 0), as: UTF8.self))
            connection.respond([], status: "204 No Content")
        }) { reports in
            try await withServer(answering: origin.answer) { server in
                let result = try await hlsget(
                    ["--fast", "--no-decode", "--cmcd-events", reports.url + "/r", "\(server.url)/master.m3u8"],
                    in: folder)
                #expect(result.status == 0, "\(result.errors)")
            }
            let lines = bodies.all.flatMap { $0.split(separator: "\n") }
            #expect(lines.first?.contains("sta=s") == true, "\(lines)")
            #expect(lines.last?.contains("sta=e") == true || lines.last?.contains("sta=q") == true, "\(lines)")
            #expect(reports.requests.allSatisfy { $0[0].hasPrefix("POST /r ") })
            #expect(reports.values(of: "Content-Type").allSatisfy { $0 == "application/cmcd" })
        }
    }

    private final class Bodies: Sendable {
        private let state = Mutex<[String]>([])
        func append(_ text: String) { state.withLock { $0.append(text) } }
        var all: [String] { state.withLock { $0 } }
    }
}
