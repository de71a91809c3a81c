import HLSKitCore
import Synchronization
import TestSupport
import Testing

@Suite("SOCKS proxies", .timeLimit(.minutes(10)))
struct SOCKSProxyTests {
    struct Asked: Equatable {
        var host = ""
        var port = 0
        var login: String?
    }

    private static let body = Array("#EXTM3U\n".utf8)

    /// Answers version 5 (RFC 1928), with a login (RFC 1929) if the client offers one.
    private static func answer5(_ connection: ScriptedServer.Connection) -> Asked? {
        var asked = Asked()
        guard let methodCount = connection.read(1).first else { return nil }
        let hasLogin = connection.read(Int(methodCount)).contains(2)
        connection.send([5, hasLogin ? 2 : 0] as [UInt8])
        if hasLogin {
            func word() -> String {
                String(decoding: connection.read(Int(connection.read(1).first ?? 0)), as: UTF8.self)
            }
            guard connection.read(1) == [1] else { return nil }
            asked.login = "\(word()) \(word())"
            connection.send([1, 0] as [UInt8])
        }
        let request = connection.read(4)
        guard request.prefix(3) == [5, 1, 0] else { return nil }
        switch request.last {
        case 1: asked.host = connection.read(4).map(String.init).joined(separator: ".")
        case 3: asked.host = String(decoding: connection.read(Int(connection.read(1).first ?? 0)), as: UTF8.self)
        default: return nil
        }
        asked.port = connection.read(2).reduce(0) { $0 << 8 | Int($1) }
        connection.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0] as [UInt8])
        return asked
    }

    /// Answers version 4, or 4a, which has a host name after an invalid address.
    private static func answer4(_ connection: ScriptedServer.Connection) -> Asked? {
        func text() -> String {
            var bytes: [UInt8] = []
            while let byte = connection.read(1).first, byte != 0 { bytes.append(byte) }
            return String(decoding: bytes, as: UTF8.self)
        }
        guard connection.read(1) == [1] else { return nil }
        var asked = Asked(port: connection.read(2).reduce(0) { $0 << 8 | Int($1) })
        let address = connection.read(4)
        let user = text()
        asked.login = user.isEmpty ? nil : user
        asked.host = address.starts(with: [0, 0, 0]) ? text() : address.map(String.init).joined(separator: ".")
        connection.send([0, 0x5A, 0, 0, 0, 0, 0, 0] as [UInt8])
        return asked
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var proxy: String
        var url: String
        var asked: Asked
        var testDescription: String { "\(proxy) \(url)" }
    }

    @Test(
        "D11: a SOCKS proxy is asked for the host, by name if it should resolve it",
        arguments: [
            Case(
                proxy: "socks5h://", url: "http://media.invalid:8080/x", asked: Asked(host: "media.invalid", port: 8080)
            ),
            Case(
                proxy: "socks5h://me:pw@", url: "http://media.invalid/x",
                asked: Asked(host: "media.invalid", port: 80, login: "me pw")),
            Case(proxy: "socks5://", url: "http://127.0.0.1:9/x", asked: Asked(host: "127.0.0.1", port: 9)),
            Case(proxy: "socks4a://", url: "http://media.invalid/x", asked: Asked(host: "media.invalid", port: 80)),
            Case(proxy: "socks4://", url: "http://127.0.0.1:9/x", asked: Asked(host: "127.0.0.1", port: 9)),
        ])
    func asked(_ test: Case) async throws {
        let asked = Mutex<[Asked]>([])
        try await withServer(accepting: { connection, _ in
            let found =
                switch connection.read(1).first {
                case 5: Self.answer5(connection)
                case 4: Self.answer4(connection)
                default: nil as Asked?
                }
            guard let found else { return }
            asked.withLock { $0.append(found) }
            while connection.readRequest() != nil { connection.respond(Self.body) }
        }) { server in
            let transport = CurlTransport(configuration: .init(proxy: .url("\(test.proxy)127.0.0.1:\(server.port)")))
            let result = await transport.load(test.url)
            #expect(result.error == nil)
            #expect(result.bytes == Self.body)
            #expect(asked.withLock { $0 } == [test.asked])
            #expect(server.requests.first?.first == "GET /x HTTP/1.1")
        }
    }

    @Test("D11: a proxy that refuses is a failed connection")
    func refused() async throws {
        try await withServer(accepting: { connection, _ in
            _ = connection.read(2)
            connection.send([5, 0xFF] as [UInt8])
        }) { server in
            let transport = CurlTransport(configuration: .init(proxy: .url("socks5h://127.0.0.1:\(server.port)")))
            #expect(await transport.load("http://media.invalid/x").error?.code == .cannotConnect)
        }
    }
}
