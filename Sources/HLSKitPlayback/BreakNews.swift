import HLSKitEngine
import HLSKitLoading
import HLSKitSelection
import HLSKitTime

/// What programs were told of interstitials, and what that comes to when something has changed.
struct BreakNews: Sendable {
    private var revision = 0
    private(set) var events: [InterstitialEvent] = []
    private var skippable = InterstitialEvent.SkippableEventState.notSkippable
    /// When the timer rings that looks at ``skippable`` again.
    private var wakes: Duration?

    /// What is to be told now, in order.
    ///
    /// - Parameter offset: into the asset that plays; nil where none does.
    mutating func tell(_ stage: inout BreakStage, offset: Duration?) -> [PlayerEvent.Kind] {
        var kinds: [PlayerEvent.Kind] = []
        if stage.schedule.revision != revision {
            revision = stage.schedule.revision
            let new = stage.schedule.events
            if new != events { kinds.append(.interstitialEventsChanged(new)) }
            events = new
        }
        for news in stage.takeNews() {
            switch news {
            case .breakBegan(let time): kinds.append(.interstitialBreakBegan(at: MediaTime(time)))
            case .eventBegan(let event):
                skippable = .notSkippable
                kinds.append(.interstitialEventBegan(event))
            case .eventFailed(let event, let error): kinds.append(.interstitialEventFailed(event, error))
            case .eventEnded(let ending):
                skippable = .notSkippable
                kinds.append(
                    .interstitialEventEnded(ending.event, ending.outcome, played: MediaTime(ending.played)))
            case .breakEnded(let time):
                kinds.append(.interstitialBreakEnded(resumingAt: time.map { MediaTime($0) }))
            case .listChanged(let change):
                guard let event = events.first(where: { $0.id == change.id }) else { continue }
                kinds.append(.interstitialAssetListStatusChanged(event, change.status))
            }
        }
        guard let program = stage.program, let event = program.current else { return kinds }
        let state = program.skippableEventState(at: offset ?? .zero)
        if state != skippable {
            skippable = state
            kinds.append(.interstitialSkippableStateChanged(event, state))
        }
        return kinds
    }

    /// When to look again, because what plays may be skipped from then on, or no longer; nil where nothing changes by time.
    ///
    /// - Parameters:
    ///   - offset: into the asset that plays.
    ///   - rate: at which it plays.
    mutating func wake(for stage: BreakStage, offset: Duration, rate: Double, at now: Duration) -> Duration? {
        guard rate > 0, let program = stage.program, let elapsed = program.eventOffset(at: offset),
            let next = program.nextSkippableChange(after: elapsed)
        else { return nil }
        // A moment later: it is reached then, however times are rounded.
        let time = now + (next - elapsed) / rate + .milliseconds(1)
        if let wakes, wakes > now, abs(wakes - time) < .milliseconds(2) { return nil }
        wakes = time
        return time
    }
}
