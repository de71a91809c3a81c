import Foundation
import TestSupport
import Testing

@Suite("hlsget inspect", .ownThread, .timeLimit(.minutes(10))) struct InspectTests {
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,Title\n1.ts\n#EXT-X-ENDLIST\n"

    private func document(_ result: Command.Result) throws -> [String: Any] {
        let text = Data(result.output)
        return try #require(JSONSerialization.jsonObject(with: text) as? [String: Any])
    }

    @Test("inspect shows a playlist as a table, with its issues below")
    func table() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(Self.media.replacing("4,Title", with: "4").utf8), to: "a b.m3u8")
        let result = try await hlsget(["inspect", "a b.m3u8"], in: folder)
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(text.contains("media playlist: version 1, complete") && text.contains("1.ts"))
        #expect(text.contains("1 segment, 4.000 s in total") && text.contains("warning: line 3: EXTINF no comma"))
    }

    @Test("inspect shows a file as JSON, with references resolved against the base")
    func json() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(Self.media.utf8), to: "a.m3u8")
        let result = try await hlsget(
            ["inspect", "--json", "--base-url", "https://h.example/x/y.m3u8", "a.m3u8"], in: folder)
        let document = try document(result)
        #expect(result.status == 0 && document["v"] as? Int == 1 && document["kind"] as? String == "media")
        let segment = try #require((document["segments"] as? [[String: Any]])?.first)
        #expect(
            segment["resolved_uri"] as? String == "https://h.example/x/1.ts" && segment["title"] as? String == "Title")
    }

    @Test("Q02: inspect says whether a stream is encrypted, by its announced keys or its first variant")
    func encryption() async throws {
        let folder = try ScratchFolder()
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF"
        try folder.write(Array(Self.media.replacing("#EXTINF", with: key).utf8), to: "locked.m3u8")
        try folder.write(Array(Self.media.utf8), to: "clear.m3u8")
        let announced = "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://a\",KEYFORMAT=\"com.example\"\n"
        for (tags, variant, words, methods) in [
            ("", "locked", "encrypted (AES-128)", ["AES-128"]), ("", "clear", ", not encrypted\n", nil),
            (announced, "none", "encrypted (SAMPLE-AES com.example)", ["SAMPLE-AES com.example"]),
            ("", "none", nil, nil),
        ] as [(String, String, String?, [String]?)] {
            let master = "#EXTM3U\n\(tags)#EXT-X-STREAM-INF:BANDWIDTH=1000\n\(variant).m3u8\n"
            try folder.write(Array(master.utf8), to: "master.m3u8")
            let table = try await hlsget(["inspect", "master.m3u8"], in: folder)
            let text = String(decoding: table.output, as: UTF8.self)
            #expect(table.status == 0 && table.errors.isEmpty, "\(table.errors)")
            #expect(words.map(text.contains) ?? !text.contains("encrypted"), "\(text)")
            let json = try await hlsget(["inspect", "--json", "master.m3u8"], in: folder)
            #expect(try document(json)["encryption"] as? [String] == methods)
        }
    }

    @Test("inspect reads standard input")
    func standardInput() async throws {
        let folder = try ScratchFolder()
        let file = try folder.write(Array(Self.media.utf8), to: "a.m3u8")
        let result = try await hlsget(["inspect", "--json", "-"], input: file)
        #expect(try result.status == 0 && (document(result)["segments"] as? [Any])?.count == 1)
    }

    @Test(
        "C02: inspect loads a URL with a content coding, and follows redirects to https",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func urls() async throws {
        let origin = try TestOrigin.shared()
        let plain = try await hlsget("inspect", "--json", origin.plain + "/small.m3u8")
        #expect(try plain.status == 0 && (document(plain)["segments"] as? [Any])?.count == 100)

        let refused = try await hlsget("inspect", "--json", origin.plain + "/away")
        #expect(refused.status == 12 && refused.errorLines.count == 1)
        #expect(try document(refused)["error"] is [String: Any])
        for options in [["--cacert", origin.caFile], ["--insecure"]] {
            let away = try await hlsget(["inspect", "--json"] + options + [origin.plain + "/away"])
            let segments = try document(away)["segments"] as? [[String: Any]]
            #expect(segments?.first?["resolved_uri"] as? String == origin.secure + "/segment.ts", "\(away.errors)")
        }
        let down = try await hlsget("inspect", "--insecure", origin.secure + "/down")
        #expect(down.status == 12 && down.errorLines.count == 1)
        let allowed = try await hlsget("inspect", "--insecure", "--allow-downgrade", origin.secure + "/down")
        #expect(allowed.status == 0)
    }

    @Test("inspect sends fields, and repeats a request after a temporary failure")
    func requests() async throws {
        let server = try ScriptedServer(accepting: { connection, number in
            let request = connection.readRequest() ?? []
            let isReported = request.contains { $0.lowercased() == "x-told: you" }
            if number == 0 {
                connection.respond(
                    [], status: "503 Service Unavailable", fields: ["Retry-After: 0", "Connection: close"])
            } else {
                connection.respond(
                    Array(Self.media.replacing("1.ts", with: isReported ? "told.ts" : "not.ts").utf8),
                    fields: ["Connection: close"])
            }
        })
        defer { server.stop() }
        let result = try await hlsget("inspect", "-H", "X-Told: you", server.url + "/a.m3u8")
        #expect(result.status == 0 && String(decoding: result.output, as: UTF8.self).contains("told.ts"))
    }

    typealias Failure = FailureTests.Case

    @Test(
        "an inspect failure is one line, one JSON object and its exit code",
        arguments: [
            Failure("404", "@/none.m3u8", status: 3, words: "not found", "/none.m3u8", "404"),
            Failure("403", "@/forbidden.m3u8", status: 3, words: "/forbidden.m3u8", "403"),
            Failure("no such file", "none.m3u8", status: 3, words: "none.m3u8", "no such file"),
            Failure(
                "refused port", "--retries", "0", "http://127.0.0.1:1/", status: 4, words: "connect", "127.0.0.1:1"),
            Failure(
                "no such host", "--retries", "0", "http://x.invalid/", status: 4, words: "no such host", "x.invalid"),
            Failure("a page", "@/page", status: 5, words: "a web page", "/page"),
            Failure("a malformed playlist", "bad.m3u8", status: 5, words: "line 3", "EXT-X-BYTERANGE", "bad.m3u8"),
            Failure("another scheme", "gopher://h/a", status: 64, words: "gopher", "not supported"),
            Failure("a private address", "--deny-private", "@/page", status: 12, words: "127.0.0.1", "not allowed"),
            Failure("too large", "huge.m3u8", status: 12, words: "maximumLineByteCount", "line 2"),
        ])
    func failures(_ failure: Failure) async throws {
        let origin = try OddOrigin(["page": Array("<html>\u{1B}[31m</html>".utf8)], forbidding: "forbidden.m3u8")
        defer { origin.stop() }
        let folder = try ScratchFolder()
        try folder.write(Array("#EXTM3U\n#EXTINF:4,\n#EXT-X-BYTERANGE:x\na\n".utf8), to: "bad.m3u8")
        try folder.write(Array("#EXTM3U\n".utf8) + [UInt8](repeating: 0x61, count: 100_000), to: "huge.m3u8")
        let result = try await hlsget(
            ["inspect", "--json"] + failure.arguments.map { $0.replacing("@/", with: origin.url + "/") }, in: folder)
        #expect(result.status == failure.status, "\(result.errors)")
        #expect(result.lines.count == 1 && result.errorLines.count == 1)
        for word in failure.words { #expect(result.errors.contains(word), "\(result.errors)") }
        #expect(try document(result)["error"] is [String: Any])
        #expect(!(result.errors.utf8 + result.output).contains { $0 < 0x20 && $0 != 0x0A })
    }

    @Test(
        "D11: the environment's proxy is used, except for its excluded hosts",
        arguments: ["http_proxy", "all_proxy", "no_proxy", "--proxy none"])
    func environment(name: String) async throws {
        try await withServer(answering: { connection, _ in connection.respond(Array(Self.media.utf8)) }) { server in
            let (variables, arguments) =
                switch name {
                case "no_proxy": (["http_proxy=http://127.0.0.1:1", "no_proxy=127.0.0.1"], [server.url + "/a"])
                case "--proxy none": (["http_proxy=http://127.0.0.1:1"], ["--proxy", "none", server.url + "/a"])
                default: (["\(name)=\(server.url)"], ["http://media.invalid/a"])
                }
            let unset = ["http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"].flatMap { ["-u", $0] }
            let program = Command.productFolder + "/hlsget"
            let result = try await Command(["/usr/bin/env"] + unset + variables + [program, "inspect"] + arguments)
                .result()
            #expect(result.status == 0, "\(result.errors)")
            let path = variables.count == 1 && arguments.count == 1 ? "http://media.invalid/a" : "/a"
            #expect(server.requests.first?.first == "GET \(path) HTTP/1.1")
        }
    }
}
