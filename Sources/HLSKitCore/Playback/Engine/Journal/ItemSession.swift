import Synchronization

/// One use of an item by a player: what names it to servers, and where what is measured goes.
struct ItemSession: Sendable, Hashable {
    /// A UUID.
    let id: String
    /// nil where nobody can ask.
    var diary: ItemDiary?

    static func == (one: Self, other: Self) -> Bool { one.id == other.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What outlives the engine's knowledge of an item: its logs once it is over, and those who listen to its metrics.
final class ItemDiary: Sendable, Hashable {
    private struct State {
        var journal: SessionJournal?
        var metrics = Broadcast<any MetricEvent>()
    }

    private let state = Mutex(State())

    /// The journal of the session that ended last.
    var journal: SessionJournal? { state.withLock(\.journal) }
    /// The measurements of the session that goes on, or of the next one.
    var metrics: Broadcast<any MetricEvent> { state.withLock(\.metrics) }

    func take(_ entry: DiaryEntry) {
        switch entry {
        case .metric(let event): metrics.send(event)
        case .closed(var journal):
            // It knows this diary, which keeps it: neither would ever go.
            journal.session.diary = nil
            let ended = journal
            let metrics = state.withLock { state in
                state.journal = ended
                defer { state.metrics = Broadcast() }
                return state.metrics
            }
            metrics.close()
        }
    }

    static func == (one: ItemDiary, other: ItemDiary) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What an engine tells a diary.
enum DiaryEntry: Sendable {
    case metric(any MetricEvent)
    case closed(SessionJournal)
}

/// Makes random UUIDs (RFC 9562 §5.4); from the same seed the same ones.
struct SessionIDGenerator: Sendable {
    private var random: SplitMix64?

    /// nil takes the system's randomness.
    init(seed: UInt64?) {
        // Not the numbers that the jitter of retries is made of.
        random = seed.map { SplitMix64(seed: $0 ^ 0x5E55_1014_1D00_0000) }
    }

    mutating func next() -> String {
        var high = number()
        var low = number()
        high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Self.hexadecimal(high) + Self.hexadecimal(low)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }

    private mutating func number() -> UInt64 {
        if random != nil { return random?.next() ?? 0 }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
