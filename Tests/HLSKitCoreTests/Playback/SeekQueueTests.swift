import HLSKitEngine
import HLSKitLoading
import Testing

@testable import HLSKitPlayback

@Suite("Callers of seeks")
struct SeekQueueTests {
    @Test("G03: a seek started by the player does not take a caller's outcome")
    func ownSeek() async {
        let waiter = OneShot<Bool>()
        var queue = SeekQueue()
        queue.take([.seekBegan]).report()
        queue.add(waiter)
        queue.take([.seekEnded(finished: false)]).report()
        #expect(queue.isUnderWay(waiter))
        queue.take([.seekEnded(finished: true)]).report()
        #expect(await waiter.value())
    }

    @Test("a seek started by the player ends the user's seek and is not mistaken for it")
    func endedByOwn() async {
        let waiter = OneShot<Bool>()
        var queue = SeekQueue()
        queue.add(waiter)
        queue.take([.seekBegan, .seekEnded(finished: false)]).report()
        #expect(!queue.isUnderWay(waiter))
        #expect(await !waiter.value())
        queue.take([.seekEnded(finished: true)]).report()
    }
}
