import Synchronization

/// Limits for the media that several players hold together, with priorities.
///
/// All players with the same object as their ``PlayerConfiguration/resourceBudget`` share its limits while they have an
/// item. Each may hold an equal share, within its own ``BufferingConfiguration``. It may always hold enough to continue
/// playing: one segment, or ``BufferingConfiguration/startThreshold`` if that is longer. Shares change when players
/// join or leave. If a share shrinks, the excess media is played, not dropped. Segment sizes that no playlist declares
/// are estimated from `BANDWIDTH`.
///
/// If a player waits for media or is not likely to keep up, players with a lower ``Player/networkResourcePriority``
/// yield. They start no segment while they have at least ten seconds of media to play. Recorders, which hold nothing,
/// load one segment after another. Players of equal priority do not affect each other.
///
/// Players are not retained.
public final class ResourceBudget: Sendable {
    /// The budget of all players without another one.
    ///
    /// The budget has no limits.
    public static let process = ResourceBudget()

    /// The bytes of media that all players together hold, or `nil` for no limit.
    ///
    /// Media before the playhead counts, too.
    public let maximumBufferedByteCount: Int?
    /// The duration of media that all players together hold after their playheads, or `nil` for no limit.
    public let maximumBufferedDuration: Duration?

    private struct State {
        var ledger: ResourceLedger
        var members: [Int: Reference] = [:]
        var lastNumber = 0
    }

    private struct Reference {
        weak var member: (any ResourceBudgetMember)?
    }

    private let state: Mutex<State>

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - maximumBufferedByteCount: The limit in bytes, or `nil` (the default) for no limit. A negative value counts
    ///     as 0, with which each player holds the least that it needs.
    ///   - maximumBufferedDuration: The limit as a duration, or `nil` (the default) for no limit.
    public init(maximumBufferedByteCount: Int? = nil, maximumBufferedDuration: Duration? = nil) {
        self.maximumBufferedByteCount = maximumBufferedByteCount
        self.maximumBufferedDuration = maximumBufferedDuration
        state = Mutex(
            State(ledger: ResourceLedger(byteCount: maximumBufferedByteCount, duration: maximumBufferedDuration)))
    }

    /// The number of players that share the budget now: those with an item that are not closed.
    public var playerCount: Int { state.withLock { $0.ledger.count } }

    // MARK: For players

    package func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Updates the state of a player, or removes it if `entry` is nil because it has no item. May be called with the
    /// player's lock held.
    ///
    /// - Returns: The other players to notify after all locks are released.
    package func note(
        _ entry: ResourceLedger.Entry?, of number: Int, _ member: any ResourceBudgetMember
    ) -> [any ResourceBudgetMember] {
        state.withLock { state in
            state.members[number] = entry.map { _ in Reference(member: member) }
            return state.ledger.note(entry, of: number).compactMap { state.members[$0]?.member }
        }
    }

    /// Returns the allowance of a player. May be called with the player's lock held.
    package func allowance(of number: Int) -> LoadAllowance { state.withLock { $0.ledger.allowance(of: number) } }
}

package protocol ResourceBudgetMember: AnyObject, Sendable {
    /// Called without locks, from any thread, when the load allowance has changed.
    func allowanceHasChanged()
}
