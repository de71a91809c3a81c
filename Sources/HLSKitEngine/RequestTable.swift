import HLSKitLoading

/// The requests of a player: those under way, and those that failed and wait for another try.
struct RequestTable: Sendable {
    private var lastID = 0
    private var underWay = FewEntries<RequestID, RequestUnderWay>()
    /// By what they are for.
    private var waiting = FewEntries<RequestRole, [RequestPurpose]>()

    // MARK: Under way

    subscript(id: RequestID) -> RequestUnderWay? {
        _read { yield underWay[id] }
    }

    mutating func begin(_ purpose: RequestPurpose, url: String, isReload: Bool = false, at now: Duration) -> RequestID {
        lastID += 1
        let id = RequestID(rawValue: lastID)
        underWay[id] = RequestUnderWay(purpose: purpose, url: url, isReload: isReload, began: now, judged: now)
        return id
    }

    /// The request is over; nil for one that already was.
    mutating func end(_ id: RequestID) -> RequestUnderWay? { underWay.removeValue(forKey: id) }

    /// Counts bytes and tells what they are of; nil for a request that is over.
    mutating func receive(_ byteCount: Int, of id: RequestID) -> RequestUnderWay.Receipt? {
        underWay[id]?.receive(byteCount)
    }

    /// The response header came.
    mutating func respond(
        _ id: RequestID, contentLength: Int?, isFromCache: Bool, age: Duration? = nil, at now: Duration
    ) {
        underWay[id]?.age = age
        if isFromCache { underWay[id]?.isFromCache = true }
        underWay[id]?.responded = now
        underWay[id]?.declaredByteCount = contentLength
    }

    /// The rule has a look at the download.
    mutating func judge(_ id: RequestID, at now: Duration) { underWay[id]?.judged = now }

    /// What was asked for on behalf of one lane is now for another.
    mutating func pass(_ id: RequestID, to purpose: RequestPurpose) { underWay[id]?.purpose = purpose }

    /// Those under way that `isMeant` is true of, the first asked for first.
    func ids(where isMeant: (RequestPurpose) -> Bool) -> [RequestID] {
        underWay.keys.filter { underWay[$0].map { isMeant($0.purpose) } ?? false }.sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: Waiting

    /// Lets a request wait until its role is called for.
    mutating func wait(for purpose: RequestPurpose) {
        guard let role = purpose.role else { return }
        waiting[role] = (waiting[role] ?? []) + [purpose]
    }

    /// As ``wait(for:)``, in the place of all that waits for the same role.
    mutating func waitAlone(for purpose: RequestPurpose) {
        guard let role = purpose.role else { return }
        waiting[role] = [purpose]
    }

    func isWaiting(_ role: RequestRole) -> Bool { waiting[role] != nil }

    /// What waited for the role, and waits no longer; nil where nothing did.
    mutating func takeWaiting(_ role: RequestRole) -> [RequestPurpose]? { waiting.removeValue(forKey: role) }

    /// Nothing waits any more.
    ///
    /// - Returns: the roles for which something did.
    @discardableResult
    mutating func forgetWaiting() -> [RequestRole] {
        defer { waiting = FewEntries() }
        return waiting.keys
    }
}

/// A request whose bytes are on their way.
struct RequestUnderWay: Sendable {
    fileprivate(set) var purpose: RequestPurpose
    let url: String
    /// A newer state is asked for of a playlist that is known.
    let isReload: Bool
    let began: Duration
    fileprivate(set) var receivedByteCount = 0
    /// When the response came, and the length that it declared.
    fileprivate(set) var responded: Duration?
    fileprivate(set) var declaredByteCount: Int?
    /// How old the answer is, where a cache tells.
    fileprivate(set) var age: Duration?
    /// Its bytes come from memory.
    fileprivate(set) var isFromCache = false
    /// When the rule last had a look at the download.
    fileprivate(set) var judged: Duration

    /// What bytes are of that came.
    struct Receipt: Sendable, Hashable {
        /// nil where they are of something else.
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
