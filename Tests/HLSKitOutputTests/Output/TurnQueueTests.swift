import Synchronization
import Testing

@testable import HLSKitOutput

@Suite("Several producers and one writer")
struct TurnQueueTests {
    @Test("the first thread writes for all until the queue is empty")
    func turn() {
        let queue = TurnQueue<Int>(maximumCount: 10)
        #expect(queue.add(1))
        #expect(!queue.add(2))
        #expect(queue.takeAll() == [1, 2])
        #expect(!queue.add(3))
        #expect(queue.takeAll() == [3])
        #expect(queue.takeAll().isEmpty)
        #expect(queue.add(4))
    }

    @Test("producers wait if writing is slower")
    func bound() {
        let queue = TurnQueue<Int>(maximumCount: 3)
        #expect([queue.add(1), queue.add(2), queue.add(3), queue.add(4)] == [true, false, true, true])
        #expect(queue.takeAll() == [1, 2, 3, 4])
    }

    @Test("after a failed writer, the next thread writes")
    func failure() {
        let queue = TurnQueue<Int>(maximumCount: 10)
        #expect(queue.add(1))
        #expect(queue.takeAll() == [1])
        #expect(!queue.add(2))
        queue.release()
        #expect(queue.add(3))
        #expect(queue.takeAll() == [2, 3])
    }

    private final class Written: Sendable {
        let elements = Mutex<[(thread: Int, number: Int)]>([])
    }

    @Test("nothing is lost, and each thread's elements keep their order", .timeLimit(.minutes(10)))
    func threads() async {
        let queue = TurnQueue<(thread: Int, number: Int)>(maximumCount: 16)
        let written = Written()
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<5000 where queue.add((thread, number)) {
                        written.elements.withLock { written in
                            while true {
                                let elements = queue.takeAll()
                                if elements.isEmpty { break }
                                written += elements
                            }
                        }
                    }
                }
            }
        }
        let all = written.elements.withLock(\.self)
        #expect(all.count == 20_000)
        for thread in 0..<4 {
            #expect(all.filter { $0.thread == thread }.map(\.number) == Array(0..<5000))
        }
    }
}
