/// Derives the periods of playing, waiting and pausing from a player's reports.
struct SessionTimeline: Sendable {
    enum Mark: Sendable, Equatable {
        /// The status as the log names it.
        case status(String, reason: String?, rate: Double?)
        case rate(Double)
        case stall, seek, seekEnded
    }

    private struct Entry: Sendable, Equatable {
        var time: Double
        var mark: Mark
        var itemTime: Double?
    }

    /// The maximum time between the two lines that report a stall.
    private static let slack = 0.25
    /// Shorter periods are merged into the following one.
    private static let shortest = 0.02

    private var entries = ThinnedList<Entry>(limit: 40_000)

    init() {}

    mutating func note(_ mark: Mark, at time: Double, itemTime: Double?) {
        entries.append(Entry(time: time, mark: mark, itemTime: itemTime)) { entry in
            if case .rate = entry.mark { false } else { true }
        }
    }

    /// The periods from 0 to `end`, or none if no status was reported.
    func spells(until end: Double) -> [SessionRecord.Spell] {
        let numbered = entries.elements.enumerated()
        let sorted = numbered.sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        guard sorted.contains(where: { if case .status = $0.mark { true } else { false } }) else { return [] }
        let stallTimes = sorted.filter { $0.mark == .stall }.map(\.time)
        var state = State()
        var spells: [SessionRecord.Spell] = []
        var (since, itemTime) = (0.0, Double?.none)
        func close(at time: Double) {
            guard time > since else { return }
            if let last = spells.last, last.activity == state.activity {
                spells[spells.count - 1].end = time
            } else {
                spells.append(.init(start: since, end: time, activity: state.activity, itemTime: itemTime))
            }
        }
        for entry in sorted {
            let before = state.activity
            var next = state
            next.take(entry.mark, isStall: Self.isNear(entry.time, stallTimes))
            guard next.activity != before else {
                state = next
                continue
            }
            close(at: entry.time)
            (state, since, itemTime) = (next, entry.time, entry.itemTime)
        }
        close(at: end)
        return Self.smooth(spells)
    }

    private static func isNear(_ time: Double, _ times: [Double]) -> Bool {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time - slack { low = middle + 1 } else { high = middle }
        }
        return low < times.count && times[low] <= time + slack
    }

    private static func smooth(_ spells: [SessionRecord.Spell]) -> [SessionRecord.Spell] {
        var result: [SessionRecord.Spell] = []
        var start: Double?
        for (index, spell) in spells.enumerated() {
            var spell = spell
            if spell.duration < shortest, spells.count > 1 {
                if index == spells.count - 1, !result.isEmpty {
                    result[result.count - 1].end = spell.end
                } else {
                    start = start ?? spell.start
                }
                continue
            }
            spell.start = start ?? spell.start
            start = nil
            if let last = result.last, last.activity == spell.activity {
                result[result.count - 1].end = spell.end
            } else {
                result.append(spell)
            }
        }
        return result
    }

    private struct State {
        private var status = "paused"
        private var rate = 0.0
        private var hasPlayed = false
        private var isSeeking = false
        private var cause = SessionRecord.WaitCause.start
        private var isStalled = false

        var activity: SessionRecord.Activity {
            switch status {
            case "playing": isStalled ? .waiting(cause) : .playing
            case "waiting": .waiting(cause)
            default: .paused
            }
        }

        mutating func take(_ mark: Mark, isStall: Bool) {
            switch mark {
            case .status(let new, let reason, let newRate):
                if new == "waiting", status != "waiting" { cause = cause(reason, isStall: isStall) }
                if new == "waiting", status == "waiting", isStall { cause = .stall }
                if new == "playing" {
                    hasPlayed = true
                    isStalled = false
                }
                status = new
                if let newRate { rate = newRate }
            case .rate(let new):
                rate = new
                if new != 0 {
                    isStalled = false
                    isSeeking = false
                } else if status == "playing", hasPlayed, isStall || isSeeking {
                    // Playback has stopped although the player reports that it plays.
                    isStalled = true
                    cause = isSeeking ? .seek : .stall
                }
            case .stall:
                if status == "waiting", hasPlayed, !isSeeking { cause = .stall }
                if status == "playing", rate == 0 {
                    isStalled = true
                    cause = .stall
                }
            case .seek: isSeeking = true
            case .seekEnded: if status == "playing" { isSeeking = false }
            }
        }

        private func cause(_ reason: String?, isStall: Bool) -> SessionRecord.WaitCause {
            if isStall, hasPlayed, !isSeeking { return .stall }
            if isSeeking { return .seek }
            if !hasPlayed { return .start }
            if status == "paused" { return .resume }
            switch reason?.filter({ $0 != "_" }).lowercased() {
            case "tominimizestalls", "evaluatingbufferingrate", nil: return .other("to minimize stalls")
            case "interstitialevent": return .other("for an interstitial to end")
            case "coordinatedplayback": return .other("for other players")
            case "noitemtoplay": return .other("for an item")
            case let reason?: return .other(String(reason.prefix(60)))
            }
        }
    }
}
