import Testing

@testable import HLSKitCore

@Suite("alignment at the live edge")
struct EdgeAlignmentTests {
    private static let part = Duration.milliseconds(500)

    private func facts(playhead: Duration, loaded: Duration, end: Duration = .seconds(20)) -> EdgeAlignment.Facts {
        EdgeAlignment.Facts(
            playhead: playhead, loadedDuration: loaded, end: end, offset: .milliseconds(1500), part: Self.part)
    }

    /// One that has begun, and seen the next list at second 3.
    private var listed: EdgeAlignment {
        var alignment = EdgeAlignment()
        alignment.begin(lead: Self.part)
        alignment.noteList(at: .seconds(3))
        return alignment
    }

    @Test("the start is a part nearer where two parts are left")
    func lead() {
        #expect(EdgeAlignment.lead(offset: .milliseconds(1500), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .seconds(1), part: Self.part) == Self.part)
        #expect(EdgeAlignment.lead(offset: .milliseconds(999), part: Self.part) == .zero)
    }

    @Test("M05: playing waits for the next list")
    func waits() {
        var alignment = EdgeAlignment()
        #expect(!alignment.isPending && !alignment.isWaiting)
        alignment.begin(lead: Self.part)
        #expect(alignment.isPending && alignment.isWaiting)
        alignment.noteList(at: .seconds(3))
        #expect(alignment.isPending && !alignment.isWaiting)
        alignment.end()
        #expect(!alignment.isPending)
        alignment.begin(lead: .zero)
        #expect(!alignment.isPending)
    }

    @Test("the whole distance is loaded before playing begins, or all that is listed")
    func reserve() {
        var alignment = EdgeAlignment()
        alignment.begin(lead: Self.part)
        let offset = Duration.milliseconds(1500)
        #expect(alignment.reserve(offset: offset, available: .seconds(1)) == offset)
        alignment.noteList(at: .seconds(3))
        #expect(alignment.reserve(offset: offset, available: .seconds(2)) == offset)
        #expect(alignment.reserve(offset: offset, available: .seconds(1)) == .milliseconds(950))
        #expect(alignment.reserve(offset: offset, available: .seconds(-1)) == .zero)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var playhead: Duration
        var loaded: Duration
        /// After the list.
        var delay: Duration
        var place: Duration?
    }

    @Test(
        "M05: playing begins at its distance from where the edge is by now",
        arguments: [
            Case(
                testDescription: "at once", playhead: .milliseconds(18_500), loaded: .milliseconds(1500),
                delay: .milliseconds(20), place: nil),
            Case(
                testDescription: "after some loading", playhead: .milliseconds(18_500), loaded: .milliseconds(1500),
                delay: .milliseconds(300), place: .milliseconds(18_800)),
            Case(
                testDescription: "after much: what the list does not say is a part at most",
                playhead: .milliseconds(18_500), loaded: .milliseconds(1500), delay: .seconds(5), place: .seconds(19)),
            Case(
                testDescription: "what playing needs is left", playhead: .milliseconds(17_500),
                loaded: .milliseconds(1_200),
                delay: .milliseconds(300), place: .milliseconds(17_700)),
            Case(
                testDescription: "all of it is needed", playhead: .milliseconds(17_500), loaded: .seconds(1),
                delay: .milliseconds(300), place: nil),
            Case(
                testDescription: "nothing is loaded that could be skipped", playhead: .milliseconds(17_500),
                loaded: .milliseconds(400), delay: .milliseconds(300), place: nil),
            Case(
                testDescription: "nearer than that already", playhead: .seconds(19), loaded: .seconds(1),
                delay: .milliseconds(300), place: nil),
        ] as [Case])
    func begins(_ row: Case) {
        var alignment = listed
        let facts = facts(playhead: row.playhead, loaded: row.loaded)
        #expect(alignment.begins(facts, at: .seconds(3) + row.delay) == row.place)
        // Once.
        #expect(!alignment.isPending)
    }

    @Test("playing that begins before the list is where it is")
    func early() {
        var alignment = EdgeAlignment()
        alignment.begin(lead: Self.part)
        let facts = facts(playhead: .seconds(10), loaded: .seconds(10))
        #expect(alignment.begins(facts, at: .seconds(3)) == nil)
        #expect(!alignment.isPending)
    }
}
