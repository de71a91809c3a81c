extension ForwardBuffer {
    /// The limits that other players impose on the buffer.
    struct Bounds: Sendable, Hashable {
        var byteCount: Int?
        var duration: Duration?
        /// The bytes in flight, and the maximum size of the next segment.
        var pendingByteCount = 0
        var nextByteCount = 0
        var pendingDurations: [Track: Duration] = [:]
        /// The amount of media ahead above which other players have priority, or nil if they have none.
        var reserve: Duration?
    }
}

extension ForwardBuffer.Bounds {
    /// Returns whether the next segment would exceed the limits.
    ///
    /// - Parameters:
    ///   - ahead: The duration of media ahead, including the segment.
    ///   - byteCounts: The bytes without the segment.
    func isExceeded(by ahead: Duration, _ byteCounts: Int...) -> Bool {
        if let duration, ahead > duration { return true }
        return byteCount.map { room in byteCounts.reduce(nextByteCount, +) > room } ?? false
    }

    /// Returns the bytes that may be kept behind the playhead, or nil for no limit.
    func roomBehind(_ bytesAhead: Int) -> Int? {
        byteCount.map { max(0, $0 - bytesAhead - pendingByteCount - nextByteCount) }
    }
}
