import HLSKitTime
import Testing

@testable import HLSKitEngine

/// The suite runs the machine at random, tracks the facts on its own and compares after each step.
@Suite("Time control, random walks")
struct TimeControlMachineWalkTests {
    @Test(
        "no sequence of events breaks the invariants of the table", .timeLimit(.minutes(10)),
        arguments: [1, 2] as [UInt64])
    func walk(seed: UInt64) {
        let stepCount = 500_000
        var walk = Walk(seed: seed)
        for step in 0..<stepCount {
            if let broken = walk.step() {
                Issue.record("step \(step): \(broken); last events: \(walk.recent)")
                return
            }
        }
        #expect(walk.visited.count == TimeControlStatus.allCases.count)
        #expect(walk.stallCount > stepCount / 1000)
    }
}

private struct Walk {
    typealias Machine = TimeControlMachine

    var machine = Machine()
    var random: SplitMix64
    var recent: [Machine.Event] = []
    var visited: Set<TimeControlStatus> = []
    var stallCount = 0

    private var waits = true
    private var hasItem = false
    private var isReady = false
    private var buffer = Machine.BufferState()
    private var hasSeekOutside = false
    private var hasSeek = false
    private var isInterstitialRunning = false
    private var mayReverse = false
    private var mustChangeItem = false

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func step() -> String? {
        let event = nextEvent()
        let old = (status: machine.status, reason: machine.reasonForWaitingToPlay, timebase: machine.timebaseRate)
        recent.append(event)
        if recent.count > 8 { recent.removeFirst() }
        let outputs = machine.handle(event)
        visited.insert(machine.status)
        return violation(of: outputs, event: event) ?? mismatch(of: outputs, old: old)
    }

    private mutating func chance(_ oneIn: UInt64) -> Bool { random.next() % oneIn == 0 }

    private mutating func randomBuffer() -> Machine.BufferState {
        if chance(3) { return .init() }
        return .init(isEmpty: false, isFull: chance(4), isLikelyToKeepUp: chance(2))
    }

    private mutating func randomRate() -> Float {
        let rates: [Float] = [0, 0.5, 1, 1, 1, 2, 3, 8, -0.5, -1, -3, .nan]
        return rates[Int(random.next() % UInt64(rates.count))]
    }

    private mutating func nextEvent() -> Machine.Event {
        if mustChangeItem { return changeItem() }
        switch random.next() % 32 {
        case 0...3:
            return .play(defaultRate: 1)
        case 4...5:
            if chance(2) { return .setRate(randomRate()) }
            buffer = hasItem ? randomBuffer() : buffer
            // An ignored rate must not change the buffer.
            return .setRate(chance(2) ? 1 : 2, buffer: buffer)
        case 6: return .playImmediately(atRate: randomRate())
        case 7: return .setRateAtHostTime(1, .init(itemTime: .zero, hostTime: .zero))
        case 8:
            waits = !chance(3)
            return .setAutomaticallyWaits(waits)
        case 9: return .setActionAtItemEnd([.pause, .advance, .none][Int(random.next() % 3)])
        case 10: return changeItem()
        case 11...12:
            isReady = hasItem && (isReady || !hasFailed)
            return .itemBecameReady
        case 13:
            guard chance(8) else { return .mediaPresented }
            hasFailed = hasItem
            isReady = false
            return .itemFailed
        case 14:
            mayReverse = chance(2) && hasItem
            return .capabilitiesChanged(
                .init(
                    canPlayFastForward: chance(2), canPlayReverse: mayReverse, canPlaySlowReverse: mayReverse,
                    canPlayFastReverse: mayReverse))
        case 15...20:
            buffer = hasItem ? randomBuffer() : buffer
            return .bufferChanged(buffer)
        case 21: return .mediaPresented
        case 22: return .throughputSample
        case 23: return .evaluationTimeout
        case 24:
            hasSeek = hasItem
            let isInside = chance(2)
            hasSeekOutside = hasItem && !isInside
            if hasSeekOutside { buffer = .init() }
            return .seekAccepted(isTargetBuffered: isInside)
        case 25...27:
            if hasSeek { buffer = randomBuffer() }
            (hasSeek, hasSeekOutside) = (false, false)
            return chance(4) ? .seekCancelled(buffer) : .seekCompleted(buffer)
        case 28: return .reachedEnd
        case 29: return chance(2) ? .reachedStart(isReverseEnd: chance(2)) : .endMoved
        case 30: return .reachedLiveEdge
        default:
            isInterstitialRunning = chance(3)
            return .interstitialChanged(isRunning: isInterstitialRunning)
        }
    }

    private var hasFailed = false

    private mutating func changeItem() -> Machine.Event {
        mustChangeItem = false
        hasItem = !chance(4)
        (hasSeek, hasSeekOutside, hasFailed) = (false, false, false)
        isReady = hasItem && chance(2)
        buffer = hasItem ? randomBuffer() : .init()
        mayReverse = false
        guard hasItem else { return .itemChanged(nil) }
        return .itemChanged(
            .init(status: isReady ? .readyToPlay : .unknown, buffer: buffer, hasPresentedMedia: chance(4)))
    }

    /// Returns the first broken invariant after an event (docs/reference/playback.md, "Invariants").
    private mutating func violation(of outputs: [Machine.Output], event: Machine.Event) -> String? {
        let status = machine.status
        let reason = machine.reasonForWaitingToPlay
        mustChangeItem = outputs.contains(.advanceToNextItem)
        if mustChangeItem { return nil }  // The next event changes the item.
        if (reason != nil) != (status == .waitingToPlayAtSpecifiedRate) { return "a reason exactly while waiting" }
        if (status == .paused) != (machine.rate == 0) { return "paused exactly at rate 0" }
        if status == .playing, !hasItem || !isReady || buffer.isEmpty { return "playing needs a ready item with data" }
        if status == .playing, hasSeekOutside || isInterstitialRunning { return "playing over a seek or interstitial" }
        if status != .playing, machine.timebaseRate != 0 { return "the timebase runs only while playing" }
        if !waits, reason == .toMinimizeStalls { return "toMinimizeStalls without automatic waiting" }
        let canPlay = hasItem && isReady && !buffer.isEmpty && !hasSeekOutside && !isInterstitialRunning
        if status == .waitingToPlayAtSpecifiedRate, canPlay, buffer.isFull || buffer.isLikelyToKeepUp || !waits {
            return "waiting although it could play"
        }
        if status == .playing, !hasSeek, machine.timebaseRate == 0 { return "playing without a running timebase" }
        if machine.timebaseRate < 0, !mayReverse, case .setRate = event { return "reverse without permission" }
        return nil
    }

    private mutating func mismatch(
        of outputs: [Machine.Output], old: (status: TimeControlStatus, reason: WaitingReason?, timebase: Float)
    ) -> String? {
        var announced = old
        for output in outputs {
            switch output {
            case .stalled:
                stallCount += 1
                if old.status != .playing { return "a stall without playback" }
            case .statusChanged(let before, let after, let reason, let rate):
                if before != announced.status { return "a status change from another status" }
                if after == announced.status, reason == announced.reason { return "a change of nothing" }
                if rate != machine.rate { return "a status change with another rate" }
                announced.status = after
                announced.reason = reason
            case .timebase(let rate, _): announced.timebase = rate
            default: break
            }
        }
        if announced.status != machine.status || announced.reason != machine.reasonForWaitingToPlay {
            return "an unannounced status"
        }
        return announced.timebase == machine.timebaseRate ? nil : "an unannounced timebase rate"
    }
}
