import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Plan for the next reload")
struct ReloadPlanTests {
    private static let offer = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"

    private static func tracker(
        _ control: String? = offer, first: Int = 10, count: Int = 8, isEnded: Bool = false
    ) throws -> PlaylistTracker {
        var text = PlaylistText.numbered(first, count: count, isEnded: isEnded)
        text.header = control.map { [$0] } ?? []
        return PlaylistTracker(
            try text.parsed(), requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
    }

    private static func ask(
        _ plan: inout ReloadPlan, _ tracker: PlaylistTracker, mayHold: Bool = true
    ) -> DeliveryDirectives {
        let directives = plan.directives(tracker, mayHold: mayHold, at: .seconds(1))
        plan.send(directives)
        return directives
    }

    @Test("C06: the next segment is awaited only if the server supports blocking reloads")
    func offers() throws {
        let plan = ReloadPlan()
        #expect(plan.next(in: try Self.tracker()) == PartPosition(sequence: 18))
        #expect(plan.directives(try Self.tracker(), mayHold: false, at: .zero).awaited == nil)
        #expect(plan.next(in: try Self.tracker(nil)) == nil)
        #expect(plan.next(in: try Self.tracker("#EXT-X-SERVER-CONTROL:HOLD-BACK=12")) == nil)
        #expect(plan.next(in: try Self.tracker(count: 0)) == nil)
        #expect(plan.next(in: try Self.tracker(isEnded: true)) == nil)
        #expect(plan.next(in: try Self.tracker(first: .max - 20)) == PartPosition(sequence: .max - 12))
        #expect(ReloadPlan.patience(try Self.tracker(), for: PartPosition(sequence: 18)) == .seconds(8))
    }

    @Test("M05: with parts in use, the next part is awaited near the edge")
    func parts() throws {
        let plan = ReloadPlan()
        var text = PlaylistText.numbered(10, count: 8)
        text.header = [Self.offer, "#EXT-X-PART-INF:PART-TARGET=0.5"]
        let whole = text.text + "#EXT-X-PART:DURATION=0.5,URI=\"18.0.mp4\"\n"
        let list = try MediaPlaylist(parsing: whole, url: "https://host/live.m3u8")
        var tracker = PlaylistTracker(
            list, requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero, usesParts: true)
        let part = PartPosition(sequence: 18, part: 1)
        #expect(plan.next(in: tracker) == part)
        #expect(plan.next(in: tracker, playhead: .seconds(31)) == part)
        #expect(plan.next(in: tracker, playhead: .seconds(10)) == PartPosition(sequence: 18))
        #expect(ReloadPlan.patience(tracker, for: part) == .milliseconds(1250))
        tracker.use(parts: false)
        #expect(plan.next(in: tracker) == PartPosition(sequence: 18))
    }

    enum Step: Sendable {
        /// A playlist whose last segment has this number.
        case list(Int)
        case failure(ReloadPlan.Failure, isOwnFault: Bool)
    }

    struct Story: CustomTestStringConvertible, Sendable {
        var name: String
        var steps: [Step]
        /// Whether each request, including the one after the last step, is a blocking reload.
        var held: [Bool]
        var testDescription: String { name }
    }

    private static let timeout = Step.failure(.timeout, isOwnFault: true)

    private static func status(_ status: Int, hasRetryAfter: Bool = false, isOwnFault: Bool = true) -> Step {
        .failure(.status(status, hasRetryAfter: hasRetryAfter), isOwnFault: isOwnFault)
    }

    static let stories: [Story] = [
        Story(name: "it keeps its word", steps: [.list(18), .list(18), .list(20)], held: [true, true, true, true]),
        Story(
            name: "an old list once", steps: [.list(17), .list(18), .list(18)], held: [true, false, true, true]),
        Story(
            name: "an old list each time",
            steps: [.list(17), .list(18), .list(17), .list(18), .list(17), .list(18), .list(18)],
            held: [true, false, true, false, true, false, false, false]),
        Story(
            name: "an old list now and then",
            steps: [
                .list(17), .list(18), .list(17), .list(18), .list(18), .list(17), .list(18), .list(17), .list(18),
            ], held: [true, false, true, false, true, true, false, true, false, true]),
        Story(
            name: "nothing new for anybody", steps: Array(repeating: .list(17), count: 7),
            held: [true, false, true, false, true, false, true, false]),
        Story(name: "too far ahead", steps: [status(400), .list(18)], held: [true, false, true]),
        Story(name: "held too long", steps: [status(503), .list(17)], held: [true, false, true]),
        Story(
            name: "too busy", steps: [status(503, hasRetryAfter: true, isOwnFault: false), .list(18)],
            held: [true, false, true]),
        Story(name: "a gateway in between", steps: [status(504)], held: [true, false]),
        Story(
            name: "no answer, though there is one",
            steps: [timeout, .list(18), timeout, .list(18), timeout, .list(18), .list(18)],
            held: [true, false, true, false, true, false, false, false]),
        Story(
            name: "no answer, for nothing is new",
            steps: [timeout, .list(17), timeout, .list(17), timeout, .list(17), timeout, .list(17)],
            held: [true, false, true, false, true, false, true, false, true]),
        Story(
            name: "gone", steps: [status(404, isOwnFault: false), status(404, isOwnFault: false), .list(18)],
            held: [true, false, false, true]),
        Story(
            name: "no answer, and none when asked plainly", steps: [timeout, .failure(.timeout, isOwnFault: false)],
            held: [true, false, false]),
        Story(
            name: "no connection", steps: [.failure(.other, isOwnFault: false), .list(18)], held: [true, false, true]),
    ]

    @Test(
        "M05: a server that does not block is reloaded plainly, after three times for good", arguments: stories)
    func words(_ story: Story) throws {
        var plan = ReloadPlan()
        let tracker = try Self.tracker()
        for (step, isHeld) in zip(story.steps, story.held) {
            let directives = Self.ask(&plan, tracker)
            #expect(directives.awaited == (isHeld ? PartPosition(sequence: 18) : nil))
            #expect(plan.isHeld == isHeld)
            switch step {
            case .list(let sequence): plan.take(edge: PartPosition(sequence: sequence))
            case .failure(let failure, let isOwnFault): #expect(plan.fail(failure) == isOwnFault)
            }
            #expect(!plan.isHeld)
        }
        #expect((Self.ask(&plan, tracker).awaited != nil) == story.held.last)
    }

    @Test("parts of the awaited segment do not count as the segment")
    func early() throws {
        var plan = ReloadPlan()
        for _ in 0..<3 {
            _ = Self.ask(&plan, try Self.tracker())
            plan.take(edge: PartPosition(sequence: 18, part: 3))
            _ = Self.ask(&plan, try Self.tracker())
            plan.take(edge: PartPosition(sequence: 18))
        }
        #expect(!plan.keepsPromises)
    }

    // MARK: Delta updates

    private static let skipping = offer + ",CAN-SKIP-UNTIL=24"

    @Test("C10: an unfitting delta is followed by a full reload; two of them end delta updates")
    func misfits() throws {
        var plan = ReloadPlan()
        let tracker = try Self.tracker(Self.skipping)
        for isLast in [false, true] {
            let directives = Self.ask(&plan, tracker)
            #expect(directives.delta != nil && directives.awaited != nil)
            #expect(plan.fail(.misfit) == true)
            let whole = Self.ask(&plan, tracker)
            #expect(whole.delta == nil && whole.awaited == nil)
            plan.take(edge: PartPosition(sequence: 18))
            #expect((Self.ask(&plan, tracker).delta == nil) == isLast)
            #expect(plan.keepsPromises)
        }
    }

    @Test("C10: after a sequence restart, earlier failed delta updates do not count")
    func newCount() throws {
        var plan = ReloadPlan()
        let tracker = try Self.tracker(Self.skipping)
        for _ in 0..<2 {
            _ = Self.ask(&plan, tracker)
            #expect(plan.fail(.misfit) == true)
            _ = Self.ask(&plan, tracker)
            plan.take(edge: PartPosition(sequence: 3))
        }
        #expect(Self.ask(&plan, tracker).delta == nil)
        plan.take(edge: PartPosition(sequence: 3), isNewCount: true)
        #expect(Self.ask(&plan, tracker).delta != nil)
    }

    @Test("C10: a fitting delta update forgives an earlier failure")
    func fits() throws {
        var plan = ReloadPlan()
        let tracker = try Self.tracker(Self.skipping)
        for _ in 0..<4 {
            _ = Self.ask(&plan, tracker, mayHold: false)
            #expect(plan.fail(.misfit) == true)
            _ = Self.ask(&plan, tracker, mayHold: false)
            plan.take(edge: PartPosition(sequence: 18))
            #expect(Self.ask(&plan, tracker, mayHold: false).delta != nil)
            plan.take(edge: PartPosition(sequence: 18))
        }
    }

    @Test("C10: a server that refuses delta updates gets full reloads from then on")
    func refusals() throws {
        var plan = ReloadPlan()
        let tracker = try Self.tracker(Self.skipping)
        _ = Self.ask(&plan, tracker, mayHold: false)
        #expect(plan.fail(.status(404, hasRetryAfter: false)) == false)
        #expect(Self.ask(&plan, tracker, mayHold: false).delta == nil)
        // A failure of a full playlist is not the delta update's fault.
        var other = ReloadPlan()
        other.send(DeliveryDirectives())
        #expect(other.fail(.other) == false)
        #expect(Self.ask(&other, tracker, mayHold: false).delta != nil)
    }
}
