import HLSKitMedia
import HLSKitSelection
import Testing

@testable import HLSKitEngine

/// The playhead is at 6 s, in the segment from 4 s on. The lane's next load is at 20 s.
@Suite("Reloading media for late outputs")
struct LateOutputsTests {
    private static let facts = LateOutputs.Facts(
        resume: .seconds(20), playhead: .seconds(6), segment: SegmentPosition(epoch: 0, sequence: 1),
        segmentStart: .seconds(4))

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var isTooLate: Bool
        var facts: LateOutputs.Facts

        init(_ text: String, _ isTooLate: Bool, _ change: (inout LateOutputs.Facts) -> Void) {
            testDescription = text
            self.isTooLate = isTooLate
            facts = LateOutputsTests.facts
            change(&facts)
        }
    }

    static let cases = [
        Case("media ahead is loaded already", true) { _ in },
        Case("nothing is loaded ahead", false) { $0.resume = .seconds(6) },
        Case("the lane has not begun", false) { $0.resume = nil },
        Case("nothing is played", false) { $0.isPlaying = false },
        Case("nothing of the lane can be played", false) { $0.isDemuxed = false },
        Case("another rendition takes its place", false) { $0.isReplacing = true },
    ]

    @Test("outputs are late if media was loaded ahead of them", arguments: cases)
    func areTooLate(_ test: Case) { #expect(LateOutputs.areTooLate(test.facts) == test.isTooLate) }

    @Test("the lane returns to the segment at the playhead and reloads up to its old position")
    func goBack() {
        var late = LateOutputs([.audio], keepsOthers: true)
        #expect(late.kindsToCome == [.audio])
        let back = late.goBack(Self.facts)
        let cursor = LaneCursor.position(SegmentPosition(epoch: 0, sequence: 1))
        #expect(back == LateOutputs.Return(kinds: [.audio], cursor: cursor, start: .seconds(4)))
        #expect(late.kindsToCome == nil)
        #expect(late.kinds(at: .seconds(16)) == [.audio])
        #expect(late.kinds(at: .seconds(20)) == nil)
        #expect(late.isLoadedAgain(.seconds(16)))
        // A playlist that was aligned with another one may be off by a few milliseconds.
        #expect(!late.isLoadedAgain(.milliseconds(19_995)))
    }

    @Test("if no playlist covers the playhead, the lane returns by time")
    func goBackByTime() {
        var (late, facts) = (LateOutputs([.video], keepsOthers: false), Self.facts)
        facts.segment = nil
        let back = late.goBack(facts)
        #expect(back == LateOutputs.Return(kinds: [.video], cursor: .time(.seconds(6)), start: .seconds(6)))
        #expect(late.kinds(at: .seconds(16)) == nil)
        #expect(late.isLoadedAgain(.seconds(16)))
    }

    @Test("before a return, segments with other outputs are read to their end")
    func reading() {
        var (late, facts) = (LateOutputs([.audio], keepsOthers: true), Self.facts)
        facts.isReading = true
        let early = late.goBack(facts)
        #expect(early == nil)
        #expect(late.kindsToCome == [.audio])
        facts.isReading = false
        let back = late.goBack(facts)
        #expect(back != nil)
        // Outputs added during a reload make the lane go back at once, but no farther than before.
        late.add([.metadata])
        facts.isReading = true
        facts.resume = .seconds(12)
        let again = late.goBack(facts)
        #expect(again?.kinds == [.audio, .metadata])
        #expect(late.until == .seconds(20))
    }

    @Test("a return does not wait for segments without outputs")
    func alone() {
        var (late, facts) = (LateOutputs([.audio], keepsOthers: false), Self.facts)
        facts.isReading = true
        let back = late.goBack(facts)
        #expect(back?.kinds == [.audio])
    }
}
