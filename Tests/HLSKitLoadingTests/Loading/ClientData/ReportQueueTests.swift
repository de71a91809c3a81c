import Testing

@testable import HLSKitLoading

@Suite("Sending events to a target")
struct ReportQueueTests {
    private static func queue(_ change: (inout ClientData.EventTarget) -> Void = { _ in }) -> ReportQueue {
        var target = ClientData.EventTarget(urlString: "https://t.example/")
        target.batchCount = 2
        target.batchDelay = .seconds(5)
        change(&target)
        return ReportQueue(target)
    }

    @Test("a batch is sent when it is full, or its first line is old enough; one at a time")
    func batches() {
        var queue = Self.queue()
        #expect(queue.add("a", at: .zero) == .wake(at: .seconds(5)))
        #expect(queue.next(at: .seconds(5)) == .post("a"))
        #expect(queue.add("b", at: .seconds(6)) == nil)
        #expect(queue.add("c", at: .seconds(6)) == nil, "one is under way")
        #expect(queue.answer(status: 204, retryAfter: nil, at: .seconds(7)) == .post("b\nc"))
        #expect(queue.answer(status: 200, retryAfter: nil, at: .seconds(8)) == nil)
        #expect(queue.answer(status: 200, retryAfter: nil, at: .seconds(8)) == nil, "nothing is under way")
    }

    @Test(
        "429, 5xx and timeouts are retried in order, after Retry-After or a growing delay",
        arguments: [(429, 30), (429, nil), (503, nil), (nil, nil)] as [(Int?, Int?)])
    func again(status: Int?, seconds: Int?) {
        var queue = Self.queue()
        _ = queue.add("a", at: .zero)
        #expect(queue.add("b", at: .zero) == .post("a\nb"))
        var now = Duration.seconds(1)
        var body = "a\nb"
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            let due = now + .seconds(seconds ?? wait)
            let retryAfter = seconds.map { Duration.seconds($0) }
            #expect(queue.answer(status: status, retryAfter: retryAfter, at: now) == .wake(at: due))
            #expect(queue.add("c", at: now) == .wake(at: due), "no new line makes it earlier")
            body += "\nc"
            #expect(queue.next(at: due) == .post(body))
            now = due
        }
        #expect(queue.answer(status: 200, retryAfter: nil, at: now) == nil)
    }

    @Test("status 410 ends reports for the session")
    func gone() {
        var queue = Self.queue()
        _ = queue.add("a", at: .zero)
        _ = queue.add("b", at: .zero)
        #expect(queue.answer(status: 410, retryAfter: nil, at: .zero) == .over)
        #expect(queue.add("c", at: .zero) == nil)
        #expect(queue.next(at: .seconds(100)) == .over)
        #expect(queue.isGone)
    }

    @Test("other refusals only end the batch", arguments: [400, 401, 403, 404, 413, 302])
    func refused(status: Int) {
        var queue = Self.queue()
        _ = queue.add("a", at: .zero)
        _ = queue.add("b", at: .zero)
        #expect(queue.answer(status: status, retryAfter: nil, at: .zero) == nil)
        #expect(queue.droppedCount == 2)
        _ = queue.add("c", at: .zero)
        #expect(queue.add("d", at: .zero) == .post("c\nd"))
    }

    @Test("at most 500 lines wait; the oldest are dropped")
    func bounded() {
        var queue = Self.queue { $0.batchCount = 100 }
        for index in 0..<100 { _ = queue.add("\(index)", at: .zero) }
        _ = queue.answer(status: nil, retryAfter: nil, at: .zero)
        for index in 100..<1000 { _ = queue.add("\(index)", at: .zero) }
        #expect(queue.droppedCount == 500)
        guard case .post(let body) = queue.next(at: .seconds(60)) else {
            Issue.record("nothing is sent")
            return
        }
        #expect(body == (500..<600).map(String.init).joined(separator: "\n"))
    }

    @Test("at the end remaining lines are sent at once, within two seconds")
    func closing() {
        var queue = Self.queue { $0.batchCount = 100 }
        _ = queue.add("a", at: .zero)
        #expect(queue.close(at: .seconds(1)) == .post("a"))
        #expect(queue.add("b", at: .seconds(1)) == nil)
        #expect(queue.answer(status: nil, retryAfter: nil, at: .seconds(1)) == .wake(at: .seconds(2)))
        #expect(queue.next(at: .seconds(2)) == .post("a"))
        #expect(queue.answer(status: nil, retryAfter: nil, at: .milliseconds(2100)) == .over, "too late for another")
        var empty = Self.queue()
        #expect(empty.close(at: .zero) == .over)
    }

    @Test("a report in flight at the end is waited for within the limit")
    func closingUnderWay() {
        var queue = Self.queue()
        _ = queue.add("a", at: .zero)
        _ = queue.add("b", at: .zero)
        #expect(queue.close(at: .seconds(1)) == .wake(at: .seconds(3)))
        #expect(queue.next(at: .seconds(3)) == .over)
    }

    @Test("numbers, starts and starvations are reported once to each receiver")
    func sequence() {
        var facts = ClientDataFacts()
        var sequence = ReportSequence()
        #expect(sequence.next(facts) == .init(number: 0))
        facts.startDelay = .seconds(1)
        facts.starvationCount = 1
        facts.state = .rebuffering
        #expect(sequence.next(facts) == .init(number: 1, isStarved: true, startDelay: .seconds(1)))
        #expect(sequence.next(facts) == .init(number: 2, isStarved: true), "it goes on")
        facts.state = .playing
        facts.starvations = [.seconds(2)]
        #expect(sequence.next(facts) == .init(number: 3, starvations: [.seconds(2)]))
        #expect(sequence.next(facts) == .init(number: 4))
        facts.starvationCount = 2
        #expect(sequence.next(facts) == .init(number: 5, isStarved: true), "one that was over before anybody was told")
        for code in ["a", "b"] { facts.errors.append(code) }
        #expect(sequence.next(facts) == .init(number: 6, errors: ["a", "b"]))
        #expect(sequence.next(facts) == .init(number: 7))
        for _ in 0..<100 { facts.errors.append("c") }
        #expect(sequence.next(facts).errors == Array(repeating: "c", count: 16), "the last ones")
    }
}
