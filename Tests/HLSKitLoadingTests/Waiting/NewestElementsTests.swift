import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSKitLoading

@Suite("Unread elements of a reader", .timeLimit(.minutes(10)))
struct NewestElementsTests {
    private let clock = VirtualClock()
    private let diary = Diary()

    private static func elements(limit: Int) -> NewestElements<Int> {
        NewestElements(limit: limit) { count, _ in -count }
    }

    private func read(_ elements: NewestElements<Int>, as name: String = "") -> Task<Void, Never> {
        Task(executorPreference: clock) {
            while let element = await elements.next() { diary.add("\(name)\(element)") }
            diary.add("\(name).")
        }
    }

    private final class Token: Sendable {}

    @Test("a read element is released even if no other follows")
    func release() throws {
        let elements = NewestElements<Token>(limit: 10) { _, last in last }
        weak var token: Token?
        do {
            let made = Token()
            token = made
            elements.append(made)
        }
        #expect(token != nil)
        try clock.run { _ = await elements.next() }
        #expect(token == nil)
    }

    @Test(
        "the newest elements are kept, after one with the number of lost ones",
        arguments: [
            (limit: 5, count: 5, kept: [1, 2, 3, 4, 5]), (limit: 5, count: 8, kept: [-3, 4, 5, 6, 7, 8]),
            (limit: 1, count: 3, kept: [-2, 3]), (limit: 0, count: 3, kept: [-2, 3]),
            (limit: .max, count: 100, kept: Array(1...100)),
            (limit: 40, count: 1_000, kept: [-960] + Array(961...1_000)),
        ])
    func bounds(limit: Int, count: Int, kept: [Int]) {
        let elements = Self.elements(limit: limit)
        for number in 1...count { elements.append(number) }
        elements.finish()
        elements.append(0)
        _ = read(elements)
        clock.advance(by: .zero)
        #expect(diary.lines == kept.map(String.init) + ["."])
    }

    @Test("each gap keeps its position, and a reader that keeps up loses nothing")
    func gaps() async {
        let elements = Self.elements(limit: 3)
        for number in 1...5 { elements.append(number) }
        var read: [Int?] = []
        for _ in 0..<3 { read.append(await elements.next()) }
        for number in 6...9 { elements.append(number) }
        for _ in 0..<4 { read.append(await elements.next()) }
        for number in 10...200 {
            elements.append(number)
            #expect(await elements.next() == number)
        }
        #expect(read == [-2, 3, 4, -2, 7, 8, 9])
    }

    @Test("waiting readers get the next element, or the end, in waiting order")
    func waiting() {
        let elements = Self.elements(limit: 2)
        let readers = ["a", "b"].map { read(elements, as: $0) }
        clock.advance(by: .zero)
        elements.append(1)
        elements.append(2)
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1", "b2"])
        readers[0].cancel()
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1", "b2", "a."])
        elements.append(3)
        elements.finish()
        clock.advance(by: .zero)
        #expect(diary.lines == ["a1", "b2", "a.", "b3", "b."])
    }
}
