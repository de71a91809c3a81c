import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Seek machine")
struct SeekMachineTests {
    private static let request = SeekRequest(destination: .time(.seconds(8)))
    private static let own = SeekRequest(destination: .time(.seconds(8)), isOwn: true)

    private static func facts(_ change: (inout SeekMachine.Facts) -> Void = { _ in }) -> SeekMachine.Facts {
        var facts = SeekMachine.Facts()
        facts.hasStart = true
        facts.isReady = true
        facts.hasMedia = true
        facts.isPaused = true
        facts.awaitsOutputs = true
        facts.holdsStart = true
        change(&facts)
        return facts
    }

    /// Returns a rule for ten segments of 4 s, of which those before 12 s are loaded.
    private static func rule() throws -> SeekTargetRule {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(0, count: 10, isEnded: true).parsed(), requestURL: "list", url: "list",
            start: .zero, loadBegan: .zero, now: .zero)
        return SeekTargetRule(tracker: tracker, held: HeldMedia(ranges: [.zero..<(.seconds(12))], end: .seconds(40)))
    }

    private static func landed(_ landing: SeekTarget = .exact(.seconds(8))) -> SeekMachine {
        var seek = SeekMachine()
        seek.begin(request, to: .seconds(8))
        seek.land(on: landing)
        return seek
    }

    // MARK: Seeks

    @Test("a seek is refused, waits for a start position, or goes to its destination")
    func answers() throws {
        let rule = try Self.rule()
        let after = SeekRequest(destination: .time(.seconds(41)))
        #expect(SeekMachine.answer(to: Self.request, rule, canPlay: false) == .refuse)
        #expect(SeekMachine.answer(to: Self.request, nil, canPlay: true) == .wait)
        #expect(SeekMachine.answer(to: Self.request, rule, canPlay: true) == .go(to: .seconds(8)))
        #expect(SeekMachine.answer(to: after, rule, canPlay: true) == .refuse)
    }

    struct Move: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var target: Duration
        var reloads = false
        var expected: [SeekMachine.Action]
    }

    static let moves = [
        Move(
            testDescription: "within what is held", target: .seconds(8),
            expected: [
                .accept(isTargetBuffered: true), .present(from: .exact(.seconds(8))),
                .move(to: .exact(.seconds(8))), .judgeBuffer,
            ]),
        Move(
            testDescription: "behind what is held", target: .seconds(20),
            expected: [
                .accept(isTargetBuffered: false), .load(from: .exact(.seconds(20))),
                .move(to: .exact(.seconds(20))), .judgeBuffer,
            ]),
        Move(
            testDescription: "within what is of no use", target: .seconds(8), reloads: true,
            expected: [
                .accept(isTargetBuffered: false), .load(from: .exact(.seconds(8))),
                .move(to: .exact(.seconds(8))), .judgeBuffer,
            ]),
    ]

    @Test("a seek presents loaded media, or otherwise loads it", arguments: moves)
    func goes(_ test: Move) throws {
        var seek = SeekMachine()
        let actions = seek.go(Self.request, to: test.target, try Self.rule(), reloads: test.reloads)
        #expect(actions == test.expected)
        #expect(seek.target == test.target)
        #expect(seek.landing == nil)
    }

    @Test("a seek is in flight from its request to its end, which returns the request", arguments: [request, own])
    func seeks(_ request: SeekRequest) {
        var seek = SeekMachine()
        #expect(!seek.isUnderWay)
        let nothing = seek.end()
        #expect(nothing == nil)
        seek.begin(request, to: .zero)
        #expect((seek.target, seek.request) == (.zero, request))
        #expect(seek.isCancellable == !request.isOwn)
        #expect(seek.landing == nil)
        seek.land(on: .exact(.seconds(8)))
        #expect(seek.target == .seconds(8))
        let ended = seek.end()
        #expect(ended == request)
        #expect((seek.target, seek.request) == (nil, nil))
        #expect(seek.landing == .exact(.seconds(8)))
    }

    @Test("a waiting seek lands when a start position is known, within the listed range")
    func landsFirst() throws {
        let rule = try Self.rule()
        var seek = SeekMachine()
        let nothing = seek.landFirst(rule)
        #expect(nothing == nil)
        seek.begin(SeekRequest(destination: .time(.seconds(99))), to: .zero)
        let landing = seek.landFirst(rule)
        #expect(landing == .exact(.seconds(40)))
        #expect(seek.target == .seconds(40))
    }

    @Test("an engine's own move continues a seek in flight, or stays at the playhead")
    func ownMoves() {
        var seek = SeekMachine()
        let place = seek.beginOwnMove(at: .seconds(3))
        #expect(place == .seconds(3))
        #expect(seek.request?.isOwn == true && seek.request?.isJump == false)
        seek = Self.landed()
        seek.ask(.target, 3)
        let target = seek.beginOwnMove(at: .seconds(3))
        #expect(target == .seconds(8))
        #expect(seek.request == Self.request)
        #expect(seek.takeAnswer(3, isLast: false, first: nil) == [])
        #expect(seek.awaitOutputs(Self.facts(), isInGap: false) == [.ask(.target)])
    }

    @Test("a time tied to a host time jumps, unless it is nearly reached")
    func jumps() {
        let held = HeldMedia(ranges: [.zero..<(.seconds(12))], end: .seconds(40), shortest: .milliseconds(50))
        let seek = SeekMachine()
        #expect(seek.jump(to: .milliseconds(40), from: .zero, held) == [])
        #expect(
            seek.jump(to: .seconds(8), from: .zero, held)
                == [
                    .endSeek(finished: false), .present(from: .exact(.seconds(8))), .jump(to: .seconds(8)),
                    .judgeBuffer,
                ])
        #expect(seek.jump(to: .seconds(20), from: .zero, held).contains(.load(from: .exact(.seconds(20)))))
    }

    // MARK: Arrival

    @Test("a seek arrives when its target has media and the item is ready")
    func arrives() {
        let seek = Self.landed()
        #expect(seek.check(Self.facts()) == [.awaitOutputs])
        #expect(seek.check(Self.facts { $0.hasMedia = false }) == [])
        #expect(seek.check(Self.facts { $0.isReady = false }) == [])
        #expect(seek.check(Self.facts { $0.hasStart = false }) == [])
        #expect(SeekMachine().check(Self.facts()) == [])
        #expect(
            Self.landed(.undecided(near: .seconds(8))).check(Self.facts())
                == [.decideLanding(near: .seconds(8)), .awaitOutputs])
    }

    @Test("a move without a seek does not start one")
    func moveAlone() {
        var seek = SeekMachine()
        seek.land(on: .undecided(near: .seconds(4)))
        #expect(!seek.isUnderWay)
        #expect(seek.check(Self.facts()) == [])
    }

    @Test("sync samples decide where a seek with limited tolerance lands")
    func decides() {
        var seek = SeekMachine()
        seek.begin(
            SeekRequest(
                destination: .time(.seconds(8)), tolerance: SeekRequest.Tolerance(before: .seconds(3), after: .zero)),
            to: .seconds(8))
        seek.land(on: .undecided(near: .seconds(8)))
        seek.noteSyncSamples([.seconds(4), .seconds(6), .seconds(10)])
        let held = HeldMedia(ranges: [.seconds(4)..<(.seconds(12))])
        #expect(
            seek.decideLanding(near: .seconds(8), held)
                == [.reposition(to: .sync(.seconds(6))), .move(to: .sync(.seconds(6))), .judgeBuffer])
        seek.forgetSyncSamples(from: .seconds(6))
        #expect(seek.decideLanding(near: .seconds(8), held).last == .judgeBuffer)
        #expect(seek.decideLanding(near: .seconds(8), held).contains(.move(to: .exact(.seconds(8)))))
    }

    @Test("outputs are asked once for media at the target, if they take part and there is media")
    func asks() {
        var seek = Self.landed()
        let end: [SeekMachine.Action] = [.endSeek(finished: true), .reportJump, .complete]
        #expect(seek.awaitOutputs(Self.facts { $0.awaitsOutputs = false }, isInGap: false) == end)
        #expect(seek.awaitOutputs(Self.facts(), isInGap: true) == end)
        #expect(seek.awaitOutputs(Self.facts(), isInGap: false) == [.ask(.target)])
        seek.ask(.target, 3)
        #expect(seek.awaitOutputs(Self.facts(), isInGap: false) == [])
        seek.land(on: .sync(.seconds(7)))
        #expect(seek.takeAnswer(2, isLast: false, first: nil) == [])
        #expect(seek.takeAnswer(3, isLast: true, first: .seconds(9)) == [.noteFirst] + end)
    }

    @Test("a seek to the start of a segment ends at its first frame")
    func firstFrame() {
        var seek = Self.landed(.segmentStart(.seconds(8)))
        seek.ask(.target, 1)
        #expect(seek.takeAnswer(1, isLast: false, first: .seconds(9)).first == .move(to: .sync(.seconds(9))))
        #expect(seek.takeAnswer(1, isLast: false, first: .seconds(7)).first == .endSeek(finished: true))
    }

    @Test("a newer seek ignores answers to the previous seek's questions")
    func supersedes() {
        var seek = Self.landed()
        seek.ask(.target, 3)
        _ = seek.end()
        seek.begin(Self.request, to: .seconds(20))
        #expect(seek.takeAnswer(3, isLast: false, first: nil) == [])
    }

    // MARK: Preroll, start, frames

    @Test("a preroll waits for media, then for the outputs, and ends when the player plays")
    func prerolls() {
        var seek = SeekMachine()
        #expect(seek.mayPreroll(Self.facts()))
        #expect(!seek.mayPreroll(Self.facts { $0.isPaused = false }))
        #expect(!Self.landed().mayPreroll(Self.facts()))
        #expect(seek.checkPreroll(Self.facts()) == [])
        seek.beginPreroll()
        #expect(seek.checkPreroll(Self.facts { $0.hasMedia = false }) == [])
        #expect(seek.checkPreroll(Self.facts { $0.isPaused = false }) == [.endPreroll(finished: false)])
        #expect(seek.checkPreroll(Self.facts { $0.awaitsOutputs = false }) == [.endPreroll(finished: true)])
        #expect(seek.checkPreroll(Self.facts()) == [.ask(.preroll)])
        seek.ask(.preroll, 4)
        #expect(seek.checkPreroll(Self.facts()) == [])
        #expect(seek.takeAnswer(4, isLast: false, first: nil) == [.endPreroll(finished: true)])
        seek.endPreroll()
        #expect(!seek.isPrerolling)
        #expect(seek.takeAnswer(4, isLast: false, first: nil) == [])
    }

    @Test("the first media is requested from outputs if nothing else is pending, and after a seek")
    func starts() {
        let asked: [SeekMachine.Action] = [.waitForFirst(until: .seconds(6)), .ask(.first)]
        func check(_ seek: SeekMachine) -> [SeekMachine.Action] { seek.checkStart(Self.facts(), at: .seconds(1)) }
        var seek = SeekMachine()
        #expect(check(seek) == asked)
        #expect(seek.checkStart(Self.facts { $0.holdsStart = false }, at: .zero) == [])
        #expect(seek.checkStart(Self.facts { $0.hasMedia = false }, at: .zero) == [])
        seek.beginPreroll()
        #expect(check(seek) == asked)
        seek.ask(.preroll, 1)
        #expect(check(seek) == [])
        seek.endPreroll()
        seek.ask(.first, 2)
        #expect(check(seek) == [])
        seek.begin(Self.request, to: .seconds(8))
        #expect(check(seek) == [])
        _ = seek.end()
        #expect(check(seek) == asked)
        seek.ask(.first, 3)
        #expect(seek.holdsStart(Self.facts()))
        let wasAsked = seek.noteFirstDecoded()
        #expect(wasAsked)
        #expect(!seek.holdsStart(Self.facts()))
        let isAskedAgain = seek.noteFirstDecoded()
        #expect(!isAskedAgain)
        #expect(check(seek) == [])
    }

    @Test("stepping is possible while time is stopped, if there are frames")
    func steps() {
        var seek = SeekMachine()
        #expect(!seek.mayStep(Self.facts()))
        seek.noteSyncSamples([.zero])
        #expect(seek.mayStep(Self.facts()))
        #expect(!seek.mayStep(Self.facts { $0.isPaused = false }))
        seek.restart(at: .exact(.seconds(8)))
        #expect(seek.hasFrames)
        #expect(seek.window == .seconds(8))
    }
}
