import Testing

@testable import HLSKitEngine

/// Parts last 0.5 s, and playback is 1.5 s behind the edge.
@Suite("Alignment at the live edge")
struct EdgeAlignmentTests {
    private static let part = Duration.milliseconds(500)

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

    @Test("playback starts one partial segment nearer the edge if the offset spans at least two")
    func lead() {
        #expect(EdgeAlignment.lead(offset: .milliseconds(1500), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .seconds(1), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .milliseconds(999), part: Self.part) == .zero)
    }

    @Test("M05: playback waits for the next playlist before it begins")
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

    @Test("M05: without a lead there is no alignment: playback does not wait for a playlist")
    func ended() {
        var alignment = Self.listed
        alignment.end()
        #expect(!alignment.isPending)
        alignment.noteList()
        #expect(!alignment.isPending)
        #expect(alignment.deadline == nil)
    }

    @Test("M06: the position moves up to the target distance if at most the next partial segment is missing")
    func moves() {
        var alignment = Self.listed
        // 0.7 s passed until the media could play.
        #expect(alignment.check(Self.facts(ahead: 1500, edge: 12_200, canPlay: false), at: .seconds(1)) == .waits)
        #expect(alignment.deadline == nil)
        let verdict = alignment.check(Self.facts(ahead: 1700, edge: 12_200), at: .seconds(1))
        #expect(verdict == .moves(to: .milliseconds(10_700)))
        #expect(!alignment.isPending)
    }

    @Test(
        "M06: tiny differences are not corrected", arguments: [(11_625, true), (11_626, false), (11_000, true)])
    func tolerance(edge: Int, isLeft: Bool) {
        var alignment = Self.listed
        #expect((alignment.check(Self.facts(ahead: 2000, edge: edge), at: .seconds(1)) == .begins) == isLeft)
    }

    @Test("M06: alignment waits two partial segments at most, then skips as much as the buffer allows")
    func patience() {
        for ahead in [1000, 1100, 1300] {
            var alignment = Self.listed
            let facts = Self.facts(ahead: ahead, edge: 12_200)
            #expect(alignment.check(facts, at: .seconds(1)) == .waits)
            #expect(alignment.deadline == .seconds(2))
            // The wait starts when there is enough media to play.
            #expect(alignment.check(facts, at: .milliseconds(1999)) == .waits)
            #expect(alignment.deadline == .seconds(2))
            let verdict = alignment.check(facts, at: .seconds(2))
            #expect(verdict == (ahead > 1125 ? .moves(to: .milliseconds(9000 + ahead)) : .begins))
            #expect(!alignment.isPending && alignment.deadline == nil)
        }
    }
}
