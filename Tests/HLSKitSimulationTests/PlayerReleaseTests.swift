import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

@Suite("players that are let go", .timeLimit(.minutes(2)))
struct PlayerReleaseTests {
    /// Counts the requests that are open.
    private final class OpenRequests: Transport {
        private let base: any Transport
        private let open = Mutex<Set<Int>>([])
        private let last = Atomic(0)

        init(_ base: any Transport) { self.base = base }

        var count: Int { open.withLock(\.count) }
        var total: Int { last.load(ordering: .relaxed) }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            let id = last.add(1, ordering: .relaxed).newValue
            open.withLock { _ = $0.insert(id) }
            let end: @Sendable () -> Void = { [self] in open.withLock { _ = $0.remove(id) } }
            let task = base.start(request) { event in
                switch event {
                case .finished, .failed: end()
                case .response, .data: break
                }
                handler(event)
            }
            return Counted(task, end: end)
        }

        private final class Counted: TransportTask {
            let base: any TransportTask
            let end: @Sendable () -> Void
            init(_ base: any TransportTask, end: @escaping @Sendable () -> Void) {
                self.base = base
                self.end = end
            }
            func cancel() {
                end()
                base.cancel()
            }
            func pause() { base.pause() }
            func resume() { base.resume() }
        }
    }

    /// What is to be gone.
    private struct Weak {
        weak var object: AnyObject?
        init(_ object: AnyObject) { self.object = object }
    }

    @Test("a thousand players that are let go leave no request, no task and nothing in memory")
    func release() throws {
        let requests = Mutex<OpenRequests?>(nil)
        // Slow, so that most are let go in the middle of a request.
        let queue = try VirtualQueue(["a": 4, "b": 4], over: "1000,900,100\n") { configuration in
            let transport = OpenRequests(configuration.transport)
            requests.withLock { $0 = transport }
            configuration.transport = transport
        }
        let transport = try #require(requests.withLock { $0 })
        var released: [Weak] = []
        for round in 0..<1000 {
            let logs = [PictureLog(clock: queue.clock), PictureLog(clock: queue.clock)]
            let items = zip(["a", "b"], logs).map { queue.item($0, to: $1) }
            let player = QueuePlayer(items: items, configuration: queue.configuration)
            let observers = (player.events(), try player.times(every: MediaTime(value: 1, timescale: 10)))
            released += (logs as [AnyObject] + items + [player]).map(Weak.init)
            player.play()
            queue.clock.advance(by: .milliseconds(round % 50 * 100))
            if round % 7 == 0 { player.advanceToNextItem() }
            withExtendedLifetime((player, observers)) {}
        }
        queue.clock.advance(by: .seconds(1))
        #expect(transport.total > 3000)
        #expect(transport.count == 0)
        #expect(released.count { $0.object != nil } == 0)
        // Nobody sleeps any more: there is no task.
        #expect(queue.clock.nextDeadline == nil)
    }
}
