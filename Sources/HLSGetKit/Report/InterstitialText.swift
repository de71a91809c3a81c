import HLSKitCore

enum InterstitialText {
    static func line(for kind: PlayerEvent.Kind) -> String? {
        switch kind {
        case .interstitialEventBegan(let event): "hlsget: interstitial \(name(event)) begins"
        case .interstitialEventEnded(let event, let outcome, let played):
            "hlsget: interstitial \(name(event)) \(words(outcome)), \(Decimals.text(played.finiteSeconds ?? 0, places: 1)) s"
        case .interstitialEventFailed(let event, let error):
            ErrorLine.line(
                "interstitial \(name(event)): \(error.cause)", url: error.urlString, detail: error.detail,
                severity: "warning")
        case .interstitialBreakEnded(let time):
            time.map { "hlsget: back to the stream at \(Decimals.clock($0.finiteSeconds ?? .nan))" }
        case .interstitialAssetListStatusChanged(let event, .unavailable):
            ErrorLine.line(
                "interstitial \(name(event)): no asset list", url: nil, detail: nil, severity: "warning")
        case .interstitialSkippableStateChanged(let event, .eligible):
            "hlsget: interstitial \(name(event)) may be skipped now"
        case .interstitialSeekRefused(let event): "hlsget: interstitial \(name(event)) does not allow seeking"
        default: nil
        }
    }

    private static func name(_ event: InterstitialEvent) -> String { TerminalText.escaped(Redaction.text(event.id)) }

    private static func words(_ outcome: InterstitialEvent.Outcome) -> String {
        switch outcome {
        case .played: "played"
        case .playedInPart: "played in part"
        case .skipped: "skipped"
        case .cancelled: "cancelled"
        case .left: "left"
        case .failed: "failed"
        }
    }

    static func lines(for kind: PlayerEvent.Kind, at time: Duration) -> [String] {
        switch kind {
        case .interstitialEventsChanged(let events):
            return [
                EventReporter.text(
                    "interstitials", at: time,
                    [.init(name: "ids", value: .array(events.map { .string(Redaction.text($0.id)) }))])
            ]
        case .interstitialBreakBegan(let place):
            return [line("break", "begin", at: time, ("item_time", JSONValue(place.finiteSeconds)))]
        case .interstitialBreakEnded(let place):
            return [line("break", "end", at: time, ("item_time", JSONValue(place?.finiteSeconds)))]
        case .interstitialEventBegan(let event):
            return [line("interstitial", "begin", at: time, id(event))]
        case .interstitialEventEnded(let event, let outcome, let played):
            return [
                line(
                    "interstitial", "end", at: time, id(event), ("reason", .string(outcome.rawValue)),
                    ("media_duration", JSONValue(played.finiteSeconds)))
            ]
        case .interstitialEventFailed(let event, let error):
            return [
                line(
                    "interstitial", "failure", at: time, id(event), ("cause", .string(error.cause)),
                    ("url", error.urlString.map { .string(ErrorLine.bare(url: $0)) } ?? .null))
            ]
        case .interstitialAssetListStatusChanged(let event, let status):
            return [line("asset_list", status.rawValue, at: time, id(event))]
        case .interstitialSkippableStateChanged(let event, let state):
            return [line("interstitial_skippable", state.rawValue, at: time, id(event))]
        case .interstitialSeekRefused(let event):
            return [EventReporter.text("seek_refused", at: time, [.init(name: "id", value: id(event).1)])]
        default: return []
        }
    }

    private static func id(_ event: InterstitialEvent) -> (String, JSONValue) {
        ("id", .string(Redaction.text(event.id)))
    }

    private static func line(
        _ event: String, _ phase: String, at time: Duration, _ members: (String, JSONValue)...
    ) -> String {
        EventReporter.text(
            event, at: time,
            [.init(name: "phase", value: .string(phase))] + members.map { .init(name: $0.0, value: $0.1) })
    }
}
