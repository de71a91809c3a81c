import Testing

@testable import HLSKitEngine

/// Parts of half a second, played 1.5 s behind the edge.
@Suite("alignment at the live edge")
struct EdgeAlignmentTests {
    private static let part = Duration.milliseconds(500)

    /// Playing waits at 10 s.
    private static func facts(
        ahead: Int, edge: Int, canPlay: Bool = true
    ) -> EdgeAlignment.Facts {
        EdgeAlignment.Facts(
            canPlay: canPlay, playhead: .seconds(10), ahead: .milliseconds(ahead), edge: .milliseconds(edge),
            offset: .milliseconds(1500), part: part)
    }

    private static var listed: EdgeAlignment {
        var alignment = EdgeAlignment()
        alignment.begin(lead: part)
        alignment.noteList()
        return alignment
    }

    @Test("the start is a part nearer where two parts are left")
    func lead() {
        #expect(EdgeAlignment.lead(offset: .milliseconds(1500), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .seconds(1), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .milliseconds(999), part: Self.part) == .zero)
    }

    @Test("M05: playing waits for the next list, and then begins where it is")
    func waits() {
        var alignment = EdgeAlignment()
        #expect(!alignment.isPending)
        alignment.begin(lead: Self.part)
        #expect(alignment.isPending)
        #expect(alignment.check(Self.facts(ahead: 1500, edge: 11_500), at: .seconds(1)) == .waits)
        alignment.noteList()
        #expect(alignment.check(Self.facts(ahead: 1500, edge: 11_500), at: .seconds(1)) == .begins)
        #expect(!alignment.isPending)
        alignment.begin(lead: .zero)
        #expect(!alignment.isPending)
    }

    @Test("M05: what does not begin nearer than it waits for is not aligned")
    func ended() {
        var alignment = Self.listed
        alignment.end()
        #expect(!alignment.isPending)
        alignment.noteList()
        #expect(!alignment.isPending)
        #expect(alignment.deadline == nil)
    }

    @Test("M06: the place moves on to its distance where no more is missing than the part that comes next")
    func moves() {
        var alignment = Self.listed
        // 0.7 s were spent on media to play.
        #expect(alignment.check(Self.facts(ahead: 1500, edge: 12_200, canPlay: false), at: .seconds(1)) == .waits)
        #expect(alignment.deadline == nil)
        let verdict = alignment.check(Self.facts(ahead: 1700, edge: 12_200), at: .seconds(1))
        #expect(verdict == .moves(to: .milliseconds(10_700)))
        #expect(!alignment.isPending)
    }

    @Test(
        "M06: a difference that is not noticed is left", arguments: [(11_625, true), (11_626, false), (11_000, true)])
    func tolerance(edge: Int, isLeft: Bool) {
        var alignment = Self.listed
        #expect((alignment.check(Self.facts(ahead: 2000, edge: edge), at: .seconds(1)) == .begins) == isLeft)
    }

    @Test("M06: what is not there yet is waited for, two parts at most; then as much is left out as there is to spare")
    func patience() {
        for ahead in [1000, 1100, 1300] {
            var alignment = Self.listed
            let facts = Self.facts(ahead: ahead, edge: 12_200)
            #expect(alignment.check(facts, at: .seconds(1)) == .waits)
            #expect(alignment.deadline == .seconds(2))
            // The wait counts from when there was enough to play.
            #expect(alignment.check(facts, at: .milliseconds(1999)) == .waits)
            #expect(alignment.deadline == .seconds(2))
            let verdict = alignment.check(facts, at: .seconds(2))
            #expect(verdict == (ahead > 1125 ? .moves(to: .milliseconds(9000 + ahead)) : .begins))
            #expect(!alignment.isPending && alignment.deadline == nil)
        }
    }
}
