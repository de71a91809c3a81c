import HLSKitLoading
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Broadcast", .timeLimit(.minutes(10)))
struct BroadcastTests {
    private let clock = VirtualClock()
    private let diary = Diary()

    @discardableResult
    private func read(_ stream: AsyncStream<Int>, as name: String) -> Task<Void, Never> {
        Task(executorPreference: clock) {
            for await element in stream { diary.add("\(name)\(element)") }
            diary.add("\(name).")
        }
    }

    @Test("every reader gets everything since its subscription in order, in the order of readers")
    func readers() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        #expect(!broadcast.hasReaders)
        broadcast.send(0)
        for name in ["a", "b", "c"] { read(broadcast.subscribe(), as: name) }
        #expect(broadcast.hasReaders)
        clock.advance(by: .zero)
        broadcast.send(1)
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1", "b1", "c1"])
        read(broadcast.subscribe(), as: "d")
        for number in 2...3 { broadcast.send(number) }
        clock.advance(by: .zero)
        for name in ["a", "b", "c", "d"] {
            let own = diary.lines.filter { $0.hasPrefix(name) }
            #expect(own == (name == "d" ? [] : ["\(name)1"]) + ["\(name)2", "\(name)3"])
        }
    }

    struct BufferingCase: Sendable, CustomTestStringConvertible {
        var common: AsyncStream<Int>.Continuation.BufferingPolicy = .unbounded
        var own: AsyncStream<Int>.Continuation.BufferingPolicy?
        var kept: [Int]
        var testDescription: String { "\(common), \(own.map { "\($0)" } ?? "as all"): \(kept)" }
    }

    static let bufferings = [
        BufferingCase(kept: [1, 2, 3, 4, 5]),
        BufferingCase(common: .bufferingNewest(2), kept: [4, 5]),
        BufferingCase(common: .bufferingOldest(2), kept: [1, 2]),
        BufferingCase(own: .bufferingNewest(1), kept: [5]),
        BufferingCase(common: .bufferingNewest(2), own: .unbounded, kept: [1, 2, 3, 4, 5]),
    ]

    @Test("a slow reader keeps the elements that its buffer holds", arguments: bufferings)
    func bounds(_ row: BufferingCase) {
        let broadcast = HLSKitLoading.Broadcast<Int>(row.common)
        let stream = broadcast.subscribe(row.own)
        for number in 1...5 { broadcast.send(number) }
        broadcast.finish()
        read(stream, as: "")
        clock.advance(by: .zero)
        #expect(diary.lines == row.kept.map(String.init) + ["."])
    }

    /// Returns a stream in which lost numbers are replaced by their negative count.
    private static func marked(_ broadcast: HLSKitLoading.Broadcast<Int>, newest limit: Int = 2) -> AsyncStream<Int> {
        broadcast.subscribe(newest: limit) { count, _ in -count }
    }

    @Test("a slow reader gets a mark for lost elements, and the others get everything")
    func marks() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        let stream = Self.marked(broadcast)
        read(broadcast.subscribe(), as: "b")
        for number in 1...5 { broadcast.send(number) }
        read(stream, as: "a")
        clock.advance(by: .zero)
        broadcast.send(6)
        broadcast.finish()
        clock.advance(by: .zero)
        #expect(diary.lines.filter { $0.hasPrefix("a") } == ["a-3", "a4", "a5", "a6", "a."])
        #expect(diary.lines.filter { $0.hasPrefix("b") } == (1...6).map { "b\($0)" } + ["b."])
    }

    @Test("a marked reader is removed with its task or sequence, and gets nothing after closing")
    func markedEnds() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        let task = read(Self.marked(broadcast), as: "a")
        clock.advance(by: .zero)
        #expect(broadcast.hasReaders)
        task.cancel()
        clock.advance(by: .zero)
        #expect(diary.lines == ["a."])
        #expect(!broadcast.hasReaders)
        _ = Self.marked(broadcast)
        #expect(!broadcast.hasReaders)
        broadcast.close()
        read(Self.marked(broadcast), as: "b")
        clock.advance(by: .zero)
        #expect(diary.lines == ["a.", "b."])
    }

    @Test("finishing ends current readers; later ones can read")
    func finish() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        read(broadcast.subscribe(), as: "a")
        clock.advance(by: .zero)
        broadcast.send(1)
        broadcast.finish()
        #expect(!broadcast.hasReaders)
        read(broadcast.subscribe(), as: "b")
        broadcast.send(2)
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1", "a.", "b2"])
    }

    @Test("closing ends current readers, and later ones get nothing")
    func close() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        read(broadcast.subscribe(), as: "a")
        broadcast.close()
        read(broadcast.subscribe(), as: "b")
        broadcast.send(1)
        clock.advance(by: .zero)
        #expect(diary.lines == ["a.", "b."])
        #expect(!broadcast.hasReaders)
    }

    @Test("a subscription after the end gets nothing, and one during the end is ended")
    func over() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        read(broadcast.subscribe(unless: { true }), as: "a")
        let late = broadcast.subscribe(unless: {
            broadcast.finish()
            return false
        })
        read(late, as: "b")
        broadcast.send(1)
        clock.advance(by: .zero)
        #expect(diary.lines == ["a.", "b."])
        #expect(!broadcast.hasReaders)
    }

    @Test("a reader is removed when its task is cancelled or its sequence dropped")
    func cancelled() {
        let broadcast = HLSKitLoading.Broadcast<Int>()
        let task = read(broadcast.subscribe(), as: "a")
        clock.advance(by: .zero)
        task.cancel()
        clock.advance(by: .zero)
        #expect(diary.lines == ["a."])
        #expect(!broadcast.hasReaders)
        _ = broadcast.subscribe()
        #expect(!broadcast.hasReaders)
    }

    @Test("sequences end with the broadcast")
    func gone() {
        var broadcast: HLSKitLoading.Broadcast<Int>? = .init()
        if let stream = broadcast?.subscribe() { read(stream, as: "a") }
        clock.advance(by: .zero)
        broadcast = nil
        clock.advance(by: .zero)
        #expect(diary.lines == ["a."])
    }
}
