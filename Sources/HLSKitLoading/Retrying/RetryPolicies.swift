/// The policies for retries of failed requests.
///
/// Players, assets, image generators, ``PlaylistLoader`` and downloads use them. Policies that only apply to some of
/// them say so. Assets, image generators and single playlists have no alternative variant, and fail if a player would
/// leave a variant. A resource whose URL the user gave fails at once if it is missing (HTTP 4xx) or has the wrong
/// content. Use ``subscript(_:)`` to set policies of one class of resources. See <doc:FailuresAndRetry>.
public struct RetryPolicies: Sendable, Hashable {
    /// The waits after consecutive temporary failures (5xx, 408, 429, network).
    ///
    /// The last one repeats. The default is 0.5, 1, 2 and 4 s.
    public var delays: [Duration]
    /// The fraction, from 0 to 1, by which waits vary at random.
    ///
    /// The default is 0.25. The variation prevents many clients from returning at the same time.
    public var jitter: Double
    /// The time for which one playlist, segment number or key is retried.
    ///
    /// The default is 20 s. The time includes the attempts of all variants. `nil` stands for no limit.
    public var budget: Duration?
    /// The ``budget`` of live streams in players and downloads.
    ///
    /// The default is 60 s. Reloads are retried for 10 target durations if that is longer.
    public var liveBudget: Duration?
    /// The longest `Retry-After` to wait for.
    ///
    /// The default is 10 s.
    public var maximumRetryAfter: Duration
    /// The wait before the first retry of a missing, denied or damaged resource.
    ///
    /// The default is 0.5 s.
    public var secondAttemptDelay: Duration
    /// The number of attempts of one URL before an alternative variant is used.
    ///
    /// The default is 2. In a download, the number only applies to denied or damaged resources, and the ``budget``
    /// applies to temporary failures.
    public var attemptsPerVariant: Int
    /// The largest number of retries of one resource, or `nil` (the default) for the budget alone.
    ///
    /// A resource is a playlist, a segment number or a key.
    public var maximumRetryCount: Int?
    /// The time for which a listed live segment may not exist yet, in target durations.
    ///
    /// The default is 3. The time applies to players and downloads.
    public var liveEdgeTargetDurations: Int
    /// The number of consecutive invalid responses to reloads, or `nil` (the default) for the budget alone.
    ///
    /// Such a response, for example an error page with status 200, counts as a temporary failure. It applies to players
    /// and downloads.
    public var badReloadLimit: Int?
    /// The time for which a failed variant is avoided.
    ///
    /// The default is 60 s. During this time, a download uses the variant only after all others.
    public var penalty: Duration
    /// A Boolean value that indicates whether unavailable segments are skipped.
    ///
    /// The default is `true`. A download reports skipped segments as missing. If the value is `false`, the item or the
    /// download fails instead.
    public var skipsSegments: Bool
    /// The number of consecutive unavailable segments after which an item fails, or `nil` for no limit.
    ///
    /// The default is 5. It counts segments of one kind of media, without those marked as gaps. It applies to players,
    /// except for live streams, whose window moves on.
    public var lostSegmentLimit: Int?
    /// The time without any requested media after which an item fails, or `nil` for no limit.
    ///
    /// The default is 60 s. The limit is at least the ``budget``, or in live streams the ``liveBudget`` and 10 target
    /// durations. If that budget is `nil`, there is no limit. It applies to players.
    public var lostMediaTime: Duration?
    /// The largest number of unsuccessful requests in any 5 s of a player, asset or download.
    ///
    /// The default is 50.
    public var unsuccessfulRequestLimit: Int
    /// The largest number of unsuccessful requests between delivered segments.
    ///
    /// The default is 200. If there are more, an item or download fails, and an asset retries nothing.
    public var unsuccessfulRequestTotal: Int
    var own: [ResourceClass: RetryPolicies.Policy] = [:]

    /// Creates policies.
    public init(
        delays: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)], jitter: Double = 0.25,
        budget: Duration? = .seconds(20), liveBudget: Duration? = .seconds(60),
        maximumRetryAfter: Duration = .seconds(10), secondAttemptDelay: Duration = .milliseconds(500),
        attemptsPerVariant: Int = 2, maximumRetryCount: Int? = nil, liveEdgeTargetDurations: Int = 3,
        badReloadLimit: Int? = nil, penalty: Duration = .seconds(60), skipsSegments: Bool = true,
        lostSegmentLimit: Int? = 5, lostMediaTime: Duration? = .seconds(60),
        unsuccessfulRequestLimit: Int = 50, unsuccessfulRequestTotal: Int = 200
    ) {
        self.delays = delays
        self.jitter = jitter
        self.budget = budget
        self.liveBudget = liveBudget
        self.maximumRetryAfter = maximumRetryAfter
        self.secondAttemptDelay = secondAttemptDelay
        self.attemptsPerVariant = attemptsPerVariant
        self.maximumRetryCount = maximumRetryCount
        self.liveEdgeTargetDurations = liveEdgeTargetDurations
        self.badReloadLimit = badReloadLimit
        self.penalty = penalty
        self.skipsSegments = skipsSegments
        self.lostSegmentLimit = lostSegmentLimit
        self.lostMediaTime = lostMediaTime
        self.unsuccessfulRequestLimit = unsuccessfulRequestLimit
        self.unsuccessfulRequestTotal = unsuccessfulRequestTotal
    }

    /// Policies without any limits, which never give up or skip a segment.
    ///
    /// Use them for replays in which only the network determines the result.
    public static let patient = RetryPolicies(
        budget: nil, liveBudget: nil, attemptsPerVariant: .max, skipsSegments: false, lostSegmentLimit: nil,
        lostMediaTime: nil, unsuccessfulRequestLimit: .max,
        unsuccessfulRequestTotal: .max)
}
