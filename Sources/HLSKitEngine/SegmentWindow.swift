import HLSKitSelection

/// The segments of a lane that were begun and not yet demuxed to their end, in their order.
struct SegmentWindow: Sendable, RandomAccessCollection {
    private var flights: [SegmentInFlight] = []

    var startIndex: Int { 0 }
    var endIndex: Int { flights.count }
    subscript(index: Int) -> SegmentInFlight {
        _read { yield flights[index] }
    }

    subscript(id: SegmentID) -> SegmentInFlight? {
        firstIndex(of: id).map { flights[$0] }
    }

    func firstIndex(of id: SegmentID) -> Int? { flights.firstIndex { $0.id == id } }

    /// Some segment has arrived, perhaps not yet demuxed.
    var hasLoaded: Bool { flights.contains(where: \.isLoaded) }
    /// The first segment whose bytes are on their way: the one that is needed next.
    var loading: SegmentInFlight? { flights.first { !$0.isLoaded } }
    /// Where the media ends that was read so far.
    var demuxedEnd: Duration? { flights.compactMap(\.demuxedUpTo).max() }
    /// The first segment that cannot be read without a resource.
    func first(needing resource: ResourceID) -> SegmentInFlight? { flights.first { $0.job.needs(resource) } }

    // MARK: What happens to a segment

    mutating func append(_ flight: SegmentInFlight) { flights.append(flight) }

    /// Its bytes are asked for, from the first on.
    ///
    /// - Returns: whether one before it is on its way.
    mutating func request(_ id: SegmentID, as request: RequestID, at now: Duration) -> Bool {
        guard let index = firstIndex(of: id) else { return false }
        let isBeside = flights[..<index].contains { !$0.isLoaded }
        flights[index].request(request, isBeside: isBeside, at: now)
        return isBeside
    }

    /// All its bytes are here.
    mutating func load(_ id: SegmentID, byteCount: Int) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].load(byteCount)
    }

    /// Its bytes did not come, or are of no use.
    mutating func fail(_ id: SegmentID) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].fail()
    }

    /// Its media up to `time` can be decoded.
    mutating func demux(_ id: SegmentID, upTo time: Duration) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].demuxedUpTo = time
    }

    /// Its body is not read on, or is again.
    mutating func suspend(_ id: SegmentID, _ isSuspended: Bool = true) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].isSuspended = isSuspended
    }

    /// Its failure is left aside until its turn, or no longer.
    mutating func park(_ id: SegmentID, _ isParked: Bool = true) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].isParked = isParked
    }

    // MARK: Ends

    @discardableResult
    mutating func remove(_ id: SegmentID) -> SegmentInFlight? {
        firstIndex(of: id).map { flights.remove(at: $0) }
    }

    /// - Returns: what was removed, in its order.
    @discardableResult
    mutating func remove(where isOver: (SegmentInFlight) -> Bool) -> [SegmentInFlight] {
        let removed = flights.filter(isOver)
        if !removed.isEmpty { flights.removeAll(where: isOver) }
        return removed
    }

    mutating func removeAll() { flights = [] }
}

/// A segment between its choice and the end of its demuxing.
struct SegmentInFlight: Sendable {
    let id: SegmentID
    /// What its failures are counted for: the segment itself, or the one in another variant that it stands for.
    let role: SegmentID
    let position: SegmentPosition
    var job: SegmentJob
    let byteRange: Range<UInt64>?
    let playlistURL: String
    let variantIndex: Int?
    /// nil while a failed request waits for its next try.
    private(set) var request: RequestID?
    private(set) var requestBegan = Duration.zero
    /// Of a download that is over; while it runs its request counts.
    private(set) var receivedByteCount = 0
    fileprivate(set) var demuxedUpTo: Duration?
    private(set) var isLoaded = false
    fileprivate(set) var isSuspended = false
    /// Another segment of the lane was on its way when this one was requested.
    private(set) var isPrefetched = false
    /// It failed before its turn, and waits for it.
    fileprivate(set) var isParked = false

    init(
        id: SegmentID, role: SegmentID, position: SegmentPosition, job: SegmentJob, playlistURL: String,
        byteRange: Range<UInt64>? = nil, variantIndex: Int? = nil
    ) {
        self.id = id
        self.role = role
        self.position = position
        self.job = job
        self.playlistURL = playlistURL
        self.byteRange = byteRange
        self.variantIndex = variantIndex
    }

    /// What its bytes are asked for.
    var purpose: RequestPurpose { .segment(id, role: role) }
    /// Where it ends by its playlist.
    var listedEnd: Duration { job.start + job.duration }

    fileprivate mutating func request(_ id: RequestID, isBeside: Bool, at now: Duration) {
        request = id
        requestBegan = now
        receivedByteCount = 0
        isLoaded = false
        if isBeside { isPrefetched = true }
    }

    fileprivate mutating func load(_ byteCount: Int) {
        isLoaded = true
        receivedByteCount = byteCount
        request = nil
    }

    fileprivate mutating func fail() {
        request = nil
        isLoaded = false
    }
}
