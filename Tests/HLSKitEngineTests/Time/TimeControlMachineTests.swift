import Testing

@testable import HLSKitEngine

private typealias Event = TimeControlMachine.Event

extension TimeControlMachine.Event {
    /// Some media, but not enough to start.
    fileprivate static let data = bufferChanged(.init(isEmpty: false))
    fileprivate static let likely = bufferChanged(.init(isEmpty: false, isLikelyToKeepUp: true))
    fileprivate static let full = bufferChanged(.init(isEmpty: false, isFull: true))
    fileprivate static let empty = bufferChanged(.init())
    fileprivate static let play = play(defaultRate: 1)
    fileprivate static let pause = setRate(0)
    fileprivate static let unknownItem = itemChanged(.init())
    fileprivate static let playableItem = itemChanged(.playable)
    fileprivate static let seekInBuffer = seekAccepted(isTargetBuffered: true)
    fileprivate static let seekOutside = seekAccepted(isTargetBuffered: false)
    fileprivate static let seekDone = seekCompleted(.init(isEmpty: false))
}

extension TimeControlMachine.ItemState {
    fileprivate static let playable = Self(status: .readyToPlay, buffer: .init(isEmpty: false, isLikelyToKeepUp: true))
}

private func describe(_ outputs: [TimeControlMachine.Output]) -> [String] {
    outputs.map { output in
        switch output {
        case .stalled: "stall"
        case .didPlayToEnd: "didPlayToEnd"
        case .failedToPlayToEnd: "failedToPlayToEnd"
        case .rateChanged(let rate, let reason): "rate \(rate) \(reason)"
        case .statusChanged(_, let new, let reason, _): reason.map { "\(new.rawValue)(\($0.rawValue))" } ?? new.rawValue
        case .timebase(let rate, let anchor): anchor == nil ? "timebase \(rate)" : "timebase \(rate) anchored"
        case .advanceToNextItem: "advance"
        case .startEvaluationTimer: "timer"
        }
    }
}

private struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var setup: TimeControlMachine = .init()
    var before: [TimeControlMachine.Event]
    var events: [TimeControlMachine.Event]
    var expected: [String]
    var rate: Float
    var testDescription: String { name }

    init(
        _ name: String, waits: Bool = true, action: ActionAtItemEnd = .pause,
        after before: [TimeControlMachine.Event] = [],
        _ events: [TimeControlMachine.Event], gives expected: [String], rate: Float
    ) {
        self.name = name
        self.setup = TimeControlMachine(automaticallyWaits: waits, actionAtItemEnd: action)
        self.before = before
        self.events = events
        self.expected = expected
        self.rate = rate
    }
}

private let playing: [Event] = [.unknownItem, .itemBecameReady, .likely, .play]
private let waitingToMinimize: [Event] = [.unknownItem, .itemBecameReady, .play, .data, .throughputSample]
private let evaluating = "waiting(evaluatingBufferingRate)"
private let minimizing = "waiting(toMinimizeStalls)"
private let noItem = "waiting(noItemToPlay)"
private let interstitial = "waiting(interstitialEvent)"

@Suite("Time control")
struct TimeControlMachineTests {
    private static let golden: [Case] = [
        Case("1", [.unknownItem, .itemBecameReady, .likely, .play], gives: ["playing"], rate: 1),
        Case(
            "2", [.unknownItem, .play, .itemBecameReady, .data, .throughputSample, .likely],
            gives: [evaluating, minimizing, "playing"], rate: 1),
        Case(
            "3", [.unknownItem, .itemBecameReady, .data, .playImmediately(atRate: 1), .empty, .data, .likely],
            gives: ["playing", "stall", minimizing, "playing"], rate: 1),
        Case(
            "4", [.play, .unknownItem, .itemBecameReady, .data, .likely],
            gives: [noItem, evaluating, "playing"], rate: 1),
        Case(
            "5", waits: false, [.unknownItem, .itemBecameReady, .data, .play, .empty, .data, .play],
            gives: ["playing", "stall", "paused", "playing"], rate: 1),
        Case(
            "6", after: playing, [.seekOutside, .data, .seekDone, .likely],
            gives: [evaluating, "playing"], rate: 1),
        Case(
            "7", [.unknownItem, .itemBecameReady, .play, .data, .throughputSample, .setAutomaticallyWaits(false)],
            gives: [evaluating, minimizing, "playing"], rate: 1),
        Case("8", after: playing, [.reachedEnd, .play], gives: ["didPlayToEnd", "paused"], rate: 0),
        Case(
            "9", action: .advance, after: playing, [.reachedEnd, .itemChanged(nil)],
            gives: ["didPlayToEnd", noItem], rate: 1),
        Case(
            "10", [.unknownItem, .itemBecameReady, .play, .data, .throughputSample, .full],
            gives: [evaluating, minimizing, "playing"], rate: 1),
        Case("11", after: playing, [.itemFailed], gives: ["failedToPlayToEnd", "paused"], rate: 0),
        Case(
            "12", after: playing, [.interstitialChanged(isRunning: true), .interstitialChanged(isRunning: false)],
            gives: [interstitial, "playing"], rate: 1),
        Case(
            "13", waits: false, [.unknownItem, .play, .itemBecameReady, .data], gives: [evaluating, "playing"], rate: 1),
        Case(
            "14", [.unknownItem, .itemBecameReady, .playImmediately(atRate: 2), .data, .likely],
            gives: [minimizing, "playing"], rate: 2),
    ]

