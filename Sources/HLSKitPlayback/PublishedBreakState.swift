import HLSKitEngine
import HLSKitLoading
import HLSKitSelection
import HLSKitTime

/// The interstitial events reported to the app, and the detection of changes.
struct PublishedBreakState: Sendable {
    private var revision = 0
    private(set) var events: [InterstitialEvent] = []
    private var skippable = InterstitialEvent.SkippableEventState.notSkippable
    /// The time of the timer that checks ``skippable`` again.
    private var wakes: Duration?

    /// Returns the events to report now, in order.
    ///
    /// - Parameter offset: The offset into the current asset, or `nil` if none plays.
    mutating func report(_ stage: inout BreakController, offset: Duration?) -> [PlayerEvent.Kind] {
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

    /// Returns the time of the next check, when the current event becomes skippable or stops being skippable.
    ///
    /// Returns `nil` if time alone changes nothing.
    mutating func wake(for stage: BreakController, offset: Duration, rate: Double, at now: Duration) -> Duration? {
        guard rate > 0, let program = stage.program, let elapsed = program.eventOffset(at: offset),
            let next = program.nextSkippableChange(after: elapsed)
        else { return nil }
        // Add a moment, so that the time is reached in spite of rounding.
        let time = now + (next - elapsed) / rate + .milliseconds(1)
        if let wakes, wakes > now, abs(wakes - time) < .milliseconds(2) { return nil }
        wakes = time
        return time
    }
}
