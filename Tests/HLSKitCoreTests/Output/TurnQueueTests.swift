import Synchronization
import Testing

@testable import HLSKitOutput

@Suite("several threads and one who writes")
struct TurnQueueTests {
    @Test("whoever comes first writes for all until there is nothing")
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

    @Test("where writing is slower, those who bring have to wait")
    func bound() {
        let queue = TurnQueue<Int>(maximumCount: 3)
        #expect([queue.add(1), queue.add(2), queue.add(3), queue.add(4)] == [true, false, true, true])
        #expect(queue.takeAll() == [1, 2, 3, 4])
    }

    @Test("after whoever wrote has failed, the next writes")
    func failure() {
        let queue = TurnQueue<Int>(maximumCount: 10)
        #expect(queue.add(1))
        #expect(queue.takeAll() == [1])
        #expect(!queue.add(2))
        queue.release()
        #expect(queue.add(3))
        #expect(queue.takeAll() == [2, 3])
    }

    /// What came of all threads.
    private final class Written: Sendable {
        let elements = Mutex<[(thread: Int, number: Int)]>([])
    }

    @Test("nothing is lost and all that one thread brings stays in its order", .timeLimit(.minutes(10)))
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
