package import HLSKitPlaylist

/// Finds the live edge if a cache delivers an old playlist.
///
/// The age of the first response gives the current end of the playlist. The next request asks for exactly that end,
/// which no older copy can contain.
///
/// This happens once. The second response is accepted regardless of its age, because an age that does not fall is
/// wrong.
///
/// Source: rfc8216bis, appendix C ("Low-Latency Server Configuration Profile", tuning in); RFC 9111 §5.1.
package struct TuneIn: Sendable {
    /// The largest plausible age. A larger one means that a clock is wrong.
    fileprivate static let oldest = Duration.seconds(86_400)

    /// The time to wait for a part that should be available.
    package static let patience = Duration.seconds(2)

    package private(set) var awaited: PartPosition?
    private var isSpent = false

    package init() {}

    /// Returns the part to request before the playlist is usable, or nil if the playlist is as new as possible.
    ///
    /// - Parameters:
    ///   - age: The age in the response, or nil if there is none.
    ///   - isDirected: Whether the request had delivery directives, so that the response cannot be an old copy.
    package mutating func await(after list: MediaPlaylist, age: Duration?, isDirected: Bool) -> PartPosition? {
        guard !isSpent, awaited == nil, !isDirected, let age, age <= Self.oldest, let target = list.partTarget,
            target > .zero, age >= target, LowLatencyProfile(of: list, isAllowed: true) == .lowLatency
        else {
            end()
            return nil
        }
        awaited = list.position(after: age, partTarget: target)
        isSpent = true
        return awaited
    }

    /// - Returns: Whether a part was requested.
    package mutating func giveUp() -> Bool {
        defer { awaited = nil }
        return awaited != nil
    }

    private mutating func end() {
        awaited = nil
        isSpent = true
    }
}

extension MediaPlaylist {
    /// Returns the last listed part of a playlist of this age.
    fileprivate func position(after age: Duration, partTarget: Duration) -> PartPosition? {
        let media = trailingParts.reduce(.zero) { $0 + $1.duration } + age
        // Implausible durations would give quotients that overflow.
        let shortest = Duration.milliseconds(1)
        guard let length = segments.last?.duration, length >= shortest, partTarget >= shortest,
            media <= TuneIn.oldest * 2
        else { return nil }
        let whole = Int(media / length)
        let rest = media - length * whole
        let (count, overflow) = segments.count.addingReportingOverflow(whole)
        let (sequence, isTooFar) = mediaSequence.addingReportingOverflow(count)
        guard !overflow, !isTooFar, sequence >= 0 else { return nil }
        let parts = Int(rest / partTarget)
        // A segment that has just begun may have no part yet, but the previous segment is complete.
        return parts > 0 ? PartPosition(sequence: sequence, part: parts - 1) : PartPosition(sequence: sequence - 1)
    }
}
