import Testing

@testable import HLSKitLoading

@Suite("Requests per host")
struct HostQueueTests {
    private static let host = URLOrigin(scheme: "https", host: "a", port: 443)
    private static let other = URLOrigin(scheme: "https", host: "b", port: 443)

    private static func queue(_ limit: Int, entering ids: ClosedRange<Int>) -> (queue: HostQueue, begun: [Int]) {
        var queue = HostQueue(limit: limit)
        let begun = ids.filter { queue.enter($0, at: host, isSegment: true) }
        return (queue, begun)
    }

    @Test("D07: requests begin up to the limit; each one that ends starts the next")
    func limit() {
        var (queue, begun) = Self.queue(2, entering: 1...5)
        #expect(begun == [1, 2])
        #expect(queue.leave(2) == [3])
        #expect(queue.leave(2) == [], "it has left")
        #expect(queue.leave(1) == [4])
        #expect(queue.leave(3) == [5])
        #expect(queue.leave(4) == [] && queue.leave(5) == [])
        #expect(queue.enter(6, at: Self.host, isSegment: true) == true)
    }

    @Test("D07: there is room while a connection is free, including lent ones, and always with h2")
    func room() {
        var (queue, _) = Self.queue(2, entering: 1...1)
        #expect(queue.hasRoom(at: Self.host) && queue.hasRoom(at: Self.other))
        #expect(queue.enter(2, at: Self.host, isSegment: true) == true)
        #expect(!queue.hasRoom(at: Self.host))
        #expect(queue.rest(2) == [])
        #expect(!queue.hasRoom(at: Self.host))
        #expect(queue.leave(1, isMultiplexed: true) == [])
        #expect(queue.hasRoom(at: Self.host))
    }

    @Test("D07: hosts do not wait for each other")
    func hosts() {
        var (queue, _) = Self.queue(1, entering: 1...2)
        #expect(queue.enter(3, at: Self.other, isSegment: true) == true)
        #expect(queue.enter(4, at: Self.other, isSegment: true) == false)
        #expect(queue.leave(1) == [2])
    }

    @Test("D07: playlists and keys overtake waiting segments, in their own order")
    func order() {
        var (queue, _) = Self.queue(1, entering: 1...3)
        #expect(queue.enter(4, at: Self.host, isSegment: false) == false)
        #expect(queue.enter(5, at: Self.host, isSegment: false) == false)
        #expect(queue.leave(1) == [4])
        #expect(queue.leave(4) == [5])
        #expect(queue.leave(5) == [2])
    }

    @Test("D07: a cancelled waiting request is not started")
    func cancelled() {
        var (queue, _) = Self.queue(1, entering: 1...3)
        #expect(queue.leave(2) == [])
        #expect(queue.leave(1) == [3])
    }

    @Test("D07: a paused request lends its slot, and takes none when it resumes")
    func idle() {
        var (queue, _) = Self.queue(1, entering: 1...3)
        #expect(queue.rest(1) == [2])
        #expect(queue.rest(1) == [])
        queue.resume(1)
        #expect(queue.leave(2) == [], "the first one is read again")
        #expect(queue.leave(1) == [3])
    }

    @Test("D07: a request paused while it waits takes no slot when it begins, unless resumed before")
    func idleWhileWaiting() {
        var (queue, _) = Self.queue(1, entering: 1...4)
        #expect(queue.rest(2) == [] && queue.rest(3) == [])
        queue.resume(3)
        #expect(queue.leave(1) == [2, 3])
        queue.resume(2)
        #expect(queue.leave(3) == [], "it is read by now")
        #expect(queue.leave(2) == [4])
    }

    @Test("D07: a request both held and paused takes a slot when both end")
    func reasons() {
        var (queue, _) = Self.queue(1, entering: 1...3)
        #expect(queue.rest(1, .held) == [2])
        #expect(queue.rest(1) == [])
        queue.resume(1, .held)
        #expect(queue.leave(2) == [3], "nobody reads what has come")
        queue.resume(1)
        #expect(queue.enter(4, at: Self.host, isSegment: true) == false)
        #expect(queue.leave(3) == [])
        #expect(queue.leave(1) == [4])
    }

    @Test("D07: a host with a multiplexed connection has no limit")
    func multiplexed() {
        var (queue, _) = Self.queue(1, entering: 1...4)
        #expect(queue.leave(1, isMultiplexed: true) == [2, 3, 4])
        #expect(queue.enter(5, at: Self.host, isSegment: true) == true)
    }

    @Test("D07: only the latest multiplexed hosts are remembered")
    func manyHosts() {
        var queue = HostQueue(limit: 1)
        func origin(_ number: Int) -> URLOrigin { URLOrigin(scheme: "https", host: "\(number)", port: 443) }
        for number in 0..<1000 {
            #expect(queue.enter(number, at: origin(number), isSegment: true) == true)
            #expect(queue.leave(number, isMultiplexed: true) == [])
            #expect(queue.enter(-1, at: origin(0), isSegment: true) == true)
            #expect(queue.leave(-1, isMultiplexed: false) == [])
        }
        #expect(queue.idleHosts.count == 32 && queue.idleHosts.last == origin(0))
        for host in [0, 999, 998] {
            #expect(queue.enter(2000, at: origin(host), isSegment: true) == true)
            #expect(queue.enter(2001, at: origin(host), isSegment: true) == true, "it is still known")
            #expect(queue.leave(2000) == [] && queue.leave(2001) == [])
        }
        #expect(queue.enter(2000, at: origin(5), isSegment: true) == true)
        #expect(queue.enter(2001, at: origin(5), isSegment: true) == false, "it has been forgotten")
    }

    @Test("D07: a limit below one is one")
    func nothing() {
        let (_, begun) = Self.queue(0, entering: 1...2)
        #expect(begun == [1])
    }
}