    @Test("F03, F09, F10, F11: the golden scenarios result in their status changes", arguments: golden)
    private func goldenScenario(_ scenario: Case) {
        var machine = scenario.setup
        for event in scenario.before { _ = machine.handle(event) }
        let log = scenario.events.flatMap { machine.handle($0) }
        let milestones = describe(log).filter {
            !$0.hasPrefix("rate") && !$0.hasPrefix("timebase") && $0 != "timer" && $0 != "advance"
        }
        #expect(milestones == scenario.expected)
        #expect(machine.rate == scenario.rate)
    }

    private static let rows: [Case] = [
        Case("row 1: no rate, paused", [.playableItem], gives: [], rate: 0),
        Case("row 2: no item", [.play], gives: ["rate 1.0 setRateCalled", noItem], rate: 1),
        Case(
            "row 3: an interstitial runs", after: [.playableItem, .interstitialChanged(isRunning: true)], [.play],
            gives: ["rate 1.0 setRateCalled", interstitial], rate: 1),
        Case(
            "row 4: a failed item", after: [.unknownItem, .itemFailed], [.play], gives: ["rate 0.0 setRateFailed"],
            rate: 0),
        Case(
            "row 5: at the end play changes nothing, and tells so", after: playing + [.reachedEnd], [.play],
            gives: ["rate 0.0 setRateFailed"], rate: 0),
        Case(
            "row 6: status unknown", after: [.unknownItem, .likely], [.play],
            gives: ["rate 1.0 setRateCalled", evaluating, "timer"], rate: 1),
        Case(
            "row 6: a seek outside the buffer", after: [.playableItem, .seekOutside, .likely], [.play],
            gives: ["rate 1.0 setRateCalled", evaluating, "timer"], rate: 1),
        Case(
            "row 6: nothing presented yet, even without automatic waiting", waits: false,
            after: [.unknownItem, .itemBecameReady], [.play],
            gives: ["rate 1.0 setRateCalled", evaluating, "timer"], rate: 1),
        Case(
            "row 7: likely to keep up", after: [.playableItem], [.play],
            gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case(
            "row 7: full", after: [.unknownItem, .itemBecameReady, .full], [.play],
            gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case(
            "row 7: without automatic waiting", waits: false, after: [.unknownItem, .itemBecameReady, .data], [.play],
            gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case("row 7: what plays goes on below keep-up", after: playing, [.data], gives: [], rate: 1),
        Case(
            "row 8: data, but not enough", after: [.unknownItem, .itemBecameReady, .data], [.play],
            gives: ["rate 1.0 setRateCalled", evaluating, "timer"], rate: 1),
        Case(
            "row 9: empty after presentation without automatic waiting", waits: false,
            after: [.unknownItem, .itemBecameReady, .data, .mediaPresented, .empty], [.play],
            gives: ["rate 0.0 setRateFailed"], rate: 0),
    ]

    @Test("F01, F02, F12: each table row results in its status, reason and timebase", arguments: rows)
    private func row(_ row: Case) { check(row) }

    private static let cells: [Case] = [
        Case(
            "play while waiting takes the default rate", after: waitingToMinimize, [.play(defaultRate: 1.5)],
            gives: ["rate 1.5 setRateCalled"], rate: 1.5),
        Case(
            "play while playing changes the speed at once", after: playing, [.play(defaultRate: 1.5)],
            gives: ["rate 1.5 setRateCalled", "timebase 1.5"], rate: 1.5),
        Case(
            "a rate while paused resolves", after: [.playableItem], [.setRate(0.5)],
            gives: ["rate 0.5 setRateCalled", "playing", "timebase 0.5"], rate: 0.5),
        Case(
            "a rate while waiting is judged by the keep-up at that rate", after: waitingToMinimize,
            [.setRate(0.5, buffer: .init(isEmpty: false, isLikelyToKeepUp: true))],
            gives: ["rate 0.5 setRateCalled", "playing", "timebase 0.5"], rate: 0.5),
        Case(
            "a rate while playing is immediate, whatever keep-up says", after: playing,
            [.setRate(2, buffer: .init(isEmpty: false))], gives: ["rate 2.0 setRateCalled", "timebase 2.0"], rate: 2),
        Case("the same rate again changes nothing", after: playing, [.setRate(1)], gives: [], rate: 1),
        Case(
            "a rate that is not a number is ignored", after: playing, [.setRate(.nan), .play(defaultRate: .infinity)],
            gives: [], rate: 1),
        Case("pause while paused changes nothing", after: [.playableItem], [.pause], gives: [], rate: 0),
        Case(
            "pause while waiting", after: waitingToMinimize, [.pause], gives: ["rate 0.0 setRateCalled", "paused"],
            rate: 0),
        Case(
            "pause while playing stops the timebase", after: playing, [.pause],
            gives: ["rate 0.0 setRateCalled", "paused", "timebase 0.0"], rate: 0),
        Case(
            "playImmediately while paused needs only data", after: [.unknownItem, .itemBecameReady, .data],
            [.playImmediately(atRate: 1)], gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case(
            "playImmediately while waiting needs only data", after: waitingToMinimize, [.playImmediately(atRate: 1)],
            gives: ["playing", "timebase 1.0"], rate: 1),
        Case(
            "playImmediately while playing is a change of rate", after: playing, [.playImmediately(atRate: 2)],
            gives: ["rate 2.0 setRateCalled", "timebase 2.0"], rate: 2),
        Case(
            "playImmediately without data waits to minimize stalls", after: [.unknownItem, .itemBecameReady],
            [.playImmediately(atRate: 2)], gives: ["rate 2.0 setRateCalled", minimizing], rate: 2),
        Case(
            "playImmediately before the item is ready waits to minimize stalls", after: [.unknownItem, .data],
            [.playImmediately(atRate: 1)], gives: ["rate 1.0 setRateCalled", minimizing], rate: 1),
        Case(
            "playImmediately without data fails without automatic waiting", waits: false,
            after: [.unknownItem, .itemBecameReady], [.playImmediately(atRate: 1)],
            gives: ["rate 0.0 setRateFailed"], rate: 0),
        Case(
            "playImmediately while waiting fails without automatic waiting", waits: false,
            after: [.unknownItem, .play],
            [.playImmediately(atRate: 1)], gives: ["rate 0.0 setRateFailed", "paused"], rate: 0),
        // Keep-up and full.
        Case(
            "keep-up while paused changes nothing", after: [.unknownItem, .itemBecameReady], [.likely], gives: [],
            rate: 0),
        Case(
            "keep-up while waiting starts", after: waitingToMinimize, [.likely], gives: ["playing", "timebase 1.0"],
            rate: 1),
        Case(
            "full while waiting starts", after: waitingToMinimize, [.full], gives: ["playing", "timebase 1.0"], rate: 1),
        Case(
            "keep-up before the item is ready does not start", after: [.unknownItem, .play], [.likely], gives: [],
            rate: 1),
        Case("keep-up and full while playing change nothing", after: playing, [.likely, .full], gives: [], rate: 1),
        // Empty.
        Case(
            "empty while playing is a stall and waits at once to minimize stalls", after: playing, [.empty],
            gives: ["stall", minimizing, "timebase 0.0"], rate: 1),
        Case(
            "empty while playing is a stall and pauses without automatic waiting", waits: false, after: playing,
            [.empty],
            gives: ["stall", "rate 0.0 stalled", "paused", "timebase 0.0"], rate: 0),
        Case("empty while paused changes nothing", after: playing + [.pause], [.empty], gives: [], rate: 0),
        Case("empty while waiting changes nothing", after: waitingToMinimize, [.empty], gives: [], rate: 1),
        // Automatic waiting.
        Case(
            "automatic waiting off tries now", after: waitingToMinimize, [.setAutomaticallyWaits(false)],
            gives: ["playing", "timebase 1.0"], rate: 1),
        Case(
            "automatic waiting off gives up when empty after presentation", after: playing + [.empty],
            [.setAutomaticallyWaits(false)], gives: ["rate 0.0 setRateFailed", "paused"], rate: 0),
        Case(
            "automatic waiting off before the first data goes on evaluating",
            after: [.unknownItem, .play, .evaluationTimeout], [.setAutomaticallyWaits(false)], gives: [evaluating],
            rate: 1),
        Case(
            "automatic waiting on knows that the evaluation is over", waits: false,
            after: [.unknownItem, .play, .evaluationTimeout], [.setAutomaticallyWaits(true)], gives: [minimizing],
            rate: 1),
        Case(
            "play before there is an item works", after: [.play], [.playableItem], gives: ["playing", "timebase 1.0"],
            rate: 1),
        Case("no item any more while waiting", after: waitingToMinimize, [.itemChanged(nil)], gives: [noItem], rate: 1),
        Case(
            "no item any more while playing", after: playing, [.itemChanged(nil)], gives: [noItem, "timebase 0.0"],
            rate: 1),
        Case(
            "an empty item after one that played is no stall", after: playing,
            [.itemChanged(.init(status: .readyToPlay, hasPresentedMedia: true))],
            gives: [evaluating, "timebase 0.0", "timer"], rate: 1),
        Case(
            "a new item starts the evaluation again", after: waitingToMinimize, [.unknownItem],
            gives: [evaluating, "timer"], rate: 1),
        Case(
            "a seek inside the buffer while paused", after: [.playableItem], [.seekInBuffer, .seekDone], gives: [],
            rate: 0),
        Case(
            "a seek inside the buffer while playing only holds the timebase", after: playing,
            [.seekInBuffer, .seekDone],
            gives: ["timebase 0.0", "timebase 1.0"], rate: 1),
        Case(
            "a seek inside the buffer while waiting starts the evaluation again", after: waitingToMinimize,
            [.seekInBuffer],
            gives: [evaluating, "timer"], rate: 1),
        Case(
            "a seek that lands where the buffer is empty is no stall", after: playing,
            [.seekInBuffer, .seekCompleted(.init())],
            gives: ["timebase 0.0", evaluating, "timer"], rate: 1),
        Case("a seek outside the buffer while paused", after: [.playableItem], [.seekOutside], gives: [], rate: 0),
        Case(
            "a seek outside the buffer while waiting starts the evaluation again", after: waitingToMinimize,
            [.seekOutside],
            gives: [evaluating, "timer"], rate: 1),
        Case(
            "a seek outside the buffer while playing is no stall", after: playing, [.seekOutside, .empty],
            gives: [evaluating, "timebase 0.0", "timer"], rate: 1),
        Case(
            "a seek does not start with the keep-up of the place it left", after: playing, [.seekOutside, .seekDone],
            gives: [evaluating, "timebase 0.0", "timer"], rate: 1),
        Case(
            "a seek completed while waiting resolves", after: playing + [.seekOutside],
            [.seekCompleted(.init(isEmpty: false, isLikelyToKeepUp: true))], gives: ["playing", "timebase 1.0"], rate: 1
        ),
        Case(
            "a seek away from the end allows play", after: playing + [.reachedEnd, .seekInBuffer, .seekDone, .likely],
            [.play], gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case(
            "a cancelled seek leaves the playhead at the end",
            after: playing + [.reachedEnd, .seekInBuffer, .seekInBuffer],
            [.seekCancelled(.init(isEmpty: false, isFull: true)), .play], gives: ["rate 0.0 setRateFailed"], rate: 0),
        Case(
            "the end with action pause", after: playing, [.reachedEnd],
            gives: ["didPlayToEnd", "rate 0.0 itemEnded", "paused", "timebase 0.0"], rate: 0),
        Case(
            "the end with action advance goes on with the next item at the same rate", action: .advance, after: playing,
            [.reachedEnd, .playableItem], gives: ["didPlayToEnd", "advance"], rate: 1),
        Case(
            "the end with action advance and an empty queue", action: .advance, after: playing,
            [.reachedEnd, .itemChanged(nil)], gives: ["didPlayToEnd", "advance", noItem, "timebase 0.0"], rate: 1),
        Case(
            "the end with action none lets time run on", action: .none, after: playing, [.reachedEnd, .reachedEnd],
            gives: ["didPlayToEnd"], rate: 1),
        Case(
            "action pause past the end acts at once", action: .none, after: playing + [.reachedEnd],
            [.setActionAtItemEnd(.pause)], gives: ["rate 0.0 itemEnded", "paused", "timebase 0.0"], rate: 0),
        Case(
            "action advance past the end acts at once", action: .none, after: playing + [.reachedEnd],
            [.setActionAtItemEnd(.advance)], gives: ["advance"], rate: 1),
        Case(
            "a later end lets playback go on", after: playing + [.reachedEnd, .endMoved], [.play],
            gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case(
            "an end reported while not playing is ignored", after: waitingToMinimize, [.reachedEnd], gives: [], rate: 1),
        Case("failure while paused", after: [.playableItem], [.itemFailed], gives: [], rate: 0),
        Case(
            "failure while waiting, before anything played", after: waitingToMinimize, [.itemFailed],
            gives: ["rate 0.0 itemFailed", "paused"], rate: 0),
        Case(
            "failure while playing", after: playing, [.itemFailed],
            gives: ["failedToPlayToEnd", "rate 0.0 itemFailed", "paused", "timebase 0.0"], rate: 0),
        Case(
            "failure in a queue goes on with the next item", action: .advance, after: playing,
            [.itemFailed, .playableItem],
            gives: ["failedToPlayToEnd", "advance"], rate: 1),
        Case(
            "a failed item never recovers", after: [.playableItem, .itemFailed, .itemBecameReady, .itemFailed], [.play],
            gives: ["rate 0.0 setRateFailed"], rate: 0),
        Case(
            "a failure during an interstitial shows after it",
            after: playing + [.interstitialChanged(isRunning: true), .itemFailed],
            [.interstitialChanged(isRunning: false)],
            gives: ["rate 0.0 itemFailed", "paused"], rate: 0),
        Case(
            "the live edge slows down to 1", after: playing + [.setRate(2)], [.reachedLiveEdge],
            gives: ["rate 1.0 reachedLiveEdge", "timebase 1.0"], rate: 1),
        Case("the live edge at rate 1 changes nothing", after: playing, [.reachedLiveEdge], gives: [], rate: 1),
        Case(
            "the reverse end", after: reversing, [.reachedStart(isReverseEnd: true), .setRate(-1)],
            gives: ["didPlayToEnd", "rate 0.0 reachedStart", "paused", "timebase 0.0", "rate 0.0 setRateFailed"],
            rate: 0),
        Case(
            "the start of a live window in reverse", after: reversing, [.reachedStart(isReverseEnd: false)],
            gives: ["rate 0.0 reachedStart", "paused", "timebase 0.0"], rate: 0),
        Case(
            "forward from the start works", after: reversing + [.reachedStart(isReverseEnd: true)], [.play],
            gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0"], rate: 1),
        Case(
            "backward from the end works",
            after: playing + [.capabilitiesChanged(.init(canPlayReverse: true)), .reachedEnd],
            [.setRate(-1)], gives: ["rate -1.0 setRateCalled", "playing", "timebase -1.0"], rate: -1),
        Case(
            "an interstitial while paused", after: [.playableItem], [.interstitialChanged(isRunning: true)], gives: [],
            rate: 0),
        Case(
            "an interstitial while waiting", after: waitingToMinimize, [.interstitialChanged(isRunning: true)],
            gives: [interstitial], rate: 1),
        Case(
            "an interstitial while playing", after: playing, [.interstitialChanged(isRunning: true)],
            gives: [interstitial, "timebase 0.0"], rate: 1),
        Case(
            "after an interstitial without enough data",
            after: playing + [.interstitialChanged(isRunning: true), .data],
            [.interstitialChanged(isRunning: false)], gives: [evaluating, "timer"], rate: 1),
    ]
    private static let reversing = playing + [.capabilitiesChanged(.init(canPlayReverse: true)), .setRate(-1)]

    @Test("F01, F09, F10, F11: each event in each state follows the table", arguments: cells)
    private func cell(_ cell: Case) { check(cell) }

    private static let reasons: [Case] = [
        Case(
            "a sample ends the evaluation", after: [.unknownItem, .play], [.throughputSample], gives: [minimizing],
            rate: 1),
        Case(
            "the time ends the evaluation", after: [.unknownItem, .play], [.evaluationTimeout], gives: [minimizing],
            rate: 1),
        Case(
            "a sample from before the wait does not", after: [.unknownItem, .throughputSample], [.play],
            gives: ["rate 1.0 setRateCalled", evaluating, "timer"], rate: 1),
        Case(
            "without automatic waiting the reason stays", waits: false, after: [.unknownItem, .play],
            [.throughputSample, .evaluationTimeout], gives: [], rate: 1),
        Case(
            "ready in the middle of a wait starts no new one", after: [.unknownItem, .play, .throughputSample],
            [.itemBecameReady, .data], gives: [], rate: 1),
        Case(
            "a seek after a stall goes back to evaluating", after: playing + [.empty], [.seekOutside],
            gives: [evaluating, "timer"], rate: 1),
        Case(
            "pausing and playing after a stall goes on minimizing", after: playing + [.empty, .pause], [.play],
            gives: ["rate 1.0 setRateCalled", minimizing], rate: 1),
        Case(
            "a wait after playing evaluates again", after: waitingToMinimize + [.likely, .seekInBuffer], [.empty],
            gives: [evaluating, "timer"], rate: 1),
    ]

    @Test("F02: the reason while waiting for data follows its rules", arguments: reasons)
    private func reason(_ reason: Case) { check(reason) }

    private static let anchor = TimeControlMachine.TimebaseAnchor(itemTime: .seconds(3), hostTime: .seconds(10))

    private static let rates: [Case] = [
        Case(
            "twice the speed needs nothing", after: [.playableItem], [.setRate(2)],
            gives: ["rate 2.0 setRateCalled", "playing", "timebase 2.0"], rate: 2),
        Case(
            "faster runs at 2 until the media allows more", after: [.playableItem],
            [.setRate(8), .capabilitiesChanged(.init(canPlayFastForward: true))],
            gives: ["rate 8.0 setRateCalled", "playing", "timebase 2.0", "timebase 8.0"], rate: 8),
        Case(
            "reverse needs the media's permission", after: playing, [.setRate(-1)],
            gives: ["rate 0.0 setRateFailed", "paused", "timebase 0.0"], rate: 0),
        Case(
            "slow reverse is a permission of its own",
            after: [.playableItem, .capabilitiesChanged(.init(canPlayReverse: true))],
            [.setRate(-0.5)], gives: ["rate 0.0 setRateFailed"], rate: 0),
        Case(
            "fast reverse is a permission of its own",
            after: [.playableItem, .capabilitiesChanged(.init(canPlayFastReverse: true))],
            [.setRate(-2)], gives: ["rate -2.0 setRateCalled", "playing", "timebase -2.0"], rate: -2),
        Case(
            "reverse is judged when the item is ready", after: [.unknownItem, .setRate(-1)], [.itemBecameReady],
            gives: ["rate 0.0 setRateFailed", "paused"], rate: 0),
        Case(
            "an anchored rate reaches the timebase", waits: false, after: [.playableItem],
            [.setRateAtHostTime(1, anchor)],
            gives: ["rate 1.0 setRateCalled", "playing", "timebase 1.0 anchored"], rate: 1),
        Case(
            "an anchored rate reaches a running timebase", waits: false, after: playing,
            [.setRateAtHostTime(1, anchor)],
            gives: ["timebase 1.0 anchored"], rate: 1),
        Case(
            "an anchored rate waits for the first data", waits: false, after: [.unknownItem, .itemBecameReady],
            [.setRateAtHostTime(1, anchor), .data],
            gives: ["rate 1.0 setRateCalled", evaluating, "timer", "playing", "timebase 1.0 anchored"], rate: 1),
        Case(
            "a later rate drops the anchor", waits: false,
            after: [.unknownItem, .itemBecameReady, .setRateAtHostTime(1, anchor)],
            [.setRate(2), .data], gives: ["rate 2.0 setRateCalled", "playing", "timebase 2.0"], rate: 2),
        Case(
            "an anchored rate is ignored with automatic waiting", after: playing, [.setRateAtHostTime(2, anchor)],
            gives: [], rate: 1),
    ]

    @Test("F12: the timebase runs at the rate that the media allows", arguments: rates)
    private func effectiveRate(_ rate: Case) { check(rate) }

    private func check(_ testCase: Case) {
        var machine = testCase.setup
        for event in testCase.before { _ = machine.handle(event) }
        #expect(describe(testCase.events.flatMap { machine.handle($0) }) == testCase.expected)
        #expect(machine.rate == testCase.rate)
    }
}
