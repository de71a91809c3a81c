import HLSKitEngine
import HLSKitLoading
import Testing

@testable import HLSKitPlayback

@Suite("Callers of seeks")
struct SeekQueueTests {
    @Test("G03: a seek that the player begins by itself takes no one's outcome")
    func ownSeek() async {
        let waiter = OneShot<Bool>()
        var queue = SeekQueue()
        queue.take([.seekBegan]).tell()
        queue.add(waiter)
        // The user's seek ends the player's.
        queue.take([.seekEnded(finished: false)]).tell()
        #expect(queue.isUnderWay(waiter))
        queue.take([.seekEnded(finished: true)]).tell()
        #expect(await waiter.value())
    }

    @Test("a seek of the player's own ends the user's, and is not taken for it")
    func endedByOwn() async {
        let waiter = OneShot<Bool>()
        var queue = SeekQueue()
        queue.add(waiter)
        queue.take([.seekBegan, .seekEnded(finished: false)]).tell()
        #expect(!queue.isUnderWay(waiter))
        #expect(await !waiter.value())
        queue.take([.seekEnded(finished: true)]).tell()
    }
}
