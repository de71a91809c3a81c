import Synchronization

/// One presentation of an asset: how it is to be played, and where its media goes.
///
/// Belongs to at most one player.
public final class PlayerItem: Sendable {
    private struct State {
        var preferences = PlayerItemPreferences()
        var forwardPlaybackEndTime: Duration?
        var writers: [any MediaWriter] = []
        var core: PlayerCore?
        var isTaken = false
    }

    /// The multivariant or media playlist, or a media file without a playlist, as an absolute URL.
    public let url: String
    let diary = ItemDiary()
    private let state = Mutex(State())

    /// No I/O takes place before the item becomes a player's current one.
    public init(url: String) {
        self.url = url
    }

    /// Limits and choices, read at each decision: a change takes effect at the next segment.
    public var preferences: PlayerItemPreferences {
        get { state.withLock(\.preferences) }
        set {
            let core = state.withLock { state in
                state.preferences = newValue
                return state.core
            }
            core?.control(.setPreferences(newValue))
        }
    }

    /// Item time at which playing ends, before the end of the media; nil (the default) plays all.
    public var forwardPlaybackEndTime: Duration? {
        get { state.withLock(\.forwardPlaybackEndTime) }
        set {
            let core = state.withLock { state in
                state.forwardPlaybackEndTime = newValue
                return state.core
            }
            core?.control(.setForwardPlaybackEndTime(newValue))
        }
    }

    /// Adds an output. Outputs are taken over when the item becomes current: add them before.
    public func add(_ writer: any MediaWriter) {
        state.withLock { $0.writers.append(writer) }
    }

    /// Why the item failed; nil while it has not.
    public var error: PlayerError? {
        state.withLock(\.core)?.read { $0.item?.error }
    }

    var core: PlayerCore? { state.withLock(\.core) }
    var writers: [any MediaWriter] { state.withLock(\.writers) }

    /// Ties the item to a player. False where it belongs to one.
    func attach(to core: PlayerCore) -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            state.core = core
            return true
        }
    }

    /// Presses the item's wishes on the engine that now plays it.
    func applyWishes(to core: PlayerCore) {
        let (preferences, end) = state.withLock { ($0.preferences, $0.forwardPlaybackEndTime) }
        core.control(.setPreferences(preferences))
        if let end { core.control(.setForwardPlaybackEndTime(end)) }
    }
}
