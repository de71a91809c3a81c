import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite("Curl configuration", .timeLimit(.minutes(10)))
struct CurlConfigurationTests {
    private static let m3u8 = Array("#EXTM3U\n".utf8)

    @Test("a disallowed scheme is refused, also after a redirect")
    func allowedSchemes() async throws {
        try await withServer(answering: { connection, _ in
            connection.respond([], status: "302 Found", fields: ["Location: https://127.0.0.1:9/x"])
        }) { server in
            let both = CurlTransport(configuration: .init(proxy: .none))
            #expect(await both.load(server.url + "/a").error?.code == .cannotConnect)
            let plain = CurlTransport(configuration: .init(proxy: .none, allowedSchemes: ["http"]))
            #expect(await plain.load(server.url + "/a").error?.code == .refused)
            let secure = CurlTransport(configuration: .init(proxy: .none, allowedSchemes: ["https"]))
            let error = await secure.load(server.url + "/b").error
            #expect(error?.code == .refused)
            #expect(error?.text == "the scheme \"http\" is not allowed")
            #expect(!server.requests.contains { $0.first?.contains("/b") == true }, "nothing was asked")
        }
    }

    @Test("cookies of a file go to their host; cookies set later by the server stay (R61)")
    func cookieFile() async throws {
        let folder = try ScratchFolder()
        let lines = """
            # Netscape HTTP Cookie File
            127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tfirst
            127.0.0.1\tFALSE\t/\tFALSE\t0\tfixed\tyes
            other.example\tFALSE\t/\tFALSE\t0\tforeign\t1

            """
        try folder.write(Array(lines.utf8), to: "cookies.txt")
        try await withServer(answering: { connection, request in
            connection.respond(
                Self.m3u8, fields: request[0].contains("/a ") ? ["Set-Cookie: session=second; Path=/"] : [])
        }) { server in
            let transport = CurlTransport(
                configuration: .init(proxy: .none, cookieFile: "\(folder.path)/cookies.txt"))
            for path in ["/a", "/b", "/c"] { #expect(await transport.load(server.url + path).error == nil) }
            let sent = server.values(of: "Cookie").map { Set(($0 ?? "").components(separatedBy: "; ")) }
            #expect(
                sent == [
                    ["session=first", "fixed=yes"], ["session=second", "fixed=yes"], ["session=second", "fixed=yes"],
                ])
        }
    }

    @Test(
        "a netrc login goes to its host if that is a user's origin and the request has none",
        arguments: ["machine 127.0.0.1 login us password pw\n", "default login us password pw\n"])
    func netrc(text: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(text.utf8), to: "netrc")
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { foreign in
            try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
                let transport = CurlTransport(configuration: .init(proxy: .none, netrcFile: "\(folder.path)/netrc"))
                let origins = Set([URLOrigin(of: server.url)].compactMap { $0 })
                let own = TransportField(name: "Authorization", value: "Bearer s")
                for (url, fields) in [(server.url + "/a", []), (server.url + "/b", [own]), (foreign.url + "/c", [])] {
                    _ = await transport.load(
                        .init(urlString: url, resourceClass: .segment, fields: fields, credentialOrigins: origins))
                }
                let otherName = server.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
                _ = await transport.load(
                    .init(urlString: otherName + "/d", resourceClass: .segment, credentialOrigins: origins))
                #expect(server.values(of: "Authorization") == ["Basic dXM6cHc=", "Bearer s", nil])
                #expect(foreign.values(of: "Authorization") == [nil], "another port is another origin")
            }
        }
    }

    @Test("D11: a proxy gets the whole URL and its own login")
    func proxy() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { proxy in
            let address = proxy.url.replacingOccurrences(of: "http://", with: "http://me:pw@")
            let transport = CurlTransport(configuration: .init(proxy: .url(address)))
            let result = await transport.load("http://stream.invalid/a/b.m3u8")
            #expect(result.error == nil)
            #expect(proxy.requests.first?.first == "GET http://stream.invalid/a/b.m3u8 HTTP/1.1")
            #expect(proxy.values(of: "Proxy-Authorization") == ["Basic bWU6cHc="])
        }
    }

    @Test(
        "a client certificate is only shown to the credentials' origins (R59)",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func clientCertificate() async throws {
        let origin = try TestOrigin.shared()
        let folder = origin.caFile.split(separator: "/").dropLast().joined(separator: "/")
        let configuration = TransportConfiguration(
            caFile: origin.caFile, proxy: .none, clientCertificateFile: "/\(folder)/server.pem",
            clientKeyFile: "/\(folder)/server.key")
        let own = Set([URLOrigin(of: origin.secure)].compactMap { $0 })
        for (origins, name) in [(own, "CN=localhost"), ([], nil)] {
            let request = TransportRequest(
                urlString: origin.secure + "/who", resourceClass: .segment, credentialOrigins: origins)
            let result = await CurlTransport(configuration: configuration).load(request)
            #expect(result.error == nil)
            #expect(result.response?.fields.first { $0.name.lowercased() == "x-client" }?.value == name)
        }
    }

    @Test("D11: an unreadable certificate fails with that reason")
    func badCertificate() async throws {
        let configuration = TransportConfiguration(proxy: .none, clientCertificateFile: "/no/such.pem")
        let url = "https://127.0.0.1:1/x"
        let origins = Set([URLOrigin(of: url)].compactMap { $0 })
        let result = await CurlTransport(configuration: configuration).load(
            .init(urlString: url, resourceClass: .segment, credentialOrigins: origins))
        #expect(result.error != nil)
        #expect(result.response == nil)
    }

    @Test("D11: the requested address family and interface are used")
    func family() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
            let url = server.url + "/a"
            #expect(
                await CurlTransport(configuration: .init(proxy: .none, addressFamily: .ipv4)).load(url).error == nil)
            #expect(
                await CurlTransport(configuration: .init(proxy: .none, addressFamily: .ipv6)).load(url).error != nil)
            #expect(
                await CurlTransport(configuration: .init(proxy: .none, interface: "127.0.0.1")).load(url).error == nil)
            #expect(await CurlTransport(configuration: .init(proxy: .none, interface: "none7")).load(url).error != nil)
        }
    }
}
