/// What an engine keeps of its requests, across playlists and variants.
struct LoadingState: Sendable {
    private var lastRequest = 0
    private var lastSegment = 0
    var requests = FewEntries<RequestID, RequestContext>()
    var estimator = ThroughputEstimator()
    var penalties: PenaltyBox<Int>
    /// Media playlists of renditions that failed.
    var renditionPenalties: PenaltyBox<String>
    var retries: RetrySchedule<RequestRole>
    var bucket: RequestRateLimit
    /// Requests that wait for another try, by what they are for.
    var waiting: [RequestRole: [WaitingRequest]] = [:]
    var selector: any VariantSelector
    /// What to expect before anything was measured.
    var hint: Double?
    /// Servers whose connections carry several responses at once.
    private(set) var multiplexedOrigins: Set<Origin> = []
    private let seed: UInt64
    private var lastMultiplexedURL: String?

    init(configuration: EngineConfiguration) {
        selector = configuration.selector
        retries = RetrySchedule(policies: configuration.retryPolicies, seed: configuration.seed)
        bucket = RequestRateLimit(policies: configuration.retryPolicies)
        penalties = PenaltyBox(duration: configuration.retryPolicies.penalty)
        renditionPenalties = PenaltyBox(duration: configuration.retryPolicies.penalty)
        hint = configuration.initialBitRateHint
        seed = configuration.seed
    }

    /// Forgets the failures of an item: roles and variants of the next one are others.
    mutating func forgetFailures() {
        retries = RetrySchedule(policies: retries.policies, seed: seed)
        penalties = PenaltyBox(duration: penalties.duration)
        renditionPenalties = PenaltyBox(duration: penalties.duration)
        waiting = [:]
    }

    /// Closes the account of a role that is over.
    mutating func forget(_ role: RequestRole) {
        retries.succeed(role)
        waiting[role] = nil
    }

    mutating func makeRequestID() -> RequestID {
        lastRequest += 1
        return RequestID(rawValue: lastRequest)
    }

    mutating func makeSegmentID(in lane: LaneID) -> SegmentID {
        lastSegment += 1
        return SegmentID(lane: lane, rawValue: lastSegment)
    }

    /// Counts bytes of a request and tells what they are of; nil for one that is over.
    mutating func note(_ byteCount: Int, of id: RequestID, at now: Duration) -> RequestContext.Subject? {
        estimator.received(id.rawValue, byteCount: byteCount, at: now)
        return requests[id]?.note(byteCount)
    }

    /// Notes over which protocol a request was answered.
    mutating func note(_ metrics: TransferMetrics, of context: RequestContext) {
        guard ["h2", "h3"].contains(metrics.protocolName), context.url != lastMultiplexedURL else { return }
        lastMultiplexedURL = context.url
        if let origin = Origin(of: context.url) { multiplexedOrigins.insert(origin) }
    }

    /// The bytes that came of a segment.
    func receivedByteCount(of flight: SegmentInFlight) -> Int {
        flight.request.flatMap { requests[$0]?.receivedByteCount } ?? flight.receivedByteCount
    }

    /// What is known of the throughput.
    func estimate(at now: Duration) -> ThroughputEstimate? {
        estimator.estimate(at: now) ?? hint.map { ThroughputEstimate(bitsPerSecond: $0, confidence: 0) }
    }

    /// Bits per second that the next bytes are expected to come with.
    func estimatedBitsPerSecond(at now: Duration) -> Double? { estimator.bitsPerSecond(at: now) ?? hint }
}

/// What a request is for.
struct RequestContext: Sendable {
    enum Purpose: Sendable {
        case firstPlaylist
        case mediaPlaylist(LaneID, isReload: Bool, variantIndex: Int?)
        case segment(SegmentID)
        /// Of the stream that the segment belongs to.
        case head(SegmentID)
        case resource(ResourceID, LaneID)

        func isPlaylist(of lane: LaneID) -> Bool {
            if case .mediaPlaylist(lane, _, _) = self { true } else { false }
        }

        var lane: LaneID? {
            switch self {
            case .firstPlaylist: nil
            case .mediaPlaylist(let lane, _, _), .resource(_, let lane): lane
            case .segment(let segment), .head(let segment): segment.lane
            }
        }
    }

    var purpose: Purpose
    var url: String
    var began: Duration
    var receivedByteCount = 0
    /// When the response came, and the length that it declared.
    var responded: Duration?
    var declaredByteCount: Int?
    /// Its bytes come from memory.
    var isFromCache = false
    /// When the rule last had a look at the download.
    var judged = Duration.zero

    enum Subject { case segment(SegmentID), other }

    fileprivate mutating func note(_ byteCount: Int) -> Subject {
        receivedByteCount += byteCount
        return if case .segment(let segment) = purpose { .segment(segment) } else { .other }
    }
}

/// A request that failed and is made again when its time comes.
enum WaitingRequest: Sendable {
    case firstPlaylist
    case mediaPlaylist(LaneID)
    case segment(SegmentID)
    case resource(ResourceID, LaneID)
}
