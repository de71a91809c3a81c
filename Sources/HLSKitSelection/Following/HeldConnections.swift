/// Whether a server keeps connections: where it closes each, every part costs a handshake, and often a slow start.
///
/// Answers to requests that were held tell: the connection of one was idle when the next was sent, however many others there
/// are. One new connection is no sign, as others may have been busy; a second in a row is, and holds from then on.
package struct HeldConnections: Sendable {
    private static let limit = 2

    private var newCount = 0

    package init() {}

    /// Connections are kept as far as is known.
    package var areKept: Bool { newCount < Self.limit }

    /// An answer to a request that was held has come.
    ///
    /// - Parameter isNew: over a connection that was made for it, and that carries one request at a time.
    package mutating func noteAnswer(isNew: Bool) {
        guard areKept else { return }
        newCount = isNew ? newCount + 1 : 0
    }
}
