import HLSKitCore
import TestSupport
import Testing

@Suite("Curl with correct servers", .timeLimit(.minutes(10)))
struct CurlTransportTests {
    static let plain = TransportConfiguration(proxy: .none)
    static let m3u8 = Array("#EXTM3U\n".utf8)

    @Test("a connection target replaces the host of the URL, but not the Host field")
    func connectionTargets() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
            let port = try #require(server.url.split(separator: ":").last.flatMap { Int($0) })
            for target: TransportConfiguration.ConnectionTarget in [
                .init(host: "edge.invalid", port: 8080, targetHost: "127.0.0.1", targetPort: port),
                .init(targetHost: "127.0.0.1", targetPort: port),
            ] {
                var configuration = Self.plain
                configuration.connectionTargets = [target]
                let result = await CurlTransport(configuration: configuration).load("http://edge.invalid:8080/a.m3u8")
                #expect(result.bytes == Self.m3u8)
                #expect(server.requests.last?.contains("Host: edge.invalid:8080") == true)
                configuration.addressPolicy = .denyPrivate
                let denied = await CurlTransport(configuration: configuration).load("http://edge.invalid:8080/a.m3u8")
                #expect(denied.error?.code == .refused)
            }
        }
    }

    // MARK: Redirects

    @Test("redirects of all kinds are followed, and the last URL is the base (R22)")
    func redirectChain() async throws {
        let statuses = [301, 302, 303, 307, 308]
        try await withServer(answering: { connection, request in
            let hop = statuses.firstIndex { request[0].contains("hop\($0) ") }.map { $0 + 1 } ?? 0
            if hop < statuses.count {
                connection.redirect(to: "../a/./hop\(statuses[hop])", status: statuses[hop])
            } else {
                connection.respond(Self.m3u8)
            }
        }) { server in
            let result = await CurlTransport(configuration: Self.plain).load(server.url + "/x/start")
            #expect(result.error == nil)
            #expect(result.response?.urlString == server.url + "/a/hop308")
            #expect(result.metrics.redirectCount == 5)
            #expect(server.connectionCount == 1)
        }
    }

    @Test("the maximum number of redirects is a setting (R22)", arguments: [0, 1, 3])
    func redirectMaximum(_ maximum: Int) async throws {
        try await withServer(answering: { connection, request in
            let number = request[0].split(separator: " ").dropFirst().first.flatMap { Int($0.dropFirst()) } ?? 0
            if number > 0 { connection.redirect(to: "/\(number - 1)") } else { connection.respond(Self.m3u8) }
        }) { server in
            var configuration = Self.plain
            configuration.maximumRedirectCount = maximum
            let transport = CurlTransport(configuration: configuration)
            #expect(await transport.load(server.url + "/\(maximum)").bytes == Self.m3u8)
            let more = await transport.load(server.url + "/\(maximum + 1)")
            #expect(more.error?.code == .tooManyRedirects)
        }
    }

    @Test("a redirect loop ends after ten hops and lists the chain (R22)")
    func redirectLoop() async throws {
        try await withServer(answering: { connection, request in
            connection.redirect(to: request[0].contains("/a ") ? "/b" : "/a")
        }) { server in
            let result = await CurlTransport(configuration: Self.plain).load(server.url + "/a")
            #expect(result.error?.code == .tooManyRedirects)
            #expect(
                result.error?.text == "redirect loop: \(server.url)/b -> \(server.url)/a -> \(server.url)/b")
            #expect(server.requests.count == 11)
        }
    }

    @Test(
        "redirects to https are allowed, and from https to http only on request (R23)",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func downgrade() async throws {
        let origin = try TestOrigin.shared()
        var configuration = TransportConfiguration(caFile: origin.caFile, proxy: .none)
        let strict = CurlTransport(configuration: configuration)
        #expect(
            await strict.load(origin.plain + "/away", .mediaPlaylist).response?.urlString == origin.secure
                + "/small.m3u8")
        let refused = await strict.load(origin.secure + "/down", .mediaPlaylist)
        #expect(refused.error?.code == .refused)
        #expect(refused.response == nil)
        configuration.allowsDowngradeRedirect = true
        let lenient = CurlTransport(configuration: configuration)
        #expect(await lenient.load(origin.secure + "/down", .mediaPlaylist).bytes == TestOrigin.playlist)
    }

    // MARK: Requests

    @Test("user fields go to the named origins only, also in redirects, except harmless ones (R59)")
    func credentials() async throws {
        let fields = [
            TransportField(name: "Authorization", value: "Bearer s"), TransportField(name: "Cookie", value: "a=b"),
            TransportField(name: "X-Api-Key", value: "t"), TransportField(name: "X-Empty", value: ""),
            TransportField(name: "Accept-Language", value: "de"),
            TransportField(name: "Referer", value: "https://site.example/page?token=s"),
        ]
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { foreign in
            try await withServer(answering: { connection, request in
                if request[0].contains("/away") {
                    connection.redirect(to: foreign.url + "/x")
                } else {
                    connection.respond(Self.m3u8)
                }
            }) { own in
                let transport = CurlTransport(configuration: Self.plain)
                let origins = [URLOrigin(of: own.url)].compactMap { $0 }
                for url in [own.url + "/x", own.url + "/away", foreign.url + "/y"] {
                    let request = TransportRequest(
                        urlString: url, resourceClass: .segment, fields: fields, credentialOrigins: Set(origins))
                    #expect(await transport.load(request).error == nil)
                }
                #expect(own.values(of: "Authorization") == ["Bearer s", "Bearer s"])
                #expect(own.values(of: "Cookie") == ["a=b", "a=b"])
                #expect(foreign.values(of: "Authorization") == [nil, nil])
                #expect(foreign.values(of: "Cookie") == [nil, nil])
                #expect(own.values(of: "X-Api-Key") == ["t", "t"])
                #expect(foreign.values(of: "X-Api-Key") == [nil, nil])
                #expect(own.values(of: "X-Empty") == ["", ""])
                #expect(foreign.values(of: "Accept-Language") == ["de", "de"])
                #expect(own.values(of: "Referer") == Array(repeating: "https://site.example/page?token=s", count: 2))
                #expect(foreign.values(of: "Referer") == ["https://site.example/", "https://site.example/"])
            }
        }
    }

    @Test("user information becomes Basic credentials for its origin, and is never shown (R60)")
    func userInformation() async throws {
        try await withServer(answering: { connection, request in
            connection.respond(Self.m3u8, status: request[0].contains("missing") ? "404 No" : "200 OK")
        }) { server in
            let transport = CurlTransport(configuration: Self.plain)
            let host = server.url.dropFirst("http://".count)
            let origins = Set([URLOrigin(of: server.url)].compactMap { $0 })
            let own = await transport.load(
                .init(urlString: "http://us%65r:p%40ss@\(host)/x", resourceClass: .segment, credentialOrigins: origins))
            #expect(own.response?.urlString == server.url + "/x")
            let other = await transport.load("http://user:secret@\(host)/missing")
            #expect(other.error?.description.contains("secret") == false)
            #expect(server.values(of: "Authorization") == ["Basic dXNlcjpwQHNz", nil])
        }
    }

    @Test("a Digest server gets a proof, and a new one only if it is stale")
    func digest() async throws {
        let ask = "WWW-Authenticate: Digest realm=\"cam\", qop=\"auth\", nonce=\"abc\", algorithm=MD5"
        try await withServer(answering: { connection, request in
            let field = request.first { $0.lowercased().hasPrefix("authorization: digest") }
            let isGiven = field?.contains("uri=\"/x\"") == true && field?.contains("username=\"user\"") == true
            connection.respond(Self.m3u8, status: isGiven ? "200 OK" : "401 No", fields: isGiven ? [] : [ask])
        }) { server in
            let transport = CurlTransport(configuration: Self.plain)
            let host = server.url.dropFirst("http://".count)
            let origins = Set([URLOrigin(of: server.url)].compactMap { $0 })
            func load(_ path: String) async -> LoadResult {
                await transport.load(
                    .init(
                        urlString: "http://user:p@\(host)/\(path)", resourceClass: .segment, credentialOrigins: origins)
                )
            }
            #expect(await load("x").response?.status == 200)
            #expect(await load("x").response?.status == 200)
            #expect(server.values(of: "Authorization").compactMap { $0?.prefix(6) } == ["Basic ", "Digest", "Digest"])
            #expect(await load("y").error?.status == 401)
            #expect(server.values(of: "Authorization").count == 6)
        }
    }

    @Test("server cookies are sent back to their host only (R61)")
    func cookies() async throws {
        try await withServer(answering: { connection, _ in
            connection.respond(Self.m3u8, fields: ["Set-Cookie: s=1; Path=/", "Set-Cookie: t=2; Domain=com"])
        }) { server in
            let transport = CurlTransport(configuration: Self.plain)
            _ = await transport.load(server.url + "/a")
            let request = TransportRequest(
                urlString: server.url + "/b", resourceClass: .segment, fields: [.init(name: "Cookie", value: "u=3")],
                credentialOrigins: Set([URLOrigin(of: server.url)].compactMap { $0 }))
            _ = await transport.load(request)
            _ = await transport.load("http://localhost:\(server.port)/c")
            #expect(server.values(of: "Cookie") == [nil, "s=1; u=3", nil])
        }
    }

    @Test("compression is requested for playlists, not for media")
    func acceptEncoding() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
            let transport = CurlTransport(configuration: .init(userAgent: "Test/1", proxy: .none))
            for resourceClass in [ResourceClass.mediaPlaylist, .segment, .key] {
                _ = await transport.load(server.url, resourceClass)
            }
            #expect(server.values(of: "Accept-Encoding") == ["gzip, deflate", "identity", "identity"])
            #expect(server.values(of: "User-Agent") == ["Test/1", "Test/1", "Test/1"])
        }
    }

    @Test("R24: unrequested compression is decoded")
    func unaskedCompression() async throws {
        let body = try Tool.run(["gzip", "-c"], input: Self.m3u8)
        try await withServer(answering: { connection, _ in
            connection.respond(body, fields: ["Content-Encoding: gzip"])
        }) { server in
            let result = await CurlTransport(configuration: Self.plain).load(server.url, .segment)
            #expect(result.error == nil)
            #expect(result.bytes == Self.m3u8)
        }
    }

    @Test("R62: no request sends a Referer")
    func noReferer() async throws {
        try await withServer(answering: { connection, request in
            if request[0].contains("/a ") { return connection.redirect(to: "/b?token=1") }
            connection.respond(Self.m3u8)
        }) { server in
            _ = await CurlTransport(configuration: Self.plain).load(server.url + "/a", .segment)
            #expect(server.values(of: "Referer") == [nil, nil])
        }
    }

    @Test("characters invalid in a request line are escaped, and the fragment is not sent (R63)")
    func escaping() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
            _ = await CurlTransport(configuration: Self.plain).load(server.url + "/a b/ü%20?q=\"<é>#part")
            #expect(server.requests.first?.first == "GET /a%20b/%C3%BC%20?q=%22%3C%C3%A9%3E HTTP/1.1")
        }
    }

    @Test(
        "forbidden requests are refused before any I/O",
        arguments: [
            (
                TransportRequest(urlString: "http://127.0.0.1:1/a\r\nX: y", resourceClass: .segment),
                LoadingError.Code.badURL
            ),
            (TransportRequest(urlString: "file:///etc/passwd", resourceClass: .segment), .refused),
            (TransportRequest(urlString: "rtmp://127.0.0.1/x", resourceClass: .segment), .refused),
            (TransportRequest(urlString: "seg.ts", resourceClass: .segment), .badURL),
            (TransportRequest(urlString: "http://good\\@127.0.0.1/", resourceClass: .segment), .badURL),
            (TransportRequest(urlString: "http://a%2Fb/", resourceClass: .segment), .badURL),
            (
                TransportRequest(
                    urlString: "http://127.0.0.1:1/", resourceClass: .segment,
                    fields: [.init(name: "X", value: "a\r\nY: b")]),
                .refused
            ),
            (
                TransportRequest(
                    urlString: "http://127.0.0.1:1/", resourceClass: .segment, fields: [.init(name: "X Y", value: "a")]),
                .refused
            ),
            (TransportRequest(urlString: "http://127.0.0.1:1/", resourceClass: .segment, byteRange: 5..<5), .badRange),
        ])
    func refusal(_ request: TransportRequest, _ code: LoadingError.Code) async {
        let result = await CurlTransport(configuration: Self.plain).load(request)
        #expect(result.error?.code == code)
        #expect(result.metrics.connect == .zero)
    }

    // MARK: Network

    @Test("failures of name, connection and certificate are distinct, in curl's words (R19, R20)")
    func causes() async throws {
        let listener = try LoopbackListener()
        listener.close()
        let transport = CurlTransport(configuration: Self.plain)
        let name = await transport.load("http://no-such-host.invalid/")
        #expect(name.error?.code == .nameNotFound)
        #expect(name.error?.text == "curl 6: Could not resolve host: no-such-host.invalid")
        let refused = await transport.load("http://127.0.0.1:\(listener.port)/")
        #expect(refused.error?.code == .cannotConnect)
        #expect(refused.error?.text.hasPrefix("curl 7: ") == true)
        try await withServer(accepting: { connection, _ in connection.send("HTTP/1.1 400 No\r\n\r\n") }) { server in
            let tls = await transport.load("https://127.0.0.1:\(server.port)/")
            #expect(tls.error?.code == .tlsHandshake)
        }
    }

    @Test(
        "an untrusted certificate is refused unless checks are off (R20)",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func certificates() async throws {
        let origin = try TestOrigin.shared()
        let result = await CurlTransport(configuration: Self.plain).load(origin.secure + "/segment.ts")
        #expect(result.error?.code == .untrustedCertificate)
        #expect(result.error?.text.hasPrefix("curl 60: ") == true)
        let insecure = CurlTransport(configuration: .init(verifiesCertificates: false, proxy: .none))
        #expect(await insecure.load(origin.secure + "/segment.ts").error == nil)
    }

    @Test(
        "requests share one HTTP/2 connection, also if they start before it is open",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func multiplexing() async throws {
        let origin = try TestOrigin.shared()
        let transport = CurlTransport(configuration: .init(caFile: origin.caFile, proxy: .none))
        let results = await withTaskGroup(of: LoadResult.self) { group in
            for _ in 0..<10 { group.addTask { await transport.load(origin.secure + "/segment.ts") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0.metrics.reusedConnection } == 9)
        #expect(results.allSatisfy { $0.metrics.protocolName == "h2" })
        #expect(results.allSatisfy { $0.metrics.reusedConnection == ($0.metrics.secureConnect == .zero) })
        #expect(results.allSatisfy { $0.response?.serverAddress == "127.0.0.1" })
    }

    @Test(
        "a request with a separate connection does not share one; the next such request reuses it",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func ownConnection() async throws {
        let origin = try TestOrigin.shared()
        let transport = CurlTransport(configuration: .init(caFile: origin.caFile, proxy: .none))
        var results: [LoadResult] = []
        for isOwn in [false, true, true, false] {
            var request = TransportRequest(urlString: origin.secure + "/segment.ts", resourceClass: .segment)
            request.usesOwnConnection = isOwn
            results.append(await transport.load(request))
        }
        #expect(results.allSatisfy { $0.error == nil })
        #expect(results[0].metrics.protocolName == "h2")
        #expect(results[1...2].map(\.metrics.protocolName) == ["http/1.1", "http/1.1"])
        #expect(results.map(\.metrics.reusedConnection) == [false, false, true, true])
    }

    @Test("HTTP/2 can be disabled", .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func http11() async throws {
        let origin = try TestOrigin.shared()
        let configuration = TransportConfiguration(caFile: origin.caFile, forcesHTTP11: true, proxy: .none)
        let result = await CurlTransport(configuration: configuration).load(origin.secure + "/segment.ts")
        #expect(result.metrics.protocolName == "http/1.1")
        #expect(result.error == nil)
    }

    @Test(
        "R24: a compressed playlist is counted as transferred and decoded",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func gzip() async throws {
        let origin = try TestOrigin.shared()
        let result = await CurlTransport(configuration: Self.plain).load(origin.plain + "/small.m3u8", .mediaPlaylist)
        #expect(result.bytes == TestOrigin.playlist)
        #expect(result.metrics.decodedByteCount == TestOrigin.playlist.count)
        #expect(result.metrics.receivedByteCount < TestOrigin.playlist.count / 4)
        #expect(result.response?.contentType == "application/vnd.apple.mpegurl")
    }

    @Test("a denied address is refused and named, however it is reached (R58)")
    func addressPolicy() async throws {
        try await withServer(answering: { connection, request in
            connection.redirect(to: "http://127.0.0.3:1/")
        }) { server in
            let narrow = AddressPolicy(denied: [AddressRange("127.0.0.3/32")].compactMap { $0 })
            let redirected = await CurlTransport(configuration: .init(proxy: .none, addressPolicy: narrow))
                .load(server.url)
            #expect(redirected.error?.code == .refused)
            #expect(redirected.error?.text.contains("127.0.0.3") == true)
            #expect(server.requests.count == 1)

            let strict = CurlTransport(configuration: .init(proxy: .none, addressPolicy: .denyPrivate))
            for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"] {
                let result = await strict.load("http://\(host):\(server.port)/")
                #expect(result.error?.code == .refused, "\(host)")
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test("D11: all transfers together keep to the rate limit")
    func rateLimit() async throws {
        try await withServer(answering: { connection, _ in
            connection.respond([UInt8](repeating: 1, count: 60_000))
        }) { server in
            let transport = CurlTransport(configuration: .init(proxy: .none, maximumBytesPerSecond: 200_000))
            let start = ContinuousClock.now
            async let first = transport.load(server.url)
            async let second = transport.load(server.url)
            let results = await [first, second]
            #expect(results.allSatisfy { $0.error == nil && $0.bytes.count == 60_000 })
            // 120 kB at 200 kB/s, minus the initial content of the token bucket and its permitted final debt.
            #expect(ContinuousClock.now - start > .milliseconds(350))
        }
    }

    @Test("D11: a proxy gets the requests")
    func proxy() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
            let transport = CurlTransport(configuration: .init(proxy: .url(server.url)))
            #expect(await transport.load("http://media.invalid/x").bytes == Self.m3u8)
            #expect(server.requests.first?.first == "GET http://media.invalid/x HTTP/1.1")
        }
    }

    @Test("D11: connections use the selected interface and address family")
    func interface() async throws {
        try await withServer(answering: { connection, _ in connection.respond(Self.m3u8) }) { server in
            let good = TransportConfiguration(proxy: .none, addressFamily: .ipv4, interface: "lo")
            #expect(await CurlTransport(configuration: good).load("http://localhost:\(server.port)/").error == nil)
            let noSuch = TransportConfiguration(proxy: .none, interface: "no-such-if0")
            #expect(await CurlTransport(configuration: noSuch).load(server.url).error?.code == .cannotConnect)
            let v6 = TransportConfiguration(proxy: .none, addressFamily: .ipv6)
            #expect(await CurlTransport(configuration: v6).load(server.url).error != nil)
        }
    }
}
