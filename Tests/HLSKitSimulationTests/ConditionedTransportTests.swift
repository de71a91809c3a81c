import HLSKitCore
import Testing

@testable import HLSKitSimulation

@Suite("Conditioned transport", .timeLimit(.minutes(10)))
struct ConditionedTransportTests {
    let clock = ManualClock()
    let base = FakeTransport()

    private func transport(_ csv: String) throws -> ConditionedTransport {
        ConditionedTransport(base: base, trace: try NetworkTrace(parsing: csv.utf8), clock: clock, taskExecutor: clock)
    }

    private func start(_ transport: ConditionedTransport, _ url: String = "http://a/1") -> (
        task: any TransportTask, record: EventRecord
    ) {
        let record = EventRecord(clock: clock)
        let request = TransportRequest(urlString: url, resourceClass: .segment)
        return (transport.start(request) { record.record($0) }, record)
    }

    // 800 kbit/s are 100 bytes per ms. With a latency of 50 ms and 10 000 bytes, the response comes at 50 ms, and the
    // bytes arrive from 50 to 150 ms.
    @Test("no byte arrives before the latency, then bytes arrive at the bandwidth")
    func shape() throws {
        let transfer = start(try transport("1000,800,50"))
        base.tasks[0].answer(byteCount: 10_000)
        clock.run { transfer.record.hasEnded }

        let entries = transfer.record.entries
        #expect(entries.first == .init(time: 50, name: "response"))
        #expect(entries.last == .init(time: 150, name: "finished"))
        #expect(transfer.record.bytes == [UInt8](repeating: 7, count: 10_000))
        var received = 0
        for entry in entries where entry.name == "data" {
            received += entry.byteCount
            #expect(abs(entry.time - (50 + Double(received) / 100)) < 0.01)
        }
        #expect(transfer.record.metrics?.firstByte == .milliseconds(50))
        #expect(transfer.record.metrics?.total == .milliseconds(150))
    }

    @Test("an outage in the trace holds bytes back until it ends")
    func outage() throws {
        let transfer = start(try transport("100,400,0\n1000,0,0\n"))
        base.tasks[0].answer(byteCount: 6000)
        clock.run { transfer.record.hasEnded }
        #expect(abs(clock.milliseconds - 1120) < 0.01)
    }

    @Test("two requests get half of the link each")
    func fairness() throws {
        let transport = try transport("1000,8000,0")
        let first = start(transport)
        let second = start(transport)
        // 1 MB at 1000 bytes per ms, for two requests that begin together.
        base.tasks[0].answer(byteCount: 500_000)
        base.tasks[1].answer(byteCount: 500_000)
        clock.run { first.record.byteCount + second.record.byteCount >= 500_000 }
        #expect(abs(first.record.byteCount - second.record.byteCount) <= 5000)
        clock.run { first.record.hasEnded && second.record.hasEnded }
        #expect(abs(clock.milliseconds - 1000) < 0.01)
    }

    @Test("a request that is alone again has the whole link")
    func handover() throws {
        let transport = try transport("1000,8000,0")
        let short = start(transport)
        let long = start(transport)
        base.tasks[0].answer(byteCount: 100_000)
        base.tasks[1].answer(byteCount: 300_000)
        clock.run { short.record.hasEnded }
        #expect(abs(clock.milliseconds - 195) <= 5)
        clock.run { long.record.hasEnded }
        #expect(abs(clock.milliseconds - 400) < 0.01)
    }

    @Test("the other transport is paused while enough bytes wait, and then resumed")
    func backPressure() throws {
        let transfer = start(try transport("1000,80000,0"))
        let source = base.tasks[0]
        source.send(.response(TransportResponse(status: 200, urlString: "http://a/1")))
        var sent = 0
        var mostWaiting = 0
        while sent < 4 << 20 {
            if !source.isPaused {
                source.send(.data([UInt8](repeating: 1, count: 16 << 10)))
                sent += 16 << 10
                mostWaiting = max(mostWaiting, sent - transfer.record.byteCount)
            } else {
                try #require(clock.runJobs() || clock.advanceToNextSleeper())
            }
        }
        source.send(.finished(TransferMetrics()))
        clock.run { transfer.record.hasEnded }
        #expect(transfer.record.byteCount == 4 << 20)
        #expect(mostWaiting <= ConditionedTransport.highWaterMark + 65_536)
        #expect(source.calls.pause > 0 && source.calls.pause == source.calls.resume)
    }

