import HLSKitLoading

/// Whether the bodies of segments are read on. One that there is no room for waits at its server.
struct BodyReading: Sendable {
    /// What the answer depends on.
    struct Facts: Sendable, Hashable {
        /// Media ahead of the playhead, and bytes of all media that is loaded.
        var ahead = Duration.zero
        var byteCount = 0
        /// Media that may be held of the segment; nil for as much as without other players.
        var limit: Duration?
        /// Bytes that came of segments that are not read to their end.
        var waitingByteCount = 0
        /// Segments of its lane that are read before it.
        var index = 0
    }

    let buffering: BufferingConfiguration
    /// Bytes that may wait to be read.
    let maximumWaitingByteCount: Int

    /// Whether a segment whose media is read already is not read on: only long ones get there.
    ///
    /// - Parameter wish: media that the program wants to have ahead.
    func stops(_ facts: Facts, wish: Duration?) -> Bool {
        let ahead = max(buffering.forwardDuration, wish ?? .zero)
        return facts.ahead > ahead * 2 || facts.byteCount > buffering.maxBufferBytes * 2
            || facts.limit.map { facts.ahead > $0 } ?? false
    }

    /// Whether a segment whose turn has not come is not read on: sizes were guessed, and too much waits already.
    func holdsBack(_ facts: Facts) -> Bool { facts.index > 0 && facts.waitingByteCount > maximumWaitingByteCount }

    /// Whether a body that is not read on is again: there is room, and its turn has come or little waits.
    func resumes(_ facts: Facts) -> Bool {
        facts.ahead <= buffering.forwardDuration && facts.byteCount <= buffering.maxBufferBytes
            && (facts.index == 0 || facts.waitingByteCount <= maximumWaitingByteCount / 2)
            && facts.limit.map { facts.ahead + facts.ahead <= $0 } ?? true
    }
}
