import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection

/// What an engine keeps of its requests, across playlists and variants.
package struct LoadingState: Sendable {
    private var lastSegment = 0
    var requests = RequestTable()
    package private(set) var estimator = ThroughputEstimator()
    var failures: FailurePolicy<RequestRole>
    /// Where media comes from, and where none does.
    var folders = SilentFolders()
    /// What to expect before anything was measured.
    var hint: Double?
    /// Servers whose connections carry several responses at once.
    private(set) var multiplexedOrigins: Set<URLOrigin> = []
    private var lastMultiplexedURL: String?

    init(configuration: EngineConfiguration) {
        failures = FailurePolicy(policies: configuration.retryPolicies, seed: configuration.seed)
        hint = configuration.initialBitRateHint
    }

    /// Forgets the failures of an item: roles and variants of the next one are others.
    mutating func forgetFailures() {
        failures.forgetFailures()
        folders = SilentFolders()
        requests.forgetWaiting()
    }

    /// Closes the account of a role that is over.
    mutating func forget(_ role: RequestRole) {
        failures.succeed(role)
        _ = requests.takeWaiting(role)
    }

    /// A segment was read to its end: it and the map that it was read with have proved themselves.
    mutating func noteRead(_ flight: SegmentInFlight) {
        failures.succeed(.segment(flight.role))
        failures.succeed(.map(flight.id.lane))
        failures.deliverSegment()
        folders.noteMedia(from: flight.job.url)
    }

    /// A list came that was known.
    ///
    /// - Parameter isPatient: one without anything new does not bring the end nearer.
    mutating func noteReload(isNews: Bool, isPatient: Bool, at now: Duration) {
        if isNews { failures.deliverPlaylist() } else { failures.noteUnchanged(at: now, isPatient: isPatient) }
    }

    /// A segment failed before its turn, and waits for that.
    mutating func setAside(_ purpose: RequestPurpose, at now: Duration) {
        requests.waitAlone(for: purpose)
        failures.setAside(at: now)
    }

    mutating func makeSegmentID(in lane: LaneID) -> SegmentID {
        lastSegment += 1
        return SegmentID(lane: lane, rawValue: lastSegment)
    }

    // MARK: Requests

    mutating func begin(_ purpose: RequestPurpose, url: String, isReload: Bool, at now: Duration) -> RequestID {
        let id = requests.begin(purpose, url: url, isReload: isReload, at: now)
        // The server holds a hint: what it takes begins with the answer.
        if purpose.isMeasured, !purpose.isHint { estimator.started(id.rawValue, at: now) }
        return id
    }

    /// The request is over, delivered or not; nil for one that already was.
    @discardableResult
    mutating func end(_ id: RequestID, at now: Duration) -> RequestUnderWay? {
        guard let request = requests.end(id) else { return nil }
        estimator.ended(id.rawValue, at: now)
        return request
    }

    /// What is done about the request of a segment that is let go.
    enum Release: Sendable, Hashable {
        /// It waited for another try.
        case disarm(RequestRole)
        case cancel(RequestID)
    }

    /// Nothing more is wanted of a segment's request.
    mutating func release(_ flight: SegmentInFlight, at now: Duration) -> [Release] {
        var actions: [Release] = []
        let role = RequestRole.segment(flight.role)
        if requests.takeWaiting(role) != nil { actions.append(.disarm(role)) }
        if let request = flight.request, !flight.isLoaded {
            end(request, at: now)
            actions.append(.cancel(request))
        }
        return actions
    }

    /// Its bytes share the link with those of others that are needed first.
    mutating func noteBesideOthers(_ id: RequestID) { estimator.startedBesideOthers(id.rawValue) }

    /// It asks for a part of a segment.
    mutating func notePart(_ id: RequestID) { estimator.startedPart(id.rawValue) }

    mutating func respond(_ id: RequestID, _ response: TransportResponse, at now: Duration) {
        let isFromCache = response.wasReadFromCache || response.wasPreloaded
        if isFromCache {
            estimator.forget(id.rawValue, at: now)
        } else {
            if let purpose = requests[id]?.purpose, purpose.isHint, purpose.isMeasured {
                estimator.started(id.rawValue, at: now)
                estimator.startedBesideOthers(id.rawValue)
                estimator.startedPart(id.rawValue)
                // The part is made while it is sent.
                estimator.startedAtServersPace(id.rawValue)
            }
            estimator.responded(id.rawValue, at: now)
        }
        requests.respond(
            id, contentLength: response.contentLength, isFromCache: isFromCache, age: response.age, at: now)
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
        if let origin = URLOrigin(of: request.url) { multiplexedOrigins.insert(origin) }
    }

    /// The bytes that came of a segment.
    func receivedByteCount(of flight: SegmentInFlight) -> Int {
        flight.request.flatMap { requests[$0]?.receivedByteCount } ?? flight.receivedByteCount
    }

    // MARK: Sizes

    /// Of all that there is to come of a segment.
    func expectedByteCount(of flight: SegmentInFlight, bitRate: Double) -> Int {
        guard let request = flight.request, let context = requests[request] else { return flight.receivedByteCount }
        let told = context.declaredByteCount ?? flight.byteRange.map { Int(clamping: $0.upperBound - $0.lowerBound) }
        return max(context.receivedByteCount, told ?? Self.byteCount(flight.job.duration, bitRate: bitRate))
    }

    /// Of what there is to come of a segment, what is not here yet.
    func remainingByteCount(of flight: SegmentInFlight, bitRate: Double) -> Int {
        guard let request = flight.request, let context = requests[request] else { return 0 }
        return expectedByteCount(of: flight, bitRate: bitRate) - context.receivedByteCount
    }

    static func byteCount(_ duration: Duration, bitRate: Double) -> Int {
        Int(min(duration.seconds * bitRate / 8, 1e15))
    }

    /// The server of a segment has answered several requests on one connection.
    func isMultiplexed(_ segment: MediaSegment, in tracker: PlaylistTracker) -> Bool {
        guard !multiplexedOrigins.isEmpty, let url = URIReference.resolve(segment.uri, against: tracker.url) else {
            return false
        }
        return isMultiplexed(url)
    }

    /// The server of a URL has.
    func isMultiplexed(_ url: String) -> Bool {
        guard !multiplexedOrigins.isEmpty, let origin = URLOrigin(of: url) else { return false }
        return multiplexedOrigins.contains(origin)
    }

    // MARK: Throughput

    /// What is known of the throughput.
    func estimate(at now: Duration) -> ThroughputEstimate? {
        estimator.estimate(at: now) ?? hint.map { ThroughputEstimate(bitsPerSecond: $0, confidence: 0) }
    }

    /// Bits per second that the next bytes are expected to come with.
    package func estimatedBitsPerSecond(at now: Duration) -> Double? { estimator.bitsPerSecond(at: now) ?? hint }
}