    @Test("after a cancel nothing is reported any more, and the other request is cancelled")
    func cancellation() throws {
        let transport = try transport("1000,800,0")
        let cancelled = start(transport)
        let other = start(transport)
        base.tasks[0].answer(byteCount: 100_000)
        clock.run { cancelled.record.byteCount > 5000 }
        cancelled.task.cancel()
        cancelled.task.cancel()
        let reported = cancelled.record.entries.count
        let time = clock.milliseconds
        base.tasks[1].answer(byteCount: 1000)
        clock.run { other.record.hasEnded }
        #expect(cancelled.record.entries.count <= reported + 1)
        #expect(!cancelled.record.hasEnded)
        #expect(base.tasks[0].calls.cancel >= 1)
        #expect(clock.milliseconds <= time + 40)
    }

    @Test("a paused request leaves the link to the others and continues when resumed")
    func pause() throws {
        let transport = try transport("1000,8000,0")
        let paused = start(transport)
        let other = start(transport)
        paused.task.pause()
        base.tasks[0].answer(byteCount: 100_000)
        base.tasks[1].answer(byteCount: 200_000)
        clock.run { other.record.hasEnded }
        #expect(abs(clock.milliseconds - 200) < 0.01)
        #expect(paused.record.entries.isEmpty)
        paused.task.resume()
        clock.run { paused.record.hasEnded }
        #expect(abs(clock.milliseconds - 300) < 0.01)
    }

    @Test("a failure takes a round trip, too")
    func failure() throws {
        let transfer = start(try transport("1000,800,70"))
        base.tasks[0].send(
            .failed(
                LoadingError(code: .httpStatus, url: "http://a/1", status: 404, text: "HTTP 404"), TransferMetrics()))
        clock.run { transfer.record.hasEnded }
        #expect(transfer.record.entries == [.init(time: 70, name: "failed")])
        #expect(transfer.record.metrics?.total == .milliseconds(70))
    }
}

@Suite("Deadlines over a conditioned link", .timeLimit(.minutes(10)))
struct ConditionedDeadlineTests {
    struct Case: CustomTestStringConvertible {
        var name: String
        var csv: String
        var byteCount: Int
        var failsAt: Double?
        var testDescription: String { name }
    }

    @Test(
        "dead air ends a request as on a real link",
        arguments: [
            Case(name: "no first byte for 8 s", csv: "100000,800,9000", byteCount: 1000, failsAt: 8000),
            Case(name: "a first byte after 7 s", csv: "100000,800,7000", byteCount: 1000, failsAt: nil),
            // 10 ms of latency, then 100 bytes per ms up to 1000 ms.
            Case(name: "dead air of 7 s", csv: "1000,800,10\n7000,0,10\n", byteCount: 200_000, failsAt: 7000),
            Case(name: "dead air of 5 s", csv: "1000,800,10\n5000,0,10\n", byteCount: 190_000, failsAt: nil),
            // 1000 bytes per second are enough. Fewer are not.
            Case(name: "a slow link", csv: "1000,12,0", byteCount: 30_000, failsAt: nil),
            // The second packet of 1460 bytes would arrive after 7.786 s. The first one pays for only 5.84 s.
            Case(name: "a trickle", csv: "1000,1.5,0", byteCount: 30_000, failsAt: 6000),
        ])
    func deadAir(example: Case) throws {
        let clock = ManualClock()
        let base = FakeTransport()
        let transport = ConditionedTransport(
            base: base, trace: try NetworkTrace(parsing: example.csv.utf8), clock: clock, taskExecutor: clock)
        let record = EventRecord(clock: clock)
        _ = transport.start(TransportRequest(urlString: "http://a/1", resourceClass: .segment)) { record.record($0) }
        base.tasks[0].answer(byteCount: example.byteCount)
        clock.run { record.hasEnded }
        #expect((record.entries.last?.name == "failed") == (example.failsAt != nil))
        if let failsAt = example.failsAt {
            #expect(abs(clock.milliseconds - failsAt) < 15)
            #expect(base.tasks[0].calls.cancel == 1)
        }
    }

