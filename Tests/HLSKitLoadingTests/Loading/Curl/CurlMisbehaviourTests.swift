import HLSKitCore
import TestSupport
import Testing

@Suite("Curl with a misbehaving server", .timeLimit(.minutes(10)))
struct CurlMisbehaviourTests {
    static let m3u8 = Array("#EXTM3U\n".utf8)

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var response: String
        var resourceClass = ResourceClass.segment
        var byteRange: Range<UInt64>?
        var body = ""
        var error: LoadingError.Code?
        var text = ""
    }

    static let cases: [Case] = [
        .init(
            testDescription: "a body that is cut (R15)", response: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            body: "abc", error: .connectionLost, text: "curl 18"),
        .init(
            testDescription: "a chunk that is cut (R15)",
            response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", body: "abc",
            error: .connectionLost),
        .init(
            testDescription: "chunks without the last one",
            response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", body: "abc",
            error: .connectionLost),
        .init(testDescription: "no answer", response: "", error: .connectionLost, text: "curl 52"),
        .init(testDescription: "no HTTP", response: "SSH-2.0-x\r\n\r\n", error: .transport, text: "curl 1"),
        .init(
            testDescription: "more bytes than announced (R16)",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n", body: "abc"),
        .init(
            testDescription: "an HTTP/1.0 body up to the close (R21)", response: "HTTP/1.0 200 OK\r\n\r\nabc",
            body: "abc"),
        .init(testDescription: "204 (R10)", response: "HTTP/1.1 204 No Content\r\n\r\n", error: .emptyBody),
        .init(
            testDescription: "200 without body (R10)", response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            error: .emptyBody),
        .init(
            testDescription: "an empty key", response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            resourceClass: .key, error: .emptyBody),
        .init(
            testDescription: "a range that is ignored (R14)",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", byteRange: 3..<6, body: "345"),
        .init(
            testDescription: "a range that is ignored, chunked",
            response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n",
            byteRange: 3..<6, body: "345"),
        .init(
            testDescription: "a range that is ignored, in a body too short",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234", byteRange: 3..<6, error: .badRange),
        .init(
            testDescription: "a range that is ignored, in a chunked body too short",
            response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\n\r\n",
            byteRange: 3..<6, body: "34", error: .badRange),
        .init(
            testDescription: "another range than asked for",
            response: "HTTP/1.1 206 P\r\nContent-Length: 3\r\nContent-Range: bytes 0-2/10\r\n\r\n012",
            byteRange: 3..<6, error: .badRange, text: "0-2/10"),
        .init(
            testDescription: "a range that nobody named",
            response: "HTTP/1.1 206 P\r\nContent-Length: 3\r\n\r\n012", byteRange: 3..<6, error: .badRange),
        .init(
            testDescription: "a range that is open at its end, in chunks",
            response: "HTTP/1.1 206 P\r\nContent-Range: bytes 3-9007199254740991/*\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n34\r\n1\r\n5\r\n0\r\n\r\n",
            byteRange: .bytes(from: 3), body: "345"),
        .init(
            testDescription: "an open range that is ignored",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", byteRange: .bytes(from: 3),
            body: "3456789"),
        .init(
            testDescription: "an open range that is cut off",
            response: "HTTP/1.1 206 P\r\nContent-Range: bytes 3-9/10\r\nContent-Length: 7\r\n\r\n345",
            byteRange: .bytes(from: 3), body: "345", error: .connectionLost),
        .init(
            testDescription: "416", response: "HTTP/1.1 416 R\r\nContent-Length: 0\r\n\r\n", byteRange: 3..<6,
            error: .httpStatus, text: "416"),
        .init(
            testDescription: "gzip on plain text (R25)",
            response: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\n#EXTM3U\n",
            error: .badContentEncoding, text: "zlib -3"),
        .init(
            testDescription: "a coding nobody asked for",
            response: "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
            error: .badContentEncoding, text: "br"),
        .init(
            testDescription: "three codings",
            response: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip\r\nContent-Length: 1\r\n\r\nx",
            error: .badContentEncoding),
        .init(
            testDescription: "an error with a long body",
            response: "HTTP/1.1 500 X\r\nContent-Length: 200000\r\n\r\n" + String(repeating: "x", count: 200_000),
            error: .httpStatus, text: "HTTP 500"),
        .init(
            testDescription: "interim responses before the final one",
            response: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            body: "x"),
        .init(
            testDescription: "a redirect to nowhere", response: "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
            error: .httpStatus, text: "Location"),
        .init(
            testDescription: "a redirect to a file (R23)",
            response: "HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", error: .refused,
            text: "\"file\""),
        .init(
            testDescription: "a redirect to gopher (R56)",
            response: "HTTP/1.1 302 F\r\nLocation: gopher://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n",
            error: .refused),
        .init(
            testDescription: "a redirect with a control character (R63)",
            response: "HTTP/1.1 302 F\r\nLocation: /a\u{1}b\r\nContent-Length: 0\r\n\r\n", error: .refused),
        .init(
            testDescription: "a header of 300 kB (R28)",
            response: "HTTP/1.1 200 OK\r\n"
                + String(repeating: "X: \(String(repeating: "y", count: 1000))\r\n", count: 300)
                + "\r\n", error: .tooLarge, text: "262144"),
        .init(
            testDescription: "a header line of 120 kB",
            response: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 120_000))\r\n\r\n", error: .tooLarge),
    ]

    @Test("each misbehaviour ends in its expected error", arguments: cases)
    func response(_ test: Case) async throws {
        try await withServer(accepting: { connection, _ in
            guard connection.readRequest() != nil else { return }
            connection.send(test.response)
        }) { server in
            let request = TransportRequest(
                urlString: server.url + "/x", resourceClass: test.resourceClass, byteRange: test.byteRange)
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(request)
            #expect(result.error?.code == test.error)
            #expect(result.error?.text.contains(test.text) ?? true)
            #expect(String(decoding: result.bytes, as: UTF8.self) == test.body)
            #expect(result.violations == [])
            #expect(result.metrics.isLengthUnverified == test.response.hasPrefix("HTTP/1.0"))
        }
    }

    @Test("a reset in the body is a lost connection (R15)")
    func reset() async throws {
        try await withServer(accepting: { connection, _ in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.reset()
        }) { server in
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(server.url)
            #expect(result.error?.code == .connectionLost)
        }
    }

    @Test("Retry-After is passed on in seconds (R5)")
    func retryAfter() async throws {
        try await withServer(answering: { connection, _ in
            connection.respond([], status: "503 Busy", fields: ["Retry-After: 7"])
        }) { server in
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(server.url)
            #expect(result.error?.status == 503)
            #expect(result.error?.retryAfter == .seconds(7))
        }
    }

    @Test("without a response the first-byte deadline ends the request and is named (R17)")
    func firstByte() async throws {
        try await withServer(accepting: { connection, _ in connection.waitForClose() }) { server in
            let request = TransportRequest(
                urlString: server.url, resourceClass: .segment, timeouts: .init(firstByte: .milliseconds(200)))
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(request)
            #expect(result.error?.code == .timedOut)
            #expect(result.error?.text == "no response after 0.2 s")
            #expect(result.metrics.total < .seconds(5))
        }
    }

    @Test("D05: a trickle below the minimum speed fails although bytes arrive (R18)", arguments: [true, false])
    func slowLoris(_ isInHeader: Bool) async throws {
        try await withServer(accepting: { connection, _ in
            _ = connection.readRequest()
            connection.send(
                isInHeader ? "HTTP/1.1 200 OK\r\nX: " : "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            // Two bytes every 20 ms until the client closes, which is far below the minimum speed.
            while connection.send("\n "), !connection.isClosed(within: 0.02) {}
        }) { server in
            let request = TransportRequest(
                urlString: server.url, resourceClass: .segment,
                timeouts: .init(lowSpeed: .milliseconds(300), minimumBytesPerSecond: 1000))
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(request)
            #expect(result.error?.code == .timedOut)
            #expect(result.error?.text.contains("in 0.3 s, less than 1000 bytes/s") == true)
        }
    }

    @Test("the total deadline ends a continuing transfer")
    func total() async throws {
        try await withServer(accepting: { connection, _ in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send([UInt8](repeating: 0, count: 5000)), !connection.isClosed(within: 0.01) {}
        }) { server in
            let request = TransportRequest(
                urlString: server.url, resourceClass: .segment, timeouts: .init(total: .milliseconds(250)))
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(request)
            #expect(result.error?.code == .timedOut)
            #expect(result.error?.text == "not complete after 0.2 s")
        }
    }

    @Test("a cancellation closes the connection at once")
    func cancellation() async throws {
        let (closed, continuation) = AsyncStream<ContinuousClock.Instant>.makeStream()
        try await withServer(accepting: { connection, _ in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc")
            connection.waitForClose()
            continuation.yield(.now)
        }) { server in
            let recorder = TransportRecorder()
            let transport = CurlTransport(configuration: .init(proxy: .none))
            let task = transport.start(.init(urlString: server.url, resourceClass: .segment)) { recorder.record($0) }
            await recorder.wait { !$0.pieces.isEmpty }
            let start = ContinuousClock.now
            task.cancel()
            for await instant in closed {
                // Without the cancellation, the transfer would end after fifteen seconds without data.
                #expect(instant - start < .seconds(10))
                break
            }
            #expect(!recorder.result.hasEnded)
        }
    }

    @Test("a silently closed keep-alive connection is replaced without an error (R21)")
    func deadConnection() async throws {
        try await withServer(accepting: { connection, _ in
            if connection.readRequest() != nil { connection.respond(Self.m3u8) }
            // Closes the connection only after the next request has been sent.
            if connection.server.connectionCount == 1 { _ = connection.readRequest() }
        }) { server in
            let transport = CurlTransport(configuration: .init(proxy: .none))
            for _ in 0..<2 {
                let result = await transport.load(server.url)
                #expect(result.error == nil)
                #expect(result.bytes == Self.m3u8)
            }
            #expect(server.connectionCount == 2)
        }
    }

    @Test("after surplus bytes the connection is not reused (R16)")
    func surplus() async throws {
        try await withServer(answering: { connection, _ in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }) { server in
            let transport = CurlTransport(configuration: .init(proxy: .none))
            for _ in 0..<2 {
                #expect(String(decoding: await transport.load(server.url).bytes, as: UTF8.self) == "abc")
            }
            #expect(server.connectionCount == 2)
        }
    }

    @Test("an endless gzip stream stops at the limit (R26)", arguments: [ResourceClass.mediaPlaylist, .key])
    func gzipBomb(_ resourceClass: ResourceClass) async throws {
        let bomb = try Tool.run(["gzip", "-9", "-c"], input: [UInt8](repeating: 0x41, count: 8 << 20))
        try await withServer(accepting: { connection, _ in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            while connection.send(bomb) {}
        }) { server in
            let request = TransportRequest(
                urlString: server.url, resourceClass: resourceClass, maximumByteCount: 100_000)
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(request)
            #expect(result.error?.code == .tooLarge)
            #expect(result.error?.text.contains("100000") == true)
            #expect(result.bytes.count <= 100_000)
        }
    }

    @Test("an endless body stops at the limit (R28)")
    func endless() async throws {
        try await withServer(accepting: { connection, _ in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send([UInt8](repeating: 0x47, count: 100_000)) {}
        }) { server in
            let request = TransportRequest(urlString: server.url, resourceClass: .segment, maximumByteCount: 3_000_000)
            let result = await CurlTransport(configuration: .init(proxy: .none)).load(request)
            #expect(result.error?.code == .tooLarge)
            #expect(result.bytes.count <= 3_000_000)
        }
    }
}
