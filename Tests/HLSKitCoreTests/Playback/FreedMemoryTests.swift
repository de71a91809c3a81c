import Synchronization
import Testing

@testable import HLSKitPlayback

@Suite("Memory release of ended players")
struct FreedMemoryTests {
    private final class Heap: Sendable {
        let trims = Mutex(0)
        let work = Mutex<[@Sendable () -> Void]>([])

        var memory: FreedMemory {
            FreedMemory(
                run: { work in self.work.withLock { $0.append(work) } }, trim: { self.trims.withLock { $0 += 1 } })
        }

        func workOff() {
            for work in work.withLock({ work in
                defer { work = [] }
                return work
            }) { work() }
        }
        var count: Int { trims.withLock(\.self) }
    }

    @Test("memory is released after the last of several players, not after a single one")
    func few() {
        let heap = Heap()
        let memory = heap.memory
        memory.noteBegin()
        memory.noteEnd()
        heap.workOff()
        #expect(heap.count == 0)
        for _ in 0..<3 { memory.noteBegin() }
        memory.noteEnd()
        memory.noteEnd()
        heap.workOff()
        #expect(heap.count == 0, "another may still come, or end")
        memory.noteEnd()
        heap.workOff()
        #expect(heap.count == 1)
    }

    @Test("while many players end, memory is released in between as others continue")
    func many() {
        let heap = Heap()
        let memory = heap.memory
        for _ in 0..<200 { memory.noteBegin() }
        for _ in 0..<FreedMemory.playbackCount * 3 {
            memory.noteEnd()
            heap.workOff()
        }
        #expect(heap.count == 3)
    }

    @Test("players that end during a release cause one more check")
    func meanwhile() {
        let heap = Heap()
        let memory = heap.memory
        for _ in 0..<64 { memory.noteBegin() }
        for _ in 0..<64 { memory.noteEnd() }
        heap.workOff()
        #expect(heap.count == 2)
        memory.noteBegin()
        memory.noteBegin()
        memory.noteEnd()
        memory.noteEnd()
        heap.workOff()
        #expect(heap.count == 3)
    }
}
