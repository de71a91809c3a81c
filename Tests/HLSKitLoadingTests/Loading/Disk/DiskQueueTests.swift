import Dispatch
import Foundation
import HLSKitLoading
import Synchronization
import TestSupport
import Testing

@testable import HLSKitNetwork

@Suite("D13: Disk cache thread", .timeLimit(.minutes(10)))
struct DiskQueueTests {
    private struct Hang {
        private let end = DispatchSemaphore(value: 0)

        /// Blocks the thread of the queue, which has started the blocking job when this returns.
        init(_ queue: DiskQueue) async {
            let end = end
            let isIn = OneShot<Void>()
            queue.write(DiskQueueTests.stored("hang", 0)) {
                isIn.set(())
                end.wait()
            }
            await isIn.value()
        }

        func stop() { end.signal() }
    }

    private struct StandingClock: Clock {
        let now = FastClock(factor: 1).now
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: FastClock.Instant, tolerance: Duration?) async throws {
            let end = AsyncStream<Never> { _ in }
            for await _ in end {}
            throw CancellationError()
        }
    }

    private let clock = FastClock(factor: 1000)

    private static func stored(_ name: String, _ byteCount: Int) -> StoredResponse {
        let url = "https://a.example/\(name)"
        let fields = [TransportField(name: "Cache-Control", value: "max-age=60")]
        return StoredResponse(
            key: StoredResponse.Key(TransportRequest(urlString: url, resourceClass: .segment)),
            response: TransportResponse(status: 200, urlString: url, fields: fields), validated: 1_000_000,
            body: [UInt8](repeating: 1, count: byteCount))
    }

    @Test("a hanging disk is waited for once, up to the deadline, and not used until it recovers")
    func hanging() async {
        let queue = DiskQueue()
        #expect(await queue.look(within: .seconds(60), of: ContinuousClock()) { 1 } == 1)
        let hang = await Hang(queue)
        let looks = Mutex(0)
        #expect(await queue.look(within: .seconds(1), of: clock) { looks.withLock { $0 += 1 } } == nil)
        #expect(await queue.look(within: .seconds(1_000_000), of: ContinuousClock()) { 1 } == nil)
        hang.stop()
        await queue.perform {}
        #expect(await queue.look(within: .seconds(60), of: ContinuousClock()) { 2 } == 2)
        #expect(looks.withLock { $0 } == 0, "what nobody waits for is not looked for")
    }

    @Test("reads come before pending writes, which keep their order")
    func order() async {
        let queue = DiskQueue()
        let hang = await Hang(queue)
        let order = Mutex<[String]>([])
        for name in ["a", "b"] { queue.write(Self.stored(name, 1)) { order.withLock { $0.append(name) } } }
        async let look: Void? = queue.look(within: .seconds(60), of: ContinuousClock()) {
            order.withLock { $0.append("look") }
        }
        while queue.lookCount == 0 { await Task.yield() }
        hang.stop()
        _ = await look
        await queue.perform {}
        #expect(order.withLock { $0 } == ["look", "a", "b"])
    }

    @Test("pending writes have a limit: excess ones are dropped")
    func limit() async {
        let queue = DiskQueue(maximumByteCount: 100_000)
        let hang = await Hang(queue)
        let written = Mutex<[String]>([])
        for name in ["a", "b", "c", "d"] {
            queue.write(Self.stored(name, 40_000)) { written.withLock { $0.append(name) } }
        }
        #expect(queue.waiting(Self.stored("c", 0).key)?.body.count == 40_000)
        #expect(queue.waiting(Self.stored("d", 0).key) == nil)
        hang.stop()
        await queue.perform {}
        #expect(written.withLock { $0 } == ["a", "b", "c"])
        queue.write(Self.stored("d", 40_000)) { written.withLock { $0.append("d") } }
        await queue.perform {}
        #expect(written.withLock { $0 }.last == "d", "there is room again")
    }

    @Test("a hanging disk blocks neither size nor closing; the cache is emptied after recovery")
    func size() async throws {
        let folder = try ScratchFolder()
        let queue = DiskQueue()
        let cache = try DiskCache(folder: folder.path, maximumByteCount: 1 << 20, queue: queue) { 1 }
        cache.store(Self.stored("a", 1000), on: nil)
        #expect(await cache.currentByteCount > 1000)
        let hasty = try DiskCache(folder: folder.path, maximumByteCount: 1 << 20, queue: queue, clock: clock) { 1 }
        let hang = await Hang(queue)
        #expect(await hasty.currentByteCount == 0)
        await hasty.removeAll()
        hang.stop()
        await queue.perform {}
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { $0.hasPrefix(".") })
    }

    @Test("a cache with a hanging disk uses the network, and has the pending writes afterwards")
    func cache() async throws {
        let folder = try ScratchFolder()
        let queue = DiskQueue()
        let cache = try DiskCache(folder: folder.path, maximumByteCount: 1 << 20, queue: queue) { 1_000_000 }
        let request = TransportRequest(urlString: "https://a.example/a", resourceClass: .segment)
        let fields = [TransportField(name: "Cache-Control", value: "max-age=60")]
        let server = TableTransport([request.urlString: [1, 2, 3]], fields: fields)
        let hang = await Hang(queue)
        for _ in 0..<2 {
            var body: [UInt8] = []
            for await event in cache.transport(over: server, clock: clock).events(for: request) {
                if case .data(let bytes) = event { body += bytes }
            }
            #expect(body == [1, 2, 3])
        }
        #expect(server.requests.count == 2)
        hang.stop()
        let patient = StandingClock()
        await queue.perform(of: patient) {}
        guard case .fresh = await cache.find(request, clock: patient) else {
            Issue.record("it is not there")
            return
        }
    }
}
