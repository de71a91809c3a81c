import HLSKitLoading
import HLSKitNetwork
import Synchronization
import TestSupport
import Testing

@Suite("Curl sending reports", .timeLimit(.minutes(10)))
struct CurlReportTests {
    private static func request(_ url: String, _ body: String) -> TransportRequest {
        var request = TransportRequest(
            urlString: url, resourceClass: .report,
            fields: [TransportField(name: "Content-Type", value: "application/cmcd")]
        )
        request.ownFieldNames = ["content-type"]
        request.body = Array(body.utf8)
        return request
    }

    private static func length(_ request: [String]) -> Int {
        request.first { $0.lowercased().hasPrefix("content-length:") }.flatMap {
            Int($0.split(separator: " ").last ?? "")
        }
            ?? 0
    }

    @Test("a body of any length is sent whole by POST", arguments: [1, 100, 2_000_000])
    func post(count: Int) async throws {
        let text = String(repeating: "e=t,v=2\n", count: (count + 7) / 8)
        let seen = Mutex<[UInt8]>([])
        try await withServer(answering: { connection, request in
            let body = connection.read(Self.length(request))
            seen.withLock { $0 = body }
            connection.respond(Array("ok".utf8))
        }) { server in
            let result = await CurlTransport(configuration: CurlTransportTests.plain).load(
                Self.request(server.url + "/r", text))
            #expect(result.error == nil)
            #expect(result.response?.status == 200)
            #expect(server.requests.map { $0[0] } == ["POST /r HTTP/1.1"])
            #expect(server.values(of: "Content-Type") == ["application/cmcd"])
            #expect(server.values(of: "Expect") == [nil])
            // Compares outside `#expect`, which would take minutes to describe a difference in two million bytes.
            let isWhole = seen.withLock { $0.elementsEqual(text.utf8) }
            #expect(isWhole)
        }
    }

    @Test("server cookies are not sent with reports, and cookies in responses are dropped")
    func cookies() async throws {
        try await withServer(answering: { connection, request in
            _ = connection.read(Self.length(request))
            let name = request[0].hasPrefix("POST") ? "reported" : "played"
            connection.respond(Array("#EXTM3U\n".utf8), fields: ["Set-Cookie: \(name)=1; Path=/"])
        }) { server in
            let transport = CurlTransport(configuration: CurlTransportTests.plain)
            _ = await transport.load(server.url + "/a", .mediaPlaylist)
            _ = await transport.load(Self.request(server.url + "/r", "x"))
            _ = await transport.load(server.url + "/b", .mediaPlaylist)
            #expect(server.values(of: "Cookie") == [nil, nil, "played=1"])
        }
    }

    @Test(
        "a redirect repeats the body, but credentials are not sent elsewhere",
        arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let bodies = Mutex<[String]>([])
        try await withServer(answering: { connection, request in
            let body = connection.read(Self.length(request))
            bodies.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
            if request[0].contains("/r ") {
                connection.redirect(to: "/elsewhere", status: status)
            } else {
                connection.respond(Array("ok".utf8))
            }
        }) { server in
            let result = await CurlTransport(configuration: CurlTransportTests.plain).load(
                Self.request(server.url + "/r", "x"))
            let isFollowed = status != 303
            #expect(result.error?.code == (isFollowed ? nil : .httpStatus))
            #expect(
                server.requests.map { $0[0] }
                    == ["POST /r HTTP/1.1"] + (isFollowed ? ["POST /elsewhere HTTP/1.1"] : []))
            #expect(bodies.withLock { $0 } == (isFollowed ? ["x", "x"] : ["x"]))
        }
    }

    @Test("a target's credentials go to its own origin only")
    func authorization() async throws {
        let seen = Mutex<[String?]>([])
        let answer: @Sendable (ScriptedServer.Connection, [String]) -> Void = { connection, request in
            _ = connection.read(Self.length(request))
            seen.withLock { $0.append(request.first { $0.lowercased().hasPrefix("authorization:") }) }
            connection.respond(Array("ok".utf8))
        }
        try await withServer(answering: answer) { other in
            try await withServer(answering: { connection, request in
                if request[0].contains("/far ") {
                    _ = connection.read(Self.length(request))
                    return connection.redirect(to: other.url + "/x", status: 307)
                }
                answer(connection, request)
            }) { server in
                for path in ["/r", "/far"] {
                    var request = Self.request(server.url + path, "x")
                    request.fields.append(TransportField(name: "Authorization", value: "Bearer x"))
                    request.credentialOrigins = URLOrigin(of: server.url).map { [$0] } ?? []
                    let result = await CurlTransport(configuration: CurlTransportTests.plain).load(request)
                    #expect(result.error == nil)
                }
                #expect(seen.withLock { $0 } == ["Authorization: Bearer x", nil])
            }
        }
    }
}
