/// The share that one of several players may load.
struct LoadAllowance: Sendable, Hashable {
    /// Bytes that it may hold; nil means no bound but its own.
    var byteCount: Int?
    /// Media that it may hold ahead of the playhead; nil means no bound but its own.
    var duration: Duration?
    /// A player of a higher priority waits for media.
    var yields = false

    static let everything = LoadAllowance()

    var isLimited: Bool { byteCount != nil || duration != nil }

    /// The rest of it beyond what is held already.
    func reduced(by byteCount: Int, _ duration: Duration) -> LoadAllowance {
        var rest = self
        if let limit = self.byteCount { rest.byteCount = max(0, limit - min(limit, byteCount)) }
        if let limit = self.duration { rest.duration = max(.zero, limit - min(limit, duration)) }
        return rest
    }
}
