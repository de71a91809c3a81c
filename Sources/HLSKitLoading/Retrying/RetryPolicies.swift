/// How often, how soon and for how long a request that failed is made again.
///
/// Whoever loads takes them: players, assets, image generators, ``PlaylistLoader`` and downloads. A policy that
/// counts for some of them only says so; an asset, an image and a playlist that is loaded alone have no other variant to turn to and fail
/// where a player would leave one. A resource whose URL the user gave fails at once where it is not there (HTTP 4xx) or
/// not what it should be. Policies of one class of resources are set by ``subscript(_:)``.
///
/// The cost of each fault: docs/behaviour/faults.md, R1–R12, R39, R46, R49 and R74.
public struct RetryPolicies: Sendable, Hashable {
    /// Waits after the first, second, … failure that may pass (5xx, 408, 429, network); the last one repeats. Default 0.5,
    /// 1, 2, 4 s.
    public var delays: [Duration]
    /// The part by which a wait is made longer or shorter at random, from 0 to 1, so that many clients do not come back at
    /// once. Default 0.25.
    public var jitter: Double
    /// How long one playlist, segment number or key is tried, all variants together. Default 20 s; nil for ever.
    public var budget: Duration?
    /// The same for live, in players and downloads. Default 60 s; reloads are tried for 10 target durations where that is
    /// longer.
    public var liveBudget: Duration?
    /// The longest `Retry-After` that is waited for. Default 10 s.
    public var maximumRetryAfter: Duration
    /// Wait before the second try of what was not there, refused or damaged. Default 0.5 s.
    public var secondTryDelay: Duration
    /// Tries of one URL before another variant is asked, where there is one. Default 2. In a download, of what is refused or
    /// damaged; what may pass has ``budget`` there.
    public var triesPerVariant: Int
    /// The most tries of one playlist, segment number or key after the first; nil (default) leaves it to the budget.
    public var maximumRetryCount: Int?
    /// How many target durations a live segment that is listed may still not be there. Default 3. Players and downloads.
    public var liveEdgeTargetDurations: Int
    /// How many reloads in a row may bring something that is no media playlist; nil (default) leaves it to the budget: such
    /// an answer, an error page that says it is fine, passes like any other. Players and downloads.
    public var badReloadLimit: Int?
    /// How long a variant that failed is left out; in a download, how long it is asked last. Default 60 s.
    public var penalty: Duration
    /// Whether a segment that cannot be loaded is skipped; a download reports it as missing. False ends the item, or the
    /// download, instead. Default true.
    public var skipsSegments: Bool
    /// Consecutive segments of one kind of media that cannot be loaded after which the item fails. Segments that the
    /// playlist marks as gaps do not count. Not for live streams, which move on by themselves. Default 5; nil for any
    /// number. Players.
    public var lostSegmentLimit: Int?
    /// How long media that is asked for may not come at all before the item fails, whatever number of segments it takes.
    /// Not less than ``budget``, or ``liveBudget`` and 10 target durations. Default 60 s; nil, and a budget of nil, is for
    /// ever. Players.
    public var lostMediaTime: Duration?
    /// The most requests in any 5 s that brought nothing new, of one player, asset or download. Default 50.
    public var fruitlessRequestLimit: Int
    /// The most requests that brought nothing new without a delivered segment in between: then an item or a download
    /// fails, and an asset tries nothing again. Default 200.
    public var fruitlessRequestTotal: Int
    /// Of classes that have policies of their own.
    var own: [ResourceClass: RetryPolicies.Policy] = [:]

    /// Makes the default policies, unless stated otherwise.
    public init(
        delays: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)], jitter: Double = 0.25,
        budget: Duration? = .seconds(20), liveBudget: Duration? = .seconds(60),
        maximumRetryAfter: Duration = .seconds(10), secondTryDelay: Duration = .milliseconds(500),
        triesPerVariant: Int = 2, maximumRetryCount: Int? = nil, liveEdgeTargetDurations: Int = 3,
        badReloadLimit: Int? = nil, penalty: Duration = .seconds(60), skipsSegments: Bool = true,
        lostSegmentLimit: Int? = 5, lostMediaTime: Duration? = .seconds(60),
        fruitlessRequestLimit: Int = 50, fruitlessRequestTotal: Int = 200
    ) {
        self.delays = delays
        self.jitter = jitter
        self.budget = budget
        self.liveBudget = liveBudget
        self.maximumRetryAfter = maximumRetryAfter
        self.secondTryDelay = secondTryDelay
        self.triesPerVariant = triesPerVariant
        self.maximumRetryCount = maximumRetryCount
        self.liveEdgeTargetDurations = liveEdgeTargetDurations
        self.badReloadLimit = badReloadLimit
        self.penalty = penalty
        self.skipsSegments = skipsSegments
        self.lostSegmentLimit = lostSegmentLimit
        self.lostMediaTime = lostMediaTime
        self.fruitlessRequestLimit = fruitlessRequestLimit
        self.fruitlessRequestTotal = fruitlessRequestTotal
    }

    /// Never gives up and never passes anything over: for replays in which the network alone decides.
    ///
    /// See docs/behaviour/simulation.md.
    public static let patient = RetryPolicies(
        budget: nil, liveBudget: nil, triesPerVariant: .max, skipsSegments: false, lostSegmentLimit: nil,
        lostMediaTime: nil, fruitlessRequestLimit: .max,
        fruitlessRequestTotal: .max)
}
