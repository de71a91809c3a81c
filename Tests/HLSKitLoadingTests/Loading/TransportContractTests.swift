import Foundation
import HLSKitCore
import Synchronization
import TestSupport
import Testing

@Suite("Contract of all transports", .enabled(if: TestOrigin.isInstalled, "needs nginx"), .timeLimit(.minutes(10)))
struct TransportContractTests {
    typealias Kind = ContractTransport

    @Test("every transport type runs these tests")
    func table() throws {
        let pattern =
            /\b(?:class|struct|actor|enum|extension)\s+([A-Za-z0-9_.]+)[^{\n]*:[^{\n]*\bResourceTransport\b[^{\n]*\{/
        var found: Set<String> = []
        for file in try SourceFiles.all(below: "Sources") {
            for match in file.text.matches(of: pattern) { found.insert(String(match.1)) }
        }
        #expect(found.contains("CurlTransport"), "the pattern finds what there is")
        #expect(found == Set(Kind.allCases.flatMap(\.types)).union(Kind.exceptions.keys))
    }

    @Test("a transport delivers a response, the bytes in large pieces, and the end", arguments: Kind.allCases)
    func wholeResource(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let result = try await kind.transport(origin).load(kind.request(kind.url("segment.ts", origin)))
        #expect(result.error == nil)
        #expect(result.violations == [])
        #expect(result.response?.status == 200)
        #expect(result.response?.urlString == kind.url("segment.ts", origin))
        #expect(result.response?.contentLength == 1 << 20)
        #expect(result.bytes == TestOrigin.segment)
        #expect(result.metrics.decodedByteCount == 1 << 20)
        #expect(result.metrics.protocolName == kind.protocolName)
        #expect(!result.metrics.isLengthUnverified)
        guard kind.isTransfer else { return }
        #expect(result.metrics.receivedByteCount == 1 << 20)
        #expect(result.metrics.total >= result.metrics.firstByte)
        #expect(result.metrics.firstByte > .zero)
    }

    @Test("a transport delivers exactly the requested byte range", arguments: Kind.allCases)
    func byteRange(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let request = kind.request(
            kind.url("segment.ts", origin), byteRange: 300_000..<700_001)
        let result = try await kind.transport(origin).load(request)
        #expect(result.error == nil)
        #expect(result.response?.status == 206)
        #expect(result.bytes == Array(TestOrigin.segment[300_000..<700_001]))
    }

    @Test("a range past the end fails", arguments: Kind.allCases)
    func rangeBeyondEnd(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let request = kind.request(
            kind.url("segment.ts", origin), byteRange: 1_048_000..<1_048_577)
        let result = try await kind.transport(origin).load(request)
        #expect(result.error?.code == .badRange)
        #expect(result.bytes.isEmpty)
    }

    @Test("a missing resource fails", arguments: Kind.allCases)
    func missing(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let result = try await kind.transport(origin).load(kind.request(kind.url("missing.ts", origin)))
        #expect(result.error?.code == kind.missingCode)
        #expect(result.error?.status == (kind.missingCode == .httpStatus ? 404 : nil))
        #expect(result.error?.url == kind.url("missing.ts", origin))
        #expect(result.response == nil)
    }

    @Test("an empty resource fails (R10)", arguments: Kind.allCases)
    func empty(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let result = try await kind.transport(origin).load(kind.request(kind.url("empty.ts", origin)))
        #expect(result.error?.code == .emptyBody)
        #expect(result.violations == [])
    }

    @Test("an oversized resource is refused, and the error names the limit (R28)", arguments: Kind.allCases)
    func tooLarge(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let request = kind.request(
            kind.url("segment.ts", origin), maximumByteCount: 4096)
        let result = try await kind.transport(origin).load(request)
        #expect(result.error?.code == .tooLarge)
        #expect(result.error?.text.contains("4096") == true)
        #expect(result.bytes.count <= 4096)
    }

    /// Starts a request and calls `act` before it has ended. On a busy machine this takes several attempts.
    private func started(
        _ transport: any ResourceTransport, _ kind: Kind, _ origin: TestOrigin, _ act: (any TransportTask) -> Void
    ) async throws -> (TransportRecorder, any TransportTask) {
        for _ in 0..<1000 {
            let recorder = TransportRecorder()
            let task = transport.start(kind.request(kind.url("segment.ts", origin))) { recorder.record($0) }
            act(task)
            // A transport in memory may already have delivered everything, so there is nothing left to stop.
            if kind.isInMemory || !recorder.result.hasEnded { return (recorder, task) }
        }
        throw Unstoppable()
    }

    private struct Unstoppable: Error {}

    @Test("nothing is delivered after a cancellation, which may be repeated", arguments: Kind.allCases)
    func cancellation(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = try await kind.transport(origin)
        let (recorder, task) = try await started(transport, kind, origin) {
            $0.cancel()
            $0.cancel()
        }
        let before = recorder.result
        // The end of a later request shows that the first one had enough time to deliver.
        #expect(await transport.load(kind.request(kind.url("segment.ts", origin))).error == nil)
        // One call may already be running and may still finish.
        #expect(recorder.result.eventCount - before.eventCount <= 1)
        // A transport in memory may deliver everything as soon as it starts.
        if !kind.isInMemory { #expect(!recorder.result.hasEnded) }
        task.cancel()
    }

    @Test("no handler is called before start() returns the task", arguments: Kind.inMemory)
    func notWithinStart(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = try await kind.transport(origin)
        let recorder = TransportRecorder()
        let thread = pthread_self()
        let isWithinStart = Mutex(false)
        for name in ["segment.ts", "missing.ts"] {
            let isStarting = Mutex(true)
            let task = transport.start(kind.request(kind.url(name, origin))) { event in
                if isStarting.withLock({ $0 }), pthread_equal(pthread_self(), thread) != 0 {
                    isWithinStart.withLock { $0 = true }
                }
                recorder.record(event)
            }
            isStarting.withLock { $0 = false }
            task.cancel()
        }
        #expect(!isWithinStart.withLock { $0 })
    }

    @Test("at most one event is delivered during a pause, and the rest after it", arguments: Kind.allCases)
    func pause(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = try await kind.transport(origin)
        let (recorder, task) = try await started(transport, kind, origin) { $0.pause() }
        let before = recorder.result
        #expect(await transport.load(kind.request(kind.url("segment.ts", origin))).error == nil)
        let after = recorder.result
        #expect(after.eventCount - before.eventCount <= 1)
        if !kind.isInMemory { #expect(!after.hasEnded) }
        task.resume()
        await recorder.wait { $0.hasEnded }
        #expect(recorder.result.error == nil)
        #expect(recorder.result.violations == [])
        #expect(recorder.result.bytes == TestOrigin.segment)
    }

    @Test("pausing and resuming in the handler works at every event", arguments: Kind.allCases)
    func pauseInHandler(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = try await kind.transport(origin)
        let recorder = TransportRecorder()
        let (events, continuation) = AsyncStream<Void>.makeStream()
        let box = TaskBox()
        box.set(
            transport.start(kind.request(kind.url("segment.ts", origin))) { event in
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

    @Test("many requests run in parallel", arguments: Kind.allCases)
    func parallel(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let transport = try await kind.transport(origin)
        let results = await withTaskGroup(of: LoadResult.self) { group in
            for _ in 0..<20 { group.addTask { await transport.load(kind.request(kind.url("segment.ts", origin))) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let expected = TestOrigin.segment
        #expect(results.count == 20)
        #expect(results.allSatisfy { $0.error == nil && $0.bytes == expected })
    }

    @Test("a request ends even if the caller released transport and task", arguments: Kind.allCases)
    func ownership(_ kind: Kind) async throws {
        let origin = try TestOrigin.shared()
        let recorder = TransportRecorder()
        _ = try await kind.transport(origin).start(kind.request(kind.url("segment.ts", origin))) {
            recorder.record($0)
        }
        await recorder.wait { $0.hasEnded }
        #expect(recorder.result.error == nil)
    }
}
