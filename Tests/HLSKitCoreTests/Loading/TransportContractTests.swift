import HLSKitCore
import TestSupport
import Testing

/// What every transport has to do, over curl (HTTP/1.1, HTTP/2) and files.
@Suite("every transport", .enabled(if: TestOrigin.isInstalled, "needs nginx"), .timeLimit(.minutes(1)))
struct TransportContractTests {
    enum Kind: CaseIterable, CustomTestStringConvertible {
        case http11, h2, file

        var testDescription: String { "\(self)" }

        func transport(_ origin: TestOrigin) -> any Transport {
            SchemeTransport(
                network: CurlTransport(configuration: .init(caFile: origin.caFile, proxy: .none)),
                local: LocalTransport())
        }

        func url(_ name: String, _ origin: TestOrigin) -> String {
            switch self {
            case .http11: "\(origin.plain)/\(name)"
            case .h2: "\(origin.secure)/\(name)"
            case .file: "file://\(origin.root.path)/\(name)"
            }
        }

        var protocolName: String {
            switch self {
            case .http11: "http/1.1"
            case .h2: "h2"
            case .file: "file"
            }
        }
    }

    @Test("delivers a response, the bytes in large pieces, and the end", arguments: Kind.allCases)
    func wholeResource(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let result = await kind.transport(origin).load(kind.url("segment.ts", origin))
        #expect(result.error == nil)
        #expect(result.violations == [])
        #expect(result.response?.status == 200)
        #expect(result.response?.url == kind.url("segment.ts", origin))
        #expect(result.response?.contentLength == 1 << 20)
        #expect(result.bytes == TestOrigin.segment)
        #expect(result.metrics.receivedByteCount == 1 << 20)
        #expect(result.metrics.decodedByteCount == 1 << 20)
        #expect(result.metrics.protocolName == kind.protocolName)
        #expect(!result.metrics.isLengthUnverified)
        #expect(result.metrics.total >= result.metrics.firstByte)
        #expect(result.metrics.firstByte > .zero)
    }

    @Test("delivers exactly the byte range that was asked for", arguments: Kind.allCases)
    func byteRange(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let request = TransportRequest(
            url: kind.url("segment.ts", origin), resourceClass: .segment, byteRange: 300_000..<700_001)
        let result = await kind.transport(origin).load(request)
        #expect(result.error == nil)
        #expect(result.response?.status == 206)
        #expect(result.bytes == Array(TestOrigin.segment[300_000..<700_001]))
    }

    @Test("fails a range that reaches beyond the end", arguments: Kind.allCases)
    func rangeBeyondEnd(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let request = TransportRequest(
            url: kind.url("segment.ts", origin), resourceClass: .segment, byteRange: 1_048_000..<1_048_577)
        let result = await kind.transport(origin).load(request)
        #expect(result.error?.code == .badRange)
        #expect(result.bytes.isEmpty)
    }

    @Test("fails what does not exist", arguments: Kind.allCases)
    func missing(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let result = await kind.transport(origin).load(kind.url("missing.ts", origin))
        #expect(result.error?.code == (kind == .file ? .fileNotFound : .httpStatus))
        #expect(result.error?.status == (kind == .file ? nil : 404))
        #expect(result.error?.url == kind.url("missing.ts", origin))
        #expect(result.response == nil)
    }

    @Test("fails an empty resource (R10)", arguments: Kind.allCases)
    func empty(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let result = await kind.transport(origin).load(kind.url("empty.ts", origin))
        #expect(result.error?.code == .emptyBody)
        #expect(result.violations == [])
    }

    @Test("refuses what is larger than the limit, and names the limit (R28)", arguments: Kind.allCases)
    func tooLarge(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let request = TransportRequest(
            url: kind.url("segment.ts", origin), resourceClass: .key, maximumByteCount: 4096)
        let result = await kind.transport(origin).load(request)
        #expect(result.error?.code == .tooLarge)
        #expect(result.error?.text.contains("4096") == true)
        #expect(result.bytes.count <= 4096)
    }

    @Test("delivers nothing after a cancellation, which may be repeated", arguments: Kind.allCases)
    func cancellation(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = kind.transport(origin)
        let recorder = TransportRecorder()
        let task = transport.start(.init(url: kind.url("segment.ts", origin), resourceClass: .segment)) {
            recorder.record($0)
        }
        task.cancel()
        task.cancel()
        // A later request that has ended shows that the first one had its time.
        #expect(await transport.load(kind.url("segment.ts", origin)).error == nil)
        #expect(!recorder.result.hasEnded)
        task.cancel()
    }

    @Test("delivers at most one more event in a pause, and all the rest after it", arguments: Kind.allCases)
    func pause(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = kind.transport(origin)
        let recorder = TransportRecorder()
        let task = transport.start(.init(url: kind.url("segment.ts", origin), resourceClass: .segment)) {
            recorder.record($0)
        }
        task.pause()
        let before = recorder.result
        #expect(await transport.load(kind.url("segment.ts", origin)).error == nil)
        let after = recorder.result
        #expect(after.pieces.count - before.pieces.count + (after.response == before.response ? 0 : 1) <= 1)
        #expect(!after.hasEnded)
        task.resume()
        await recorder.wait { $0.hasEnded }
        #expect(recorder.result.error == nil)
        #expect(recorder.result.violations == [])
        #expect(recorder.result.bytes == TestOrigin.segment)
    }

    @Test("pauses and resumes within the handler at every event", arguments: Kind.allCases)
    func pauseInHandler(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = kind.transport(origin)
        let recorder = TransportRecorder()
        let (events, continuation) = AsyncStream<Void>.makeStream()
        let box = TaskBox()
        box.set(
            transport.start(.init(url: kind.url("segment.ts", origin), resourceClass: .segment)) { event in
                box.task?.pause()
                recorder.record(event)
                continuation.yield()
            })
        for await _ in events {
            if recorder.result.hasEnded { break }
            box.task?.resume()
        }
        #expect(recorder.result.error == nil)
        #expect(recorder.result.bytes == TestOrigin.segment)
    }

    @Test("carries many requests side by side", arguments: Kind.allCases)
    func parallel(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = kind.transport(origin)
        let results = await withTaskGroup(of: LoadResult.self) { group in
            for _ in 0..<20 { group.addTask { await transport.load(kind.url("segment.ts", origin)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let expected = TestOrigin.segment
        #expect(results.count == 20)
        #expect(results.allSatisfy { $0.error == nil && $0.bytes == expected })
    }

    @Test("ends a request although the caller has let go of transport and task", arguments: Kind.allCases)
    func ownership(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let recorder = TransportRecorder()
        _ = kind.transport(origin).start(.init(url: kind.url("segment.ts", origin), resourceClass: .segment)) {
            recorder.record($0)
        }
        await recorder.wait { $0.hasEnded }
        #expect(recorder.result.error == nil)
    }
}
