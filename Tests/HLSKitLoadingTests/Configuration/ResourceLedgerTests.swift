import Testing

@testable import HLSKitLoading

@Suite("Members of a budget")
struct ResourceLedgerTests {
    private typealias Entry = ResourceLedger.Entry

    private func ledger(
        _ entries: [ResourceLedger.Entry], byteCount: Int? = nil, duration: Duration? = nil
    ) -> ResourceLedger {
        var ledger = ResourceLedger(byteCount: byteCount, duration: duration)
        for (index, entry) in entries.enumerated() { _ = ledger.note(entry, of: index) }
        return ledger
    }

    @Test("D10: shares are equal, and change for all when a member joins or leaves")
    func parts() {
        var ledger = ledger([Entry(), Entry(priority: .low)], byteCount: 1000, duration: .seconds(60))
        #expect(ledger.allowance(of: 1) == LoadAllowance(byteCount: 500, duration: .seconds(30)))
        #expect(ledger.allowance(of: 9) == .everything, "of who is no member")
        #expect(ledger.note(Entry(), of: 7) == [0, 1])
        #expect(ledger.allowance(of: 7) == LoadAllowance(byteCount: 333, duration: .seconds(20)))
        #expect(ledger.note(nil, of: 0) == [1, 7])
        #expect(ledger.note(nil, of: 0) == [])
        #expect(ledger.note(nil, of: 1) == [7])
        #expect(ledger.allowance(of: 7).byteCount == 1000)
        #expect(ledger.note(nil, of: 7) == [])
        #expect(ledger.count == 0)
    }

    @Test("a negative limit means nothing left, not everything")
    func negative() {
        let ledger = ledger([Entry()], byteCount: -5, duration: .seconds(-5))
        #expect(ledger.allowance(of: 0) == LoadAllowance(byteCount: 0, duration: .zero))
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The members in need before the change. Members 0, 1 and 2 have low, default and high priority.
        var before: Set<Int> = []
        var member: Int
        var entry: ResourceLedger.Entry?
        var reported: [Int]
        var yielding: Set<Int>
    }

    static let changes = [
        Change(
            testDescription: "the highest is in need", member: 2, entry: .init(priority: .high, isInNeed: true),
            reported: [0, 1], yielding: [0, 1]),
        Change(
            testDescription: "one in the middle is in need", member: 1, entry: .init(isInNeed: true), reported: [0],
            yielding: [0]),
        Change(
            testDescription: "the lowest is in need, which is nobody's concern", member: 0,
            entry: .init(priority: .low, isInNeed: true), reported: [], yielding: []),
        Change(
            testDescription: "the need is over", before: [2], member: 2, entry: .init(priority: .high),
            reported: [0, 1],
            yielding: []),
        Change(
            testDescription: "one of two needs is over", before: [1, 2], member: 2, entry: .init(priority: .high),
            reported: [1], yielding: [0]),
        Change(
            testDescription: "a lower need beside a higher one", before: [2], member: 1, entry: .init(isInNeed: true),
            reported: [], yielding: [0, 1]),
        Change(testDescription: "who is in need goes", before: [2], member: 2, reported: [0, 1], yielding: []),
        Change(
            testDescription: "who is in need is lowered", before: [2], member: 2,
            entry: .init(priority: .low, isInNeed: true), reported: [0, 1], yielding: []),
        Change(
            testDescription: "who yields is raised", before: [2], member: 0, entry: .init(priority: .high),
            reported: [],
            yielding: [1]),
    ]

    @Test("D10: a player yields to a needy one of higher priority, and is notified of changes", arguments: changes)
    func priorities(_ change: Change) {
        let priorities = ResourcePriority.allCases
        var ledger = ledger(
            priorities.indices.map { Entry(priority: priorities[$0], isInNeed: change.before.contains($0)) })
        #expect(ledger.note(change.entry, of: change.member) == change.reported)
        #expect(Set((0..<3).filter { ledger.allowance(of: $0).yields }) == change.yielding)
    }
}
