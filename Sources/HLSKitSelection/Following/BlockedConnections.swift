/// Whether a server keeps connections open. If it closes each, every part costs a handshake, and often a slow start.
///
/// Only responses to blocking requests count. Their connection was idle when the next request was sent, even if there
/// are other connections. One new connection proves nothing, because the others may have been busy. Two in a row settle
/// it for good.
package struct BlockedConnections: Sendable {
    private static let limit = 2

    private var newCount = 0

    package init() {}

    package var areKept: Bool { newCount < Self.limit }

    /// - Parameter isNew: Whether the request needed a new connection that carries one request at a time.
    package mutating func noteAnswer(isNew: Bool) {
        guard areKept else { return }
        newCount = isNew ? newCount + 1 : 0
    }
}
