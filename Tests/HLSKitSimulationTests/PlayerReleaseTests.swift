import HLSKitCore
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@Suite("Released players", .timeLimit(.minutes(10)))
struct PlayerReleaseTests {
    private struct Weak {
        weak var object: AnyObject?
        init(_ object: AnyObject) { self.object = object }
    }

    @Test("D10: a thousand released players leave no request, no task and no memory")
    func release() throws {
        let requests = Mutex<CountingTransport?>(nil)
        // The link is slow, so that most players are released during a request.
        let queue = try VirtualQueue(["a": 4, "b": 4], over: "1000,2000,50\n") { configuration in
            let transport = CountingTransport(configuration.transport)
            requests.withLock { $0 = transport }
            configuration.transport = transport
        }
        let transport = try #require(requests.withLock { $0 })
        var released: [Weak] = []
        for round in 0..<1000 {
            let logs = [FrameLog(clock: queue.clock), FrameLog(clock: queue.clock)]
            let items = zip(["a", "b"], logs).map { queue.item($0, to: $1) }
            let player = try QueuePlayer(items: items, configuration: queue.configuration)
            let observers = (player.events(), try player.times(every: MediaTime(value: 1, timescale: 10)))
            released += (logs as [AnyObject] + items + [player]).map(Weak.init)
            player.play()
            queue.clock.advance(by: .milliseconds(round % 25 * 40))
            if round % 7 == 0 { player.advanceToNextItem() }
            withExtendedLifetime((player, observers)) {}
        }
        queue.clock.advance(by: .seconds(1))
        #expect(transport.requests.count > 3000)
        #expect(transport.openCount == 0)
        #expect(released.count { $0.object != nil } == 0)
        #expect(queue.clock.nextDeadline == nil)
    }
}
