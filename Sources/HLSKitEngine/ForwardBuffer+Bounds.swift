extension ForwardBuffer {
    /// What may be held beside other players.
    struct Bounds: Sendable, Hashable {
        var byteCount: Int?
        var duration: Duration?
        /// Bytes that are on their way, and those of the next segment at most.
        var pendingByteCount = 0
        var nextByteCount = 0
        /// Media that is on its way, by track.
        var pendingDurations: [Track: Duration] = [:]
        /// Others go first while there is so much media ahead; nil while they do not.
        var reserve: Duration?
    }
}

extension ForwardBuffer.Bounds {
    /// Whether the next segment goes beyond them.
    ///
    /// - Parameters:
    ///   - ahead: media ahead with it.
    ///   - byteCounts: bytes without it.
    func isExceeded(by ahead: Duration, _ byteCounts: Int...) -> Bool {
        if let duration, ahead > duration { return true }
        return byteCount.map { room in byteCounts.reduce(nextByteCount, +) > room } ?? false
    }

    /// Bytes that may be kept behind the playhead; nil for as many as one likes.
    func roomBehind(_ bytesAhead: Int) -> Int? {
        byteCount.map { max(0, $0 - bytesAhead - pendingByteCount - nextByteCount) }
    }
}