    @Test("a total limit applies to the shaped transfer; pauses do not count")
    func totalAndPause() {
        var deadlines = TransferDeadlines(TransportTimeouts(total: .seconds(10)), startedAt: 100)
        #expect(deadlines.next == 8100)
        deadlines.receive(byteCount: 0, at: 500)
        #expect(deadlines.next == 6500)
        deadlines.setPaused(true, at: 1000)
        #expect(deadlines.next == nil)
        deadlines.setPaused(false, at: 61_000)
        #expect(deadlines.next == 66_500)
        deadlines.receive(byteCount: 1_000_000, at: 66_000)
        #expect(deadlines.next == 70_100)
        #expect(deadlines.reason.contains("not complete"))
    }
}

@Suite("Shared link")
struct SharedLinkTests {
    @Test("a late caller loses no bandwidth: packets are timed by the link, not by the clock")
    func noDrift() throws {
        var link = SharedLink(trace: try NetworkTrace(parsing: "1000,800,20".utf8))
        let flow = link.open(at: 0)
        link.enqueue(.data([UInt8](repeating: 0, count: 100_000)), to: flow, at: 0)
        var last = 0.0
        var received = 0
        while let delivery = link.nextDelivery() {
            #expect(delivery.time > last)
            last = delivery.time
            if case .data(let bytes)? = link.take(delivery) { received += bytes.count }
        }
        #expect(received == 100_000)
        #expect(abs(last - 1020) < 1e-6)
    }

    @Test("three flows take turns")
    func turns() throws {
        var link = SharedLink(trace: try NetworkTrace(parsing: "1000,8000,0".utf8))
        let flows = (0..<3).map { _ in link.open(at: 0) }
        for flow in flows { link.enqueue(.data([UInt8](repeating: 0, count: 20_000)), to: flow, at: 0) }
        var order: [Int] = []
        while let delivery = link.nextDelivery() {
            order.append(flows.firstIndex(of: delivery.flow) ?? -1)
            _ = link.take(delivery)
        }
        #expect(order == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    }

    @Test("a packet in flight is not overtaken by a later flow")
    func noOvertaking() throws {
        var link = SharedLink(trace: try NetworkTrace(parsing: "1000,8000,0".utf8))
        let first = link.open(at: 0)
        link.enqueue(.data([UInt8](repeating: 0, count: 5000)), to: first, at: 0)
        let second = link.open(at: 1)
        link.enqueue(.data([UInt8](repeating: 0, count: 10)), to: second, at: 1)
        let delivery = link.nextDelivery()
        #expect(delivery?.flow == first)
        #expect(delivery?.time == 5)
    }

    @Test("a slower origin is not slowed down further")
    func slowOrigin() throws {
        var link = SharedLink(trace: try NetworkTrace(parsing: "1000,80000,10".utf8))
        let flow = link.open(at: 0)
        for time in [0.0, 500, 1000] {
            link.enqueue(.data([UInt8](repeating: 0, count: 1000)), to: flow, at: time)
            let delivery = try #require(link.nextDelivery())
            #expect(abs(delivery.time - (max(10, time) + 0.1)) < 1e-9)
            _ = link.take(delivery)
        }
    }

    @Test("a link without bandwidth delivers headers and no bytes")
    func deadLink() throws {
        var link = SharedLink(trace: try NetworkTrace(parsing: "1000,0,30".utf8))
        let flow = link.open(at: 0)
        link.enqueue(.response(TransportResponse(status: 200, urlString: "")), to: flow, at: 0)
        link.enqueue(.data([1]), to: flow, at: 0)
        let delivery = try #require(link.nextDelivery())
        #expect(delivery.time == 30)
        _ = link.take(delivery)
        #expect(link.nextDelivery() == nil)
    }
}
