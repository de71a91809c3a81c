/// What an engine keeps of its requests, across playlists and variants.
struct LoadingState: Sendable {
    private var lastSegment = 0
    var requests = RequestTable()
    var estimator = ThroughputEstimator()
    var failures: FailurePolicy<RequestRole>
    /// What to expect before anything was measured.
    var hint: Double?
    /// Servers whose connections carry several responses at once.
    private(set) var multiplexedOrigins: Set<Origin> = []
    private var lastMultiplexedURL: String?

    init(configuration: EngineConfiguration) {
        failures = FailurePolicy(policies: configuration.retryPolicies, seed: configuration.seed)
        hint = configuration.initialBitRateHint
    }

    /// Forgets the failures of an item: roles and variants of the next one are others.
    mutating func forgetFailures() {
        failures.forgetFailures()
        requests.forgetWaiting()
    }

    /// Closes the account of a role that is over.
    mutating func forget(_ role: RequestRole) {
        failures.succeed(role)
        _ = requests.takeWaiting(role)
    }

    mutating func makeSegmentID(in lane: LaneID) -> SegmentID {
        lastSegment += 1
        return SegmentID(lane: lane, rawValue: lastSegment)
    }

    // MARK: Requests

    mutating func begin(_ purpose: RequestPurpose, url: String, isReload: Bool, at now: Duration) -> RequestID {
        let id = requests.begin(purpose, url: url, isReload: isReload, at: now)
        if purpose.isMeasured { estimator.started(id.rawValue, at: now) }
        return id
    }

    /// The request is over, delivered or not; nil for one that already was.
    @discardableResult
    mutating func end(_ id: RequestID, at now: Duration) -> RequestUnderWay? {
        guard let request = requests.end(id) else { return nil }
        estimator.ended(id.rawValue, at: now)
        return request
    }

    mutating func respond(_ id: RequestID, _ response: TransportResponse, at now: Duration) {
        let isFromCache = response.wasReadFromCache
        if isFromCache {
            estimator.forget(id.rawValue, at: now)
        } else {
            estimator.responded(id.rawValue, at: now)
        }
        requests.respond(id, contentLength: response.contentLength, isFromCache: isFromCache, at: now)
    }

    /// Counts bytes of a request and tells what they are of; nil for one that is over.
    mutating func receive(_ byteCount: Int, of id: RequestID, at now: Duration) -> RequestUnderWay.Receipt? {
        estimator.received(id.rawValue, byteCount: byteCount, at: now)
        return requests.receive(byteCount, of: id)
    }

    /// Notes over which protocol a request was answered.
    mutating func note(_ metrics: TransferMetrics, of request: RequestUnderWay) {
        guard ["h2", "h3"].contains(metrics.protocolName), request.url != lastMultiplexedURL else { return }
        lastMultiplexedURL = request.url
        if let origin = Origin(of: request.url) { multiplexedOrigins.insert(origin) }
    }

    /// The bytes that came of a segment.
    func receivedByteCount(of flight: SegmentInFlight) -> Int {
        flight.request.flatMap { requests[$0]?.receivedByteCount } ?? flight.receivedByteCount
    }

    // MARK: Throughput

    /// What is known of the throughput.
    func estimate(at now: Duration) -> ThroughputEstimate? {
        estimator.estimate(at: now) ?? hint.map { ThroughputEstimate(bitsPerSecond: $0, confidence: 0) }
    }

    /// Bits per second that the next bytes are expected to come with.
    func estimatedBitsPerSecond(at now: Duration) -> Double? { estimator.bitsPerSecond(at: now) ?? hint }
}
