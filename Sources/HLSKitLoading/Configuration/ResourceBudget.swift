import Synchronization

/// Limits that several players share: how much they hold together, and whose needs come first.
///
/// Players whose ``PlayerConfiguration/resourceBudget`` is the same object share it as long as they have an item. Each
/// may hold its part of the limits, all parts being equal, within its own ``BufferingConfiguration``, but always what
/// lets it play on: one segment, or ``BufferingConfiguration/startThreshold`` where that is longer. Parts change when
/// players come and go; what is held beyond one that has become smaller is played, not dropped. Sizes of segments that no
/// playlist tells are expected as `BANDWIDTH` says.
///
/// While a player waits for media, or is not likely to keep up, players with a lower ``Player/networkResourcePriority``
/// begin no segment as long as they have at least ten seconds of media to play; recorders, which hold nothing, load one
/// segment after another. Players of equal priority do not mind each other.
///
/// Players are not retained.
///
/// See docs/loading.md; D10.
public final class ResourceBudget: Sendable {
    /// The one of all players that are given no other: without limits.
    public static let process = ResourceBudget()

    /// Bytes of media that all players together hold in their buffers, those behind the playhead included; nil means no
    /// limit.
    public let maximumBufferedByteCount: Int?
    /// Media that all players together hold ahead of their playheads; nil means no limit.
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

    /// - Parameters:
    ///   - maximumBufferedByteCount: nil (the default) means no limit; below 0 is 0, with which each player holds the
    ///   least that
    ///     lets it play.
    ///   - maximumBufferedDuration: the same in time.
    public init(maximumBufferedByteCount: Int? = nil, maximumBufferedDuration: Duration? = nil) {
        self.maximumBufferedByteCount = maximumBufferedByteCount
        self.maximumBufferedDuration = maximumBufferedDuration
        state = Mutex(
            State(ledger: ResourceLedger(byteCount: maximumBufferedByteCount, duration: maximumBufferedDuration)))
    }

    /// Players that share it now: those that have an item and are not closed.
    public var playerCount: Int { state.withLock { $0.ledger.count } }

    // MARK: For players

    /// The number under which a player will be known.
    package func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Takes in what has become of a player; nil: it has no item any more. May be called under the player's lock.
    ///
    /// - Returns: the others to notify, after all locks are free.
    package func note(
        _ entry: ResourceLedger.Entry?, of number: Int, _ member: any ResourceBudgetMember
    ) -> [any ResourceBudgetMember] {
        state.withLock { state in
            state.members[number] = entry.map { _ in Reference(member: member) }
            return state.ledger.note(entry, of: number).compactMap { state.members[$0]?.member }
        }
    }

    /// May be called under the player's lock.
    package func allowance(of number: Int) -> LoadAllowance { state.withLock { $0.ledger.allowance(of: number) } }
}

/// A player as its ``ResourceBudget`` knows it.
package protocol ResourceBudgetMember: AnyObject, Sendable {
    /// Its load allowance changed. Called without locks, from any thread.
    func allowanceHasChanged()
}
