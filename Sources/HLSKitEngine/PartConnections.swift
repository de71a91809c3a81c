/// Whether the parts of an item come over connections of their own.
///
/// Over HTTP/2 all requests to a server share one connection. Where packets are lost, congestion control gives one connection
/// less than the path has, and a part that is late holds up the next. Who notices that asks for parts by HTTP/1.1: the next one
/// comes over a connection of its own while the last is on its way. Lists go on sharing one.
///
/// A server that does not take such connections is asked over the shared one again, and for good.
///
/// See docs/behaviour/live.md.
struct PartConnections: Sendable, Hashable {
    /// So many of the last parts have to be late.
    private static let limit = 3
    private static let memory: UInt8 = 0b1111_1111

    private enum Choice: Sendable, Hashable { case shared, own, refused }

    /// A part that is the last one listed has come.
    struct Arrival: Sendable, Hashable {
        /// Its connection carried others beside it.
        var isShared: Bool
        /// How long it took from when it was listed and asked for.
        var wait: Duration
        /// How long it lasts.
        var duration: Duration
    }

    private var choice = Choice.shared
    /// Of the last parts, the newest in the lowest bit.
    private var late: UInt8 = 0

    /// Parts are asked for over connections of their own.
    var areOwn: Bool { choice == .own }

    /// - Returns: whether parts come over connections of their own from now on.
    mutating func note(_ arrival: Arrival) -> Bool {
        guard choice == .shared, arrival.isShared else { return false }
        late = (late << 1) & Self.memory
        // With less time to spare the next one that takes longer is missed.
        if arrival.wait > arrival.duration / 2 { late |= 1 }
        guard late.nonzeroBitCount >= Self.limit else { return false }
        choice = .own
        return true
    }

    /// A request over a connection of its own could not be made.
    mutating func noteRefusal() { if choice == .own { choice = .refused } }
}
