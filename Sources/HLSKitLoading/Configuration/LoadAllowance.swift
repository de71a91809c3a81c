/// The share that one of several players may load.
package struct LoadAllowance: Sendable, Hashable {
    /// Bytes that it may hold; nil means no bound but its own.
    package var byteCount: Int?
    /// Media that it may hold ahead of the playhead; nil means no bound but its own.
    package var duration: Duration?
    /// A player of a higher priority waits for media.
    package var yields = false

    package static let everything = LoadAllowance()

    package var isLimited: Bool { byteCount != nil || duration != nil }

    /// The rest of it beyond what is held already.
    package func reduced(by byteCount: Int, _ duration: Duration) -> LoadAllowance {
        var rest = self
        if let limit = self.byteCount { rest.byteCount = max(0, limit - min(limit, byteCount)) }
        if let limit = self.duration { rest.duration = max(.zero, limit - min(limit, duration)) }
        return rest
    }
}
