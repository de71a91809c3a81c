import Synchronization

/// One presentation of an asset: how it is to be played, and where its media goes.
///
/// Belongs to at most one player.
public final class PlayerItem: Sendable {
    private struct State {
        var preferences = PlayerItemPreferences()
        var forwardPlaybackEndTime: Duration?
        var start: Duration?
        var writers: [any MediaWriter] = []
        weak var core: PlayerCore?
        /// It has been some player's, which it stays.
        var isTaken = false
        /// It is in the queue of its player now.
        var isQueued = false
        /// What became of it, once it was taken out of its player.
        var last: PlayerState?
        var error: PlayerError?
    }

    /// What a player has to know of an item before it loads it.
    struct Wishes {
        var preferences: PlayerItemPreferences
        var forwardPlaybackEndTime: Duration?
        var start: Duration?
    }

    /// The multivariant or media playlist, or a media file without a playlist, as an absolute URL.
    public let url: String
    private let state = Mutex(State())

    /// No I/O takes place before the item becomes a player's current one, or soon will.
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
            core?.control(.setPreferences(newValue), of: self)
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
            core?.control(.setForwardPlaybackEndTime(newValue), of: self)
        }
    }

    /// Adds an output. Outputs are taken over when the item is loaded: add them before it becomes a player's.
    public func add(_ writer: any MediaWriter) {
        state.withLock { $0.writers.append(writer) }
    }

    /// Why the item failed; nil while it has not.
    public var error: PlayerError? {
        let (core, last) = state.withLock { ($0.isQueued ? $0.core : nil, $0.error) }
        return core?.read(of: self) { $0.item?.error } ?? last
    }

    /// The player that the item belongs to.
    var attachedCore: PlayerCore? { state.withLock(\.core) }

    var writers: [any MediaWriter] { state.withLock(\.writers) }

    // MARK: For its player

    var wishes: Wishes {
        state.withLock { state in
            Wishes(
                preferences: state.preferences, forwardPlaybackEndTime: state.forwardPlaybackEndTime,
                start: state.start)
        }
    }

    /// Whether it can become an item of a player: it is nobody's, or was this player's and has not failed.
    func canAttach(to core: PlayerCore) -> Bool {
        state.withLock { Self.canAttach($0, to: core) }
    }

    private static func canAttach(_ state: State, to core: PlayerCore) -> Bool {
        !state.isTaken || (state.core === core && !state.isQueued && state.error == nil)
    }

    /// Ties the item to a player. False where it belongs to one.
    func attach(to core: PlayerCore) -> Bool {
        state.withLock { state in
            guard Self.canAttach(state, to: core) else { return false }
            state.isTaken = true
            state.isQueued = true
            state.core = core
            return true
        }
    }

    /// The item is not in its player's queue any more: what it shows stays as it was last; nil where it was not loaded.
    func freeze(_ last: PlayerState?, error: PlayerError?) {
        state.withLock { state in
            state.isQueued = false
            if let last { state.last = last }
            state.error = error
        }
    }
}

extension PlayerItem: Identifiable {}
