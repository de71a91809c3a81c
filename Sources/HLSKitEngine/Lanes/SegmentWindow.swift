import HLSKitSelection

/// The requested segments of a lane that are not completely demuxed, in order.
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

    /// Whether any segment has arrived, even if it is not demuxed yet.
    var hasLoaded: Bool { flights.contains(where: \.isLoaded) }
    /// The first segment that is still being loaded, which is needed next.
    var loading: SegmentInFlight? { flights.first { !$0.isLoaded } }
    var demuxedEnd: Duration? { flights.compactMap(\.demuxedUpTo).max() }
    func first(needing resource: ResourceID) -> SegmentInFlight? { flights.first { $0.job.needs(resource) } }

    // MARK: Progress

    mutating func append(_ flight: SegmentInFlight) { flights.append(flight) }

    /// Called when the bytes of a segment are requested from the beginning.
    ///
    /// - Returns: Whether an earlier segment is still loading.
    mutating func request(_ id: SegmentID, as request: RequestID, at now: Duration) -> Bool {
        guard let index = firstIndex(of: id) else { return false }
        let isConcurrent = flights[..<index].contains { !$0.isLoaded }
        flights[index].request(request, isConcurrent: isConcurrent, at: now)
        return isConcurrent
    }

    mutating func load(_ id: SegmentID, byteCount: Int) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].load(byteCount)
    }

    mutating func fail(_ id: SegmentID) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].fail()
    }

    mutating func demux(_ id: SegmentID, upTo time: Duration) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].demuxedUpTo = time
    }

    mutating func suspend(_ id: SegmentID, _ isSuspended: Bool = true) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].isSuspended = isSuspended
    }

    /// Puts the failure of a segment aside until the segment is needed next, or ends this.
    mutating func park(_ id: SegmentID, _ isParked: Bool = true) {
        guard let index = firstIndex(of: id) else { return }
        flights[index].isParked = isParked
    }

    // MARK: Ends

    @discardableResult
    mutating func remove(_ id: SegmentID) -> SegmentInFlight? {
        firstIndex(of: id).map { flights.remove(at: $0) }
    }

    /// - Returns: The removed segments, in order.
    @discardableResult
    mutating func remove(where isOver: (SegmentInFlight) -> Bool) -> [SegmentInFlight] {
        let removed = flights.filter(isOver)
        if !removed.isEmpty { flights.removeAll(where: isOver) }
        return removed
    }

    mutating func removeAll() { flights = [] }
}

/// A segment from its choice to the end of its demuxing.
struct SegmentInFlight: Sendable {
    let id: SegmentID
    /// The segment to which failures are attributed: this one, or the one in another variant that it replaces.
    let role: SegmentID
    let position: SegmentPosition
    var job: SegmentJob
    let byteRange: Range<UInt64>?
    let playlistURL: String
    let variantIndex: Int?
    /// The current request, or `nil` while a failed request waits for its retry.
    private(set) var request: RequestID?
    private(set) var requestBegan = Duration.zero
    /// The size of a finished download. During the download, its request has the count.
    private(set) var receivedByteCount = 0
    fileprivate(set) var demuxedUpTo: Duration?
    private(set) var isLoaded = false
    fileprivate(set) var isSuspended = false
    /// Whether another segment of the lane was loading when this one was requested.
    private(set) var isPrefetched = false
    /// Whether the segment failed before it was needed, and now waits until it is.
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

    var purpose: RequestPurpose { .segment(id, role: role) }
    var listedEnd: Duration { job.start + job.duration }

    fileprivate mutating func request(_ id: RequestID, isConcurrent: Bool, at now: Duration) {
        request = id
        requestBegan = now
        receivedByteCount = 0
        isLoaded = false
        if isConcurrent { isPrefetched = true }
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
