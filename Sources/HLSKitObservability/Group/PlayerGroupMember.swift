public import HLSKitCore

/// One player of a ``PlayerGroup``: how it is set up, and what it plays.
public struct PlayerGroupMember: Sendable {
    /// One turn of the player: an item, and what is to be done when it is over.
    public struct Turn: Sendable {
        /// A new item each time: one that was played belongs to its player.
        public var item: PlayerItem
        /// Finishes what was made of the item, such as files that are recorded. Called when the player is closed, so that
        /// nothing writes any more. Its task is cancelled when nobody waits for it any longer; an error that it throws counts as
        /// a failure of the player. nil where there is nothing to do.
        public var finish: (@Sendable (Outcome) async throws -> Void)?

        /// Makes a turn.
        public init(item: PlayerItem, finish: (@Sendable (Outcome) async throws -> Void)? = nil) {
            self.item = item
            self.finish = finish
        }
    }

    /// How a turn was over.
    public enum Outcome: Sendable {
        /// The item was played to its end.
        case ended
        /// The item could not be played, or not to its end, or what was made of it could not be finished.
        case failed(any Error)
        /// The group shut down, or the player was taken out of it, or closed by somebody else.
        case stopped
    }

    /// Tells it from the others of its group, in events, logs and metrics.
    public var name: String
    /// How the player loads and plays.
    public var configuration: PlayerConfiguration
    /// When it has failed; nil (the default) is the group's rule.
    public var failurePolicy: RestartPolicy?
    /// When it has played to its end; nil (the default) is the group's rule.
    public var endPolicy: RestartPolicy?
    /// Makes the item of each turn; the number of the turn counts from 1. What it throws is a failure of the player.
    public var makeTurn: @Sendable (_ number: Int) async throws -> Turn

    /// Makes a player that plays what `makeTurn` makes.
    public init(
        name: String, configuration: PlayerConfiguration = PlayerConfiguration(), failurePolicy: RestartPolicy? = nil,
        endPolicy: RestartPolicy? = nil, makeTurn: @escaping @Sendable (_ number: Int) async throws -> Turn
    ) {
        self.name = name
        self.configuration = configuration
        self.failurePolicy = failurePolicy
        self.endPolicy = endPolicy
        self.makeTurn = makeTurn
    }

    /// Makes a player of a stream or media file.
    public init(
        name: String, urlString: String, configuration: PlayerConfiguration = PlayerConfiguration(),
        failurePolicy: RestartPolicy? = nil, endPolicy: RestartPolicy? = nil
    ) {
        self.init(
            name: name, configuration: configuration, failurePolicy: failurePolicy, endPolicy: endPolicy
        ) { _ in Turn(item: PlayerItem(urlString: urlString)) }
    }
}

/// How a player of a group is.
public enum PlayerGroupStatus: Sendable {
    /// The group does not run yet.
    case pending
    /// A turn is prepared or played.
    case running
    /// The turn is over: what was made of it is finished.
    case finishing
    /// It is begun anew at this time of the group's clock.
    case restarting(at: HostTime)
    /// It stays as it is.
    case over(PlayerGroupMember.Outcome)
}

/// Something that happened to a player of a group.
public struct PlayerGroupEvent: Sendable {
    /// The player's name.
    public var name: String
    /// When, on the group's clock.
    public var hostTime: HostTime
    /// What.
    public var kind: Kind

    /// The kind of event. An open set: a `switch` needs a `default`.
    public enum Kind: Sendable {
        /// A turn begins, with this number.
        case began(turn: Int)
        /// The player told of something.
        case player(PlayerEvent)
        /// The turn is over, and what was made of it is finished; `restartsIn` is nil where no other one follows.
        case over(PlayerGroupMember.Outcome, restartsIn: Duration?)
        /// Nobody waits for the end of the turn any more: what was made of it may not be whole.
        case abandoned
    }

    /// Makes an event.
    public init(name: String, hostTime: HostTime, kind: Kind) {
        self.name = name
        self.hostTime = hostTime
        self.kind = kind
    }
}
