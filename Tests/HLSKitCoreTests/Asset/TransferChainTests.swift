import Synchronization
import Testing

@testable import HLSKitCore

@Suite("transfers that stand for one")
struct TransferChainTests {
    /// Notes what is asked of its tasks; a test sends the events.
    private final class Base: Transport {
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

        /// - Parameter isImmediate: each transfer has come to its end before `start` returns.
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

    private enum Step {
        case start, finish, pause, resume, cancel, endCurrent
    }

    @Test(
        "what is asked of the chain is asked of the transfer that is under way",
        arguments: [
            ("nothing", [Step.start], [[]]),
            ("paused while under way", [.start, .pause, .resume], [["pause", "resume"]]),
            ("paused before", [.pause, .start, .resume], [["pause", "resume"]]),
            ("paused between two", [.start, .finish, .pause, .start], [[], ["pause"]]),
            ("a pause holds for the next", [.start, .pause, .finish, .start], [["pause"], ["pause"]]),
            ("cancelled", [.start, .cancel, .cancel], [["cancel"]]),
            ("what is over is left alone", [.start, .finish, .cancel], [[]]),
            ("cancelled before", [.cancel, .start], []),
            ("nothing follows once cancelled", [.start, .cancel, .finish, .start], [["cancel"]]),
            (
                "one that is ended is followed by another", [.start, .endCurrent, .start, .pause],
                [["cancel"], ["pause"]]
            ),
        ] as [(String, [Step], [[String]])])
    private func calls(_ name: String, _ steps: [Step], _ asked: [[String]]) {
        let base = Base()
        let chain = TransferChain(over: base)
        for step in steps {
            switch step {
            case .start: chain.start(request) { _ in }
            case .finish: base.tasks.last?.handler(.finished(TransferMetrics()))
            case .pause: chain.pause()
            case .resume: chain.resume()
            case .cancel: chain.cancel()
            case .endCurrent: chain.endCurrent()
            }
        }
        #expect(base.tasks.map(\.asked) == asked, "\(name)")
        #expect(chain.isCancelled == steps.contains { if case .cancel = $0 { true } else { false } })
    }

    @Test("a transport that is done before `start` returns may be asked for the next at once")
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

    @Test("metrics are those of all transfers together")
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
        let told = sums.withLock { $0 }
        #expect(told.map(\.receivedByteCount) == [10, 15] && told.map(\.decodedByteCount) == [20, 27])
        #expect(told.map(\.total) == [.seconds(1), .seconds(3)] && told.map(\.protocolName) == ["h2", "h2"])
        #expect(told.map(\.isLengthUnverified) == [false, true])
        #expect(chain.metrics.receivedByteCount == 15)
    }
}
