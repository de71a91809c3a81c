import HLSKitSelection
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@testable import HLSKitDownload

@Suite("Players waiting for a download", .timeLimit(.minutes(10)))
struct DownloadDemandTests {
    private typealias Key = DownloadDemand.Key

    private let clock = VirtualClock()
    private let diary = Diary()
    private let demand = DownloadDemand()
    private static let limit = Duration.seconds(10)

    private func wait(_ name: String) {
        Task(executorPreference: clock) {
            let isStored = await demand.wait(for: Key(url: name), atMost: Self.limit, clock)
            diary.add("\(name) \(isStored ? "stored" : "not")")
        }
        clock.advance(by: .zero)
    }

    private static func segment(_ number: Int) -> DownloadDemand.Wanted {
        .segment(DownloadPlan.ItemID(lane: 0, position: SegmentPosition(epoch: 0, sequence: number)))
    }

    @Test("S01: without a run no player waits")
    func idle() {
        #expect(!demand.mayCome(Key(url: "a")))
        wait("a")
        #expect(diary.lines == ["a not"])
        _ = demand.begin()
        demand.end()
        #expect(!demand.mayCome(Key(url: "a")))
    }

    @Test("S01: players wait until a starting run knows its segments; wanted segments load first, once")
    func opening() {
        _ = demand.begin()
        wait("a")
        wait("b")
        #expect(diary.lines.isEmpty && demand.takeUrgent().isEmpty)
        demand.want(Self.segment(1), as: Key(url: "a"))
        demand.want(Self.segment(2), as: Key(url: "c"))
        demand.finishOpening()
        clock.advance(by: .zero)
        #expect(diary.lines == ["b not"])
        #expect(!demand.mayCome(Key(url: "b")) && demand.mayCome(Key(url: "c")))
        #expect(demand.takeUrgent() == [Self.segment(1)])
        #expect(demand.takeUrgent().isEmpty)
        demand.settle(Key(url: "a"))
        clock.advance(by: .zero)
        #expect(diary.lines == ["b not", "a stored"])
    }

    @Test("S01: a waiting player wakes the run and gets its segment or a failure")
    func loading() {
        let news = demand.begin()
        let woken = Mutex(0)
        Task(executorPreference: clock) { for await _ in news { woken.withLock { $0 += 1 } } }
        for (number, name) in ["a", "b", "c"].enumerated() {
            demand.want(Self.segment(number), as: Key(url: name))
        }
        demand.finishOpening()
        clock.advance(by: .zero)
        #expect(woken.withLock { $0 } == 0)
        wait("a")
        wait("a")
        wait("b")
        #expect(woken.withLock { $0 } == 3)
        #expect(Set(demand.takeUrgent()) == [Self.segment(0), Self.segment(1)])
        demand.settle(Key(url: "a"))
        demand.withdraw(Self.segment(1))
        clock.advance(by: .zero)
        #expect(diary.lines == ["a stored", "a stored", "b not"])
        #expect(!demand.mayCome(Key(url: "b")))
    }

    @Test("S01: waiting ends at the time limit and at the end of the run")
    func ends() {
        _ = demand.begin()
        for name in ["a", "b"] { demand.want(Self.segment(0), as: Key(url: name)) }
        demand.finishOpening()
        wait("a")
        clock.advance(by: Self.limit - .milliseconds(1))
        #expect(diary.lines.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(diary.lines == ["a not"])
        wait("b")
        demand.end()
        clock.advance(by: .zero)
        #expect(diary.lines == ["a not", "b not"])
    }
}
