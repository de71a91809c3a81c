import HLSKitLoading

/// Decides whether segment bodies are read further.
///
/// While the buffer has no room, a body waits at its server.
struct BodyReading: Sendable {
    struct Facts: Sendable, Hashable {
        var ahead = Duration.zero
        var byteCount = 0
        /// The amount of media that the segment may load, or nil if other players do not limit it.
        var limit: Duration?
        /// The bytes received from segments that are not read to their end.
        var waitingByteCount = 0
        /// The number of segments in the same lane that are read before this one.
        var index = 0
    }

    let buffering: BufferingConfiguration
    let maximumWaitingByteCount: Int

    /// Whether to stop reading a segment that is already being demuxed. Only long segments reach this limit.
    ///
    /// - Parameter wish: The amount of media that the app wants to have ahead.
    func stops(_ facts: Facts, preference: Duration?) -> Bool {
        let ahead = max(buffering.forwardDuration, preference ?? .zero)
        return facts.ahead > ahead * 2 || facts.byteCount > buffering.maxBufferBytes * 2
            || facts.limit.map { facts.ahead > $0 } ?? false
    }

    /// Whether to stop reading a segment before its turn because too many bytes already wait.
    ///
    /// This happens if the segment's size was guessed too low.
    func holdsBack(_ facts: Facts) -> Bool { facts.index > 0 && facts.waitingByteCount > maximumWaitingByteCount }

    func resumes(_ facts: Facts) -> Bool {
        facts.ahead <= buffering.forwardDuration && facts.byteCount <= buffering.maxBufferBytes
            && (facts.index == 0 || facts.waitingByteCount <= maximumWaitingByteCount / 2)
            && facts.limit.map { facts.ahead + facts.ahead <= $0 } ?? true
    }
}
