import HLSKitLoading

/// The requests of a player: those in progress, and failed ones that wait for a retry.
struct RequestTable: Sendable {
    private var lastID = 0
    private var underWay = FewEntries<RequestID, RequestUnderWay>()
    /// The waiting requests by role.
    private var waiting = FewEntries<RequestRole, [RequestPurpose]>()

    // MARK: Requests in progress

    subscript(id: RequestID) -> RequestUnderWay? {
        _read { yield underWay[id] }
    }

    mutating func begin(_ purpose: RequestPurpose, url: String, isReload: Bool = false, at now: Duration) -> RequestID {
        lastID += 1
        let id = RequestID(rawValue: lastID)
        underWay[id] = RequestUnderWay(purpose: purpose, url: url, isReload: isReload, began: now, judged: now)
        return id
    }

    /// Ends a request. Returns `nil` if it had already ended.
    mutating func end(_ id: RequestID) -> RequestUnderWay? { underWay.removeValue(forKey: id) }

    /// Counts received bytes and returns the segment they belong to, or `nil` if the request has ended.
    mutating func receive(_ byteCount: Int, of id: RequestID) -> RequestUnderWay.Receipt? {
        underWay[id]?.receive(byteCount)
    }

    /// Called when the response header arrives.
    mutating func respond(
        _ id: RequestID, contentLength: Int?, isFromCache: Bool, age: Duration? = nil, at now: Duration
    ) {
        underWay[id]?.age = age
        if isFromCache { underWay[id]?.isFromCache = true }
        underWay[id]?.responded = now
        underWay[id]?.declaredByteCount = contentLength
    }

    /// Notes that the rule evaluates the download now.
    mutating func judge(_ id: RequestID, at now: Duration) { underWay[id]?.judged = now }

    /// Changes the purpose of a request, so that it serves another lane.
    mutating func pass(_ id: RequestID, to purpose: RequestPurpose) { underWay[id]?.purpose = purpose }

    /// The IDs of matching requests in progress, oldest first.
    func ids(where isMeant: (RequestPurpose) -> Bool) -> [RequestID] {
        underWay.keys.filter { underWay[$0].map { isMeant($0.purpose) } ?? false }.sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: Waiting requests

    /// Adds a request to those that wait for the retry of its role.
    mutating func wait(for purpose: RequestPurpose) {
        guard let role = purpose.role else { return }
        waiting[role] = (waiting[role] ?? []) + [purpose]
    }

    /// As ``wait(for:)``, but replaces all waiting requests of the same role.
    mutating func waitAlone(for purpose: RequestPurpose) {
        guard let role = purpose.role else { return }
        waiting[role] = [purpose]
    }

    func isWaiting(_ role: RequestRole) -> Bool { waiting[role] != nil }

    /// Removes and returns the waiting requests of a role, or returns `nil` if there were none.
    mutating func takeWaiting(_ role: RequestRole) -> [RequestPurpose]? { waiting.removeValue(forKey: role) }

    /// Removes all waiting requests.
    ///
    /// - Returns: The roles of the removed requests.
    @discardableResult
    mutating func forgetWaiting() -> [RequestRole] {
        defer { waiting = FewEntries() }
        return waiting.keys
    }
}

/// A request in progress.
struct RequestUnderWay: Sendable {
    fileprivate(set) var purpose: RequestPurpose
    let url: String
    /// Whether an update of a known playlist is requested.
    let isReload: Bool
    let began: Duration
    fileprivate(set) var receivedByteCount = 0
    /// The time at which the response header arrived, and the length that it declared.
    fileprivate(set) var responded: Duration?
    fileprivate(set) var declaredByteCount: Int?
    /// The age of the response, if a cache reports it.
    fileprivate(set) var age: Duration?
    /// Whether the bytes come from memory.
    fileprivate(set) var isFromCache = false
    /// The time at which the rule last evaluated the download.
    fileprivate(set) var judged: Duration

    /// The origin of received bytes.
    struct Receipt: Sendable, Hashable {
        /// `nil` if the bytes do not belong to a segment.
        var segment: SegmentID?
        var isFromCache: Bool
    }

    fileprivate mutating func receive(_ byteCount: Int) -> Receipt {
        receivedByteCount += byteCount
        return Receipt(segment: purpose.segment, isFromCache: isFromCache)
    }

    fileprivate init(purpose: RequestPurpose, url: String, isReload: Bool, began: Duration, judged: Duration) {
        self.purpose = purpose
        self.url = url
        self.isReload = isReload
        self.began = began
        self.judged = judged
    }
}
