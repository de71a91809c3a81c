/// Whether the partial segments of an item use separate connections.
///
/// Over HTTP/2, all requests to a server share one connection. When packets are lost, congestion control gives that
/// connection less bandwidth than the path has. A late part then delays the next one. If this happens, parts are
/// requested over HTTP/1.1 instead: each request uses its own connection, even while the previous part is still
/// arriving. Playlists keep sharing one connection.
///
/// If the server refuses such connections, the shared connection is used for the rest of the item.
struct PartConnections: Sendable, Hashable {
    /// The number of recent parts that must be late.
    private static let limit = 3
    private static let memory: UInt8 = 0b1111_1111

    private enum Choice: Sendable, Hashable { case shared, own, refused }

    /// The arrival of the last part in the playlist.
    struct Arrival: Sendable, Hashable {
        /// Whether its connection carried other requests at the same time.
        var isShared: Bool
        /// The time from when the part was listed and requested until it arrived.
        var wait: Duration
        /// The part's media duration.
        var duration: Duration
    }

    private var choice = Choice.shared
    /// One bit for each recent part, set if it was late. The lowest bit is the newest part.
    private var late: UInt8 = 0

    var areOwn: Bool { choice == .own }

    /// - Returns: Whether parts switch to separate connections now.
    mutating func note(_ arrival: Arrival) -> Bool {
        guard choice == .shared, arrival.isShared else { return false }
        late = (late << 1) & Self.memory
        // With less time to spare, a slightly slower part would miss its deadline.
        if arrival.wait > arrival.duration / 2 { late |= 1 }
        guard late.nonzeroBitCount >= Self.limit else { return false }
        choice = .own
        return true
    }

    /// Called when a separate connection cannot be opened.
    mutating func noteRefusal() { if choice == .own { choice = .refused } }
}
