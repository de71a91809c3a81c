public import HLSKitCore

/// A player of a ``PlayerGroup``: its settings and the items that it plays.
public struct PlayerGroupMember: Sendable {
    /// A turn of the player: an item to play, and the work to do after it.
    public struct Session: Sendable {
        /// The item to play.
        ///
        /// Each turn needs a new item, because an item that was played belongs to its player.
        public var item: PlayerItem
        /// A closure that finishes the work of the turn, such as a recording, or `nil` if there is none.
        ///
        /// It is called after the player is closed, when nothing writes anymore. Its task is cancelled when the group
        /// no longer waits for it. If it throws an error, the player has failed.
        public var finish: (@Sendable (Outcome) async throws -> Void)?

        /// Creates a turn.
        public init(item: PlayerItem, finish: (@Sendable (Outcome) async throws -> Void)? = nil) {
            self.item = item
            self.finish = finish
        }
    }

    /// The ways in which a turn can end.
    public enum Outcome: Sendable {
        /// The item has played to its end.
        case ended
        /// Playback or the final work of the turn has failed.
        case failed(any Error)
        /// The group shut down, or the player was removed from it or closed by the app.
        case stopped
    }

    /// The name of the player, unique in its group.
    ///
    /// Events, logs and metrics contain it.
    public var name: String
    /// The configuration of the player.
    public var configuration: PlayerConfiguration
    /// The policy after a failure, or `nil` (the default) for the group's policy.
    public var failurePolicy: RestartPolicy?
    /// The policy after playback to the end, or `nil` (the default) for the group's policy.
    public var endPolicy: RestartPolicy?
    /// A closure that creates the item of each turn.
    ///
    /// Turn numbers start at 1. An error counts as a failure of the player.
    public var makeSession: @Sendable (_ number: Int) async throws -> Session

    /// Creates a member that plays the items that `makeSession` creates.
    public init(
        name: String, configuration: PlayerConfiguration = PlayerConfiguration(), failurePolicy: RestartPolicy? = nil,
        endPolicy: RestartPolicy? = nil, makeSession: @escaping @Sendable (_ number: Int) async throws -> Session
    ) {
        self.name = name
        self.configuration = configuration
        self.failurePolicy = failurePolicy
        self.endPolicy = endPolicy
        self.makeSession = makeSession
    }

    /// Creates a member that plays a stream or media file.
    public init(
        name: String, urlString: String, configuration: PlayerConfiguration = PlayerConfiguration(),
        failurePolicy: RestartPolicy? = nil, endPolicy: RestartPolicy? = nil
    ) {
        self.init(
            name: name, configuration: configuration, failurePolicy: failurePolicy, endPolicy: endPolicy
        ) { _ in Session(item: PlayerItem(urlString: urlString)) }
    }
}

/// The states of a player in a group.
public enum PlayerGroupStatus: Sendable {
    /// The group is not running yet.
    case pending
    /// A turn is being prepared or played.
    case running
    /// Playback has ended, and the turn finishes its work.
    case finishing
    /// The player restarts at this time of the group's clock.
    case restarting(at: HostTime)
    /// The player has ended and does not restart.
    case over(PlayerGroupMember.Outcome)
}

/// An event of a player in a group.
public struct PlayerGroupEvent: Sendable {
    /// The name of the player.
    public var name: String
    /// The time of the event, on the group's clock.
    public var hostTime: HostTime
    /// The kind of event.
    public var kind: Kind

    /// The kinds of events.
    ///
    /// The set is open: a `switch` needs a `default`.
    public enum Kind: Sendable {
        /// The turn with this number begins.
        case began(session: Int)
        /// The player sent an event.
        case player(PlayerEvent)
        /// The turn and its final work have ended. `restartsIn` is `nil` if the player does not restart.
        case over(PlayerGroupMember.Outcome, restartsIn: Duration?)
        /// The group stopped waiting for the end of the turn, whose work may be incomplete.
        case abandoned
    }

    /// Creates an event.
    public init(name: String, hostTime: HostTime, kind: Kind) {
        self.name = name
        self.hostTime = hostTime
        self.kind = kind
    }
}
