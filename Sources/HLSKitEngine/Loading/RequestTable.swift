import HLSKitLoading

/// The requests of a player: those in progress, and failed ones that wait for a retry.
struct RequestTable: Sendable {
    private var lastID = 0
    private var underWay = SmallMap<RequestID, InFlightRequest>()
    private var waiting = SmallMap<RequestRole, [RequestPurpose]>()

    // MARK: Requests in progress

    subscript(id: RequestID) -> InFlightRequest? {
        _read { yield underWay[id] }
    }

    mutating func begin(_ purpose: RequestPurpose, url: String, isReload: Bool = false, at now: Duration) -> RequestID {
        lastID += 1
        let id = RequestID(rawValue: lastID)
        underWay[id] = InFlightRequest(purpose: purpose, url: url, isReload: isReload, began: now, judged: now)
        return id
    }

    mutating func end(_ id: RequestID) -> InFlightRequest? { underWay.removeValue(forKey: id) }

    mutating func receive(_ byteCount: Int, of id: RequestID) -> InFlightRequest.Receipt? {
        underWay[id]?.receive(byteCount)
    }

    mutating func respond(
        _ id: RequestID, contentLength: Int?, isFromCache: Bool, age: Duration? = nil, at now: Duration
    ) {
        underWay[id]?.age = age
        if isFromCache { underWay[id]?.isFromCache = true }
        underWay[id]?.responded = now
        underWay[id]?.declaredByteCount = contentLength
    }

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

    mutating func takeWaiting(_ role: RequestRole) -> [RequestPurpose]? { waiting.removeValue(forKey: role) }

    @discardableResult
    mutating func forgetWaiting() -> [RequestRole] {
        defer { waiting = SmallMap() }
        return waiting.keys
    }
}

struct InFlightRequest: Sendable {
    fileprivate(set) var purpose: RequestPurpose
    let url: String
    let isReload: Bool
    let began: Duration
    fileprivate(set) var receivedByteCount = 0
    fileprivate(set) var responded: Duration?
    fileprivate(set) var declaredByteCount: Int?
    /// The age of the response, if a cache reports it.
    fileprivate(set) var age: Duration?
    /// Whether the bytes come from a cache, or were requested earlier because of a preload hint.
    fileprivate(set) var isFromCache = false
    /// The time at which the rule last evaluated the download.
    fileprivate(set) var judged: Duration

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
