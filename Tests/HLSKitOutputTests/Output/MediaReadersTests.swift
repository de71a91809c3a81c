import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitOutput

@Suite("Readers of an output's sequence", .timeLimit(.minutes(10)))
struct MediaReadersTests {
    private let clock = VirtualClock()
    private let diary = Diary()

    private func read(_ readers: MediaReaders<Int>, every pause: Duration = .zero, as name: String = "") -> Task<
        Void, Never
    > {
        let stream = readers.subscribe { false }
        return Task(executorPreference: clock) {
            for await element in stream {
                diary.add("\(name)\(element)")
                if pause > .zero { try? await clock.sleep(for: pause) }
            }
            diary.add("\(name).")
        }
    }

    private func send(_ numbers: Range<Int>, to readers: MediaReaders<Int>, generation: Int = 0) -> Task<Void, Never> {
        Task(executorPreference: clock) {
            for number in numbers {
                await readers.waitForRoom(generation: generation)
                readers.send(number)
            }
            diary.add("sent")
        }
    }

    @Test("with a waiting sender no reader loses anything, however slow it is", arguments: [2, 4, 64])
    func waiting(limit: Int) throws {
        let readers = MediaReaders<Int>(limit: limit)
        let tasks = [read(readers, every: .milliseconds(40), as: "a"), read(readers, every: .milliseconds(3), as: "b")]
        let sender = send(0..<100, to: readers)
        clock.advance(by: .seconds(1))
        #expect(!diary.lines.contains("sent"))
        clock.advance(by: .seconds(9))
        try clock.run { await sender.value }
        readers.finish()
        try clock.run { for task in tasks { await task.value } }
        for name in ["a", "b"] {
            #expect(diary.lines.filter { $0.hasPrefix(name) } == (0..<100).map { "\(name)\($0)" } + ["\(name)."])
        }
        #expect(readers.lostCount == 0)
    }

    @Test("without a waiting sender a slow reader loses the oldest elements, which are counted")
    func losing() throws {
        let readers = MediaReaders<Int>(limit: 4)
        let task = read(readers)
        for number in 0..<10 { readers.send(number) }
        #expect(readers.lostCount == 6)
        clock.advance(by: .seconds(1))
        #expect(diary.lines == ["6", "7", "8", "9"])
        readers.finish()
        try clock.run { await task.value }
    }

    @Test("a waiting sender resumes when the reader leaves, time jumps or the media ends", arguments: 0..<4)
    func releasing(way: Int) throws {
        let readers = MediaReaders<Int>(limit: 2)
        let task = read(readers, every: .seconds(1_000_000))
        let sender = send(0..<20, to: readers)
        clock.advance(by: .seconds(5))
        #expect(!diary.lines.contains("sent"))
        switch way {
        case 0: task.cancel()
        case 1: readers.flush(generation: 1)
        case 2: readers.finish()
        default: break
        }
        clock.advance(by: .seconds(5))
        #expect(diary.lines.contains("sent") == (way < 3))
        if way == 3 {
            task.cancel()
            try clock.run { await sender.value }
        }
    }

    @Test("a released unread sequence does not block the sender")
    func release() throws {
        let readers = MediaReaders<Int>(limit: 2)
        var stream: AsyncStream<Int>? = readers.subscribe { false }
        #expect(readers.hasReaders)
        let sender = send(0..<5, to: readers)
        clock.advance(by: .seconds(1))
        #expect(!diary.lines.contains("sent"))
        _ = stream
        stream = nil
        try clock.run { await sender.value }
        #expect(!readers.hasReaders)
    }

    @Test("unread elements are dropped by a jump")
    func jump() throws {
        let readers = MediaReaders<Int>(limit: 4)
        let stream = readers.subscribe { false }
        readers.send(1)
        readers.flush(generation: 1)
        readers.send(2)
        readers.finish()
        try clock.run {
            for await element in stream { diary.add("\(element)") }
        }
        #expect(diary.lines == ["2"])
        let sender = send(0..<3, to: readers)
        try clock.run { await sender.value }
    }
}
