import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// The state of an engine's requests, kept across playlists and variants.
package struct LoadingState: Sendable {
    private var lastSegment = 0
    var requests = RequestTable()
    package private(set) var estimator = ThroughputEstimator()
    var failures: FailurePolicy<RequestRole>
    var folders = SilentFolders()
    /// The bit rate to expect before any measurement.
    var hint: Double?
    /// The servers whose connections carry several responses at once.
    private(set) var multiplexedOrigins: Set<URLOrigin> = []
    private var lastMultiplexedURL: String?

    init(configuration: EngineConfiguration) {
        failures = FailurePolicy(policies: configuration.retryPolicies, seed: configuration.seed)
        hint = configuration.initialBitRateHint
    }

    /// Forgets the failures of an item, because the next item has other roles and variants.
    mutating func forgetFailures() {
        failures.forgetFailures()
        folders = SilentFolders()
        requests.forgetWaiting()
    }

    mutating func forget(_ role: RequestRole) {
        failures.succeed(role)
        _ = requests.takeWaiting(role)
    }

    /// Notes that a segment was read to its end, which proves the segment, its key and its map.
    mutating func noteRead(_ flight: SegmentInFlight) {
        failures.succeed(.segment(flight.role))
        failures.succeed(.key(flight.id.lane))
        failures.succeed(.map(flight.id.lane))
        failures.deliverSegment()
        folders.noteMedia(from: flight.job.url)
    }

    /// Notes a reload of a known playlist.
    ///
    /// - Parameter isPatient: Whether an unchanged playlist does not bring the item closer to failing.
    mutating func noteReload(isNews: Bool, isPatient: Bool, at now: Duration) {
        if isNews { failures.deliverPlaylist() } else { failures.noteUnchanged(at: now, isPatient: isPatient) }
    }

    /// Sets aside a segment that failed before its turn.
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
        // The server holds a request for a hint, so measuring begins with the response.
        if purpose.isMeasured, !purpose.isHint { estimator.started(id.rawValue, at: now) }
        return id
    }

    /// Ends a request, whether or not it was delivered. Returns nil if it had already ended.
    @discardableResult
    mutating func end(_ id: RequestID, at now: Duration) -> InFlightRequest? {
        guard let request = requests.end(id) else { return nil }
        estimator.ended(id.rawValue, at: now)
        return request
    }

    enum Release: Sendable, Hashable {
        case disarm(RequestRole)
        case cancel(RequestID)
    }

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

    /// Notes that a request shares the link with more urgent ones.
    mutating func noteConcurrentStart(_ id: RequestID) { estimator.startedConcurrently(id.rawValue) }

    mutating func notePart(_ id: RequestID) { estimator.startedPart(id.rawValue) }

    mutating func respond(_ id: RequestID, _ response: TransportResponse, at now: Duration) {
        let isFromCache = response.wasReadFromCache || response.wasPreloaded
        if isFromCache {
            estimator.forget(id.rawValue, at: now)
        } else {
            if let purpose = requests[id]?.purpose, purpose.isHint, purpose.isMeasured {
                estimator.started(id.rawValue, at: now)
                estimator.startedConcurrently(id.rawValue)
                estimator.startedPart(id.rawValue)
                // The server produces the part while it sends it.
                estimator.startedAtServersPace(id.rawValue)
            }
            estimator.responded(id.rawValue, at: now)
        }
        requests.respond(
            id, contentLength: response.contentLength, isFromCache: isFromCache, age: response.age, at: now)
    }

    mutating func receive(_ byteCount: Int, of id: RequestID, at now: Duration) -> InFlightRequest.Receipt? {
        estimator.received(id.rawValue, byteCount: byteCount, at: now)
        return requests.receive(byteCount, of: id)
    }

    mutating func note(_ metrics: TransferMetrics, of request: InFlightRequest) {
        guard ["h2", "h3"].contains(metrics.protocolName), request.url != lastMultiplexedURL else { return }
        lastMultiplexedURL = request.url
        if let origin = URLOrigin(of: request.url) { multiplexedOrigins.insert(origin) }
    }

    func receivedByteCount(of flight: SegmentInFlight) -> Int {
        flight.request.flatMap { requests[$0]?.receivedByteCount } ?? flight.receivedByteCount
    }

    // MARK: Sizes

    func expectedByteCount(of flight: SegmentInFlight, bitRate: Double) -> Int {
        guard let request = flight.request, let context = requests[request] else { return flight.receivedByteCount }
        let declared =
            context.declaredByteCount ?? flight.byteRange.map { Int(clamping: $0.upperBound - $0.lowerBound) }
        return max(context.receivedByteCount, declared ?? Self.byteCount(flight.job.duration, bitRate: bitRate))
    }

    func remainingByteCount(of flight: SegmentInFlight, bitRate: Double) -> Int {
        guard let request = flight.request, let context = requests[request] else { return 0 }
        return expectedByteCount(of: flight, bitRate: bitRate) - context.receivedByteCount
    }

    static func byteCount(_ duration: Duration, bitRate: Double) -> Int {
        Int(min(duration.seconds * bitRate / 8, 1e15))
    }

    var hasMultiplexed: Bool { !multiplexedOrigins.isEmpty }

    func isMultiplexed(_ segment: MediaSegment, in tracker: PlaylistTracker) -> Bool {
        guard !multiplexedOrigins.isEmpty, let url = URIReference.resolve(segment.uri, against: tracker.url) else {
            return false
        }
        return isMultiplexed(url)
    }

    /// Returns whether a URL's server has sent several responses on one connection.
    func isMultiplexed(_ url: String) -> Bool {
        guard !multiplexedOrigins.isEmpty, let origin = URLOrigin(of: url) else { return false }
        return multiplexedOrigins.contains(origin)
    }

    // MARK: Throughput

    var latency: Duration { estimator.meanLatency }

    func estimate(at now: Duration) -> ThroughputEstimate? {
        estimator.estimate(at: now) ?? hint.map { ThroughputEstimate(bitsPerSecond: $0, confidence: 0) }
    }

    package func estimatedBitsPerSecond(at now: Duration) -> Double? { estimator.bitsPerSecond(at: now) ?? hint }
}
