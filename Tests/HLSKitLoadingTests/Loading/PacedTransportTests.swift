import HLSKitLoading
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@Suite("Requests that share a rate", .timeLimit(.minutes(10)))
struct PacedTransportTests {
    /// Returns the time that `count` parallel loads of 100 kB take over a link of 8 Mbit/s.
    private static func time(_ count: Int, bytesPerSecond: Int?) throws -> Duration {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 8_000_000))
        let base = SimulatedTransport(over: link, clock: clock) { _ in
            SimulatedResponse(body: [UInt8](repeating: 1, count: 100_000))
        }
        let transport = PacedTransport(base, clock: clock)
        transport.setLimit(bytesPerSecond: bytesPerSecond)
        try clock.run {
            await withTaskGroup(of: Int.self) { group in
                for index in 0..<count {
                    group.addTask { await transport.load("https://host/\(index)").bytes.count }
                }
                for await byteCount in group { #expect(byteCount == 100_000) }
            }
        }
        return clock.now.offset
    }

    @Test("L01: their total stays within the rate, and a rate above the link's has no effect")
    func rate() throws {
        let free = try Self.time(4, bytesPerSecond: nil)
        #expect(abs(free - .milliseconds(400)) < .milliseconds(20))
        #expect(try Self.time(4, bytesPerSecond: 10_000_000) == free)
        for count in [1, 4] {
            let time = try Self.time(count, bytesPerSecond: 50_000)
            // The first tenth of a second passes without limit, and nothing waits after the last bytes.
            #expect(time > .seconds(2 * count) - .milliseconds(700) && time < .seconds(2 * count) + .milliseconds(300))
        }
    }

    /// A transport whose requests run callbacks while they pause.
    private final class Slow: ResourceTransport {
        final class Request: TransportTask {
            private let state = Mutex((isStanding: false, whilePausing: [@Sendable () -> Void]()))
            var isStanding: Bool { state.withLock { $0.isStanding } }

            func whilePausing(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whilePausing = [body] } }

            func cancel() {}
            func pause() {
                for body in state.withLock({ $0.whilePausing }) { body() }
                state.withLock { $0 = (true, []) }
            }
            func resume() { state.withLock { $0.isStanding = false } }
        }

        private let started = Mutex<[(request: Request, handler: @Sendable (TransportEvent) -> Void)]>([])
        var requests: [Request] { started.withLock { $0.map(\.request) } }

        func start(
            _ request: TransportRequest, handler: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportTask {
            let request = Request()
            started.withLock { $0.append((request, handler)) }
            return request
        }

        func deliver(byteCount: Int) {
            started.withLock { $0.first?.handler }?(.data([UInt8](repeating: 0, count: byteCount)))
        }
    }

    @Test("L01: removing the limit while requests are held releases all of them")
    func release() {
        let base = Slow()
        let transport = PacedTransport(base, clock: VirtualClock())
        transport.setLimit(bytesPerSecond: 1000)
        let tasks = ["a", "b"].map { name in
            transport.start(TransportRequest(urlString: "https://host/\(name)", resourceClass: .segment)) { _ in }
        }
        for request in base.requests { request.whilePausing { transport.setLimit(bytesPerSecond: nil) } }
        base.deliver(byteCount: 100_000)
        #expect(base.requests.count == 2 && base.requests.allSatisfy { !$0.isStanding })
        withExtendedLifetime(tasks) {}
    }

    @Test("L01: a resume that arrives during a pause call wins")
    func order() {
        let base = Slow()
        let transport = PacedTransport(base, clock: VirtualClock())
        let task = transport.start(TransportRequest(urlString: "https://host/a", resourceClass: .segment)) { _ in }
        base.requests.first?.whilePausing { task.resume() }
        task.pause()
        #expect(base.requests.first?.isStanding == false)
        task.pause()
        #expect(base.requests.first?.isStanding == true)
        task.resume()
        #expect(base.requests.first?.isStanding == false)
    }

    @Test("L01: a held request that is cancelled ends, and a paused one stays paused")
    func control() throws {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 8_000_000))
        let base = SimulatedTransport(over: link, clock: clock) { _ in
            SimulatedResponse(body: [UInt8](repeating: 1, count: 100_000))
        }
        let transport = PacedTransport(base, clock: clock)
        transport.setLimit(bytesPerSecond: 10_000)
        let (first, second) = (TransportRecorder(), TransportRecorder())
        let request = TransportRequest(urlString: "https://host/a", resourceClass: .segment)
        let cancelled = transport.start(request) { first.record($0) }
        let paused = transport.start(request) { second.record($0) }
        clock.advance(by: .seconds(1))
        cancelled.cancel()
        paused.pause()
        clock.advance(by: .seconds(1))
        let counts = [first.result.bytes.count, second.result.bytes.count]
        #expect(counts.allSatisfy { $0 < 100_000 })
        clock.advance(by: .seconds(60))
        #expect([first.result.bytes.count, second.result.bytes.count] == counts)
        transport.setLimit(bytesPerSecond: nil)
        clock.advance(by: .seconds(10))
        #expect(second.result.bytes.count == counts[1], "its owner has paused it")
        paused.resume()
        clock.advance(by: .seconds(10))
        #expect(second.result.bytes.count == 100_000)
        #expect(!first.result.hasEnded)
        withExtendedLifetime((cancelled, paused)) {}
    }
}
