/// The share of media that one of several players may load.
package struct LoadAllowance: Sendable, Hashable {
    /// The bytes that the player may hold, or nil for no additional limit.
    package var byteCount: Int?
    /// The duration of media that the player may hold after the playhead, or nil for no additional limit.
    package var duration: Duration?
    package var yields = false

    package static let everything = LoadAllowance()

    package var isLimited: Bool { byteCount != nil || duration != nil }

    package func reduced(by byteCount: Int, _ duration: Duration) -> LoadAllowance {
        var rest = self
        if let limit = self.byteCount { rest.byteCount = max(0, limit - min(limit, byteCount)) }
        if let limit = self.duration { rest.duration = max(.zero, limit - min(limit, duration)) }
        return rest
    }
}
