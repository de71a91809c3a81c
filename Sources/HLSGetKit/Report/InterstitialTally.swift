import HLSKitCore

struct InterstitialTally: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        var id: String
        var outcome: InterstitialEvent.Outcome
        var itemTime: Double?
        var played: Double
    }

    private var entries: [Entry] = []
    private var place: Double?

    mutating func observe(_ kind: PlayerEvent.Kind) {
        switch kind {
        case .interstitialBreakBegan(let time): place = time.finiteSeconds
        case .interstitialEventEnded(let event, let outcome, let played):
            entries.append(
                Entry(id: event.id, outcome: outcome, itemTime: place, played: played.finiteSeconds ?? 0))
        default: break
        }
    }

    private static let order: [(outcome: InterstitialEvent.Outcome, words: String, name: String)] = [
        (.played, "played", "played"), (.playedInPart, "played in part", "played_in_part"),
        (.skipped, "skipped", "skipped"), (.cancelled, "cancelled", "cancelled"), (.left, "left", "left"),
        (.failed, "failed", "failed"),
    ]

    private func count(_ outcome: InterstitialEvent.Outcome) -> Int { entries.count { $0.outcome == outcome } }
    private var played: Double { entries.reduce(0) { $0 + $1.played } }

    /// Text such as `0:45 of 3 interstitials: 2 played, 1 failed`, or `nil` without interstitials.
    var text: String? {
        guard !entries.isEmpty else { return nil }
        let counts = Self.order.compactMap { count($0.outcome) > 0 ? "\(count($0.outcome)) \($0.words)" : nil }
        return "\(Decimals.length(played)) of \(Decimals.count(entries.count, "interstitial")): "
            + counts.joined(separator: ", ")
    }

    var json: JSONValue? {
        guard !entries.isEmpty else { return nil }
        let counts = Self.order.map { JSONValue.Member(name: $0.name, value: .integer(count($0.outcome))) }
        let events = entries.map { entry in
            JSONValue.object([
                .init(name: "id", value: .string(Redaction.text(entry.id))),
                .init(name: "reason", value: .string(entry.outcome.rawValue)),
                .init(name: "item_time", value: JSONValue(entry.itemTime)),
                .init(name: "media_duration", value: .number(entry.played)),
            ])
        }
        return .object(
            counts + [
                .init(name: "media_duration", value: .number(played)), .init(name: "events", value: .array(events)),
            ])
    }
}
