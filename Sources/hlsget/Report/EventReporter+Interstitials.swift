import HLSKitCore
import HLSTime

/// Lines about interstitials.
extension EventReporter {
    /// The line for an event about interstitials; nil for any other.
    static func interstitialLine(for kind: PlayerEvent.Kind, at time: Duration) -> String? {
        switch kind {
        case .interstitialEventsChanged(let events):
            line("interstitials", at: time, ["ids": .array(events.map { .string($0.id) })])
        case .interstitialBreakBegan(let place):
            line("break_began", at: time, ["item_time": JSONValue(place.finiteSeconds)])
        case .interstitialEventBegan(let event): line("interstitial_began", at: time, ["id": .string(event.id)])
        case .interstitialEventEnded(let event, let outcome, let played):
            line(
                "interstitial_ended", at: time,
                [
                    "id": .string(event.id), "outcome": .string(outcome.rawValue),
                    "played": JSONValue(played.finiteSeconds),
                ])
        case .interstitialBreakEnded(let place):
            line("break_ended", at: time, ["item_time": JSONValue(place?.finiteSeconds)])
        case .interstitialAssetListStatusChanged(let event, let status):
            line("asset_list", at: time, ["id": .string(event.id), "status": .string(status.rawValue)])
        case .interstitialSkippableStateChanged(let event, let state):
            line("interstitial_skippable", at: time, ["id": .string(event.id), "state": .string(state.rawValue)])
        case .interstitialSeekRefused(let event):
            line("seek_refused", at: time, ["interstitial": .string(event.id)])
        default: nil
        }
    }
}
