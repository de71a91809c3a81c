import HLSKitLoading
import Synchronization
import Testing

@testable import HLSKitAsset

@Suite("Transfer chains")
struct TransferChainTests {
    private final class Base: ResourceTransport {
        final class Running: TransportTask {
            let handler: @Sendable (TransportEvent) -> Void
            private let calls = Mutex<[String]>([])

            init(_ handler: @escaping @Sendable (TransportEvent) -> Void) { self.handler = handler }

            var asked: [String] { calls.withLock { $0 } }
            func cancel() { calls.withLock { $0.append("cancel") } }
            func pause() { calls.withLock { $0.append("pause") } }
            func resume() { calls.withLock { $0.append("resume") } }
        }

        private let log = Mutex<[Running]>([])
        private let isImmediate: Bool

        /// - Parameter isImmediate: Whether each transfer ends before `start` returns.
        init(isImmediate: Bool = false) { self.isImmediate = isImmediate }

        var tasks: [Running] { log.withLock { $0 } }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            let task = Running(handler)
            log.withLock { $0.append(task) }
            if isImmediate { handler(.finished(TransferMetrics())) }
            return task
        }
    }

    private let request = TransportRequest(urlString: "http://a.example/f.mp4", resourceClass: .segment)

    @Test("calls to the chain go to its current transfer")
    func calls() {
        let base = Base()
        let chain = TransferChain(over: base)
        chain.start(request) { _ in }
        chain.pause()
        base.tasks[0].handler(.finished(TransferMetrics()))
        chain.start(request) { _ in }
        chain.resume()
        #expect(base.tasks.map(\.asked) == [["pause"], ["pause", "resume"]])
        chain.endCurrent()
        chain.start(request) { _ in }
        chain.cancel()
        #expect(base.tasks.map(\.asked) == [["pause"], ["pause", "resume", "cancel"], ["cancel"]])
        #expect(chain.isCancelled)
    }

    @Test("a response without its own transfer can be paused and cancelled like a transfer")
    func answer() async {
        let chain = TransferChain(over: Base())
        let reported = Gate(0)
        chain.pause()
        chain.answer { SyntheticResponse([.finished(TransferMetrics())], on: nil) { _ in reported.signal { $0 += 1 } } }
        #expect(reported.withLock { $0 } == 0)
        chain.resume()
        #expect(await reported.wait { $0 > 0 ? $0 : nil } == 1)
        chain.cancel()
        chain.answer {
            Issue.record("made after all was cancelled")
            return SyntheticResponse([], on: nil) { _ in }
        }
    }

    @Test("a transport that finishes before start() returns can be given the next request at once")
    func immediate() {
        let base = Base(isImmediate: true)
        let chain = TransferChain(over: base)
        let count = Mutex(0)
        @Sendable func next() {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number <= 3 { chain.start(request) { _ in next() } }
        }
        next()
        #expect(base.tasks.count == 3 && count.withLock { $0 } == 4)
    }

    @Test("metrics cover all transfers of the chain")
    func metrics() {
        let base = Base()
        let chain = TransferChain(over: base)
        let sums = Mutex<[TransferMetrics]>([])
        for isFirst in [true, false] {
            chain.start(request) { event in
                switch event {
                case .finished(let metrics), .failed(_, let metrics): sums.withLock { $0.append(metrics) }
                case .response, .data: break
                }
            }
            var own = TransferMetrics()
            own.receivedByteCount = isFirst ? 10 : 5
            own.decodedByteCount = isFirst ? 20 : 7
            own.total = .seconds(isFirst ? 1 : 2)
            own.protocolName = isFirst ? "h2" : ""
            own.isLengthUnverified = !isFirst
            let error = LoadingError(code: .connectionLost, url: request.urlString, text: "as told")
            base.tasks.last?.handler(isFirst ? .finished(own) : .failed(error, own))
        }
        let reported = sums.withLock { $0 }
        #expect(reported.map(\.receivedByteCount) == [10, 15] && reported.map(\.decodedByteCount) == [20, 27])
        #expect(reported.map(\.total) == [.seconds(1), .seconds(3)] && reported.map(\.protocolName) == ["h2", "h2"])
        #expect(reported.map(\.isLengthUnverified) == [false, true])
        #expect(chain.metrics.receivedByteCount == 15)
    }
}
