package import HLSKitPlaylist

/// Finds the edge behind a cache: how old the first answer is says how far on the list is by now, and what is listed there is
/// asked for, which no copy of before can answer.
///
/// It is done once. The answer to that is taken, whatever age it tells: an age that does not fall is none.
///
/// Source: rfc8216bis, appendix C ("Low-Latency Server Configuration Profile", tuning in); RFC 9111 §5.1.
package struct TuneIn: Sendable {
    /// Older copies are none: somebody's clock is wrong.
    fileprivate static let oldest = Duration.seconds(86_400)

    /// How long what should be there is waited for.
    package static let patience = Duration.seconds(2)

    package private(set) var awaited: PartPosition?
    private var isSpent = false

    package init() {}

    /// What the list is to be asked for before it is of use; nil where it is as new as it can be.
    ///
    /// - Parameters:
    ///   - age: as the answer tells it; nil where it does not.
    ///   - isDirected: it was asked for by what it lists, so that it is no copy of before.
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

    /// What was asked for did not come.
    ///
    /// - Returns: whether anything was.
    package mutating func giveUp() -> Bool {
        defer { awaited = nil }
        return awaited != nil
    }

    /// An answer came.
    private mutating func end() {
        awaited = nil
        isSpent = true
    }
}

extension MediaPlaylist {
    /// What is listed last when the list is so old.
    fileprivate func position(after age: Duration, partTarget: Duration) -> PartPosition? {
        let media = trailingParts.reduce(.zero) { $0 + $1.duration } + age
        // Quotients of what no encoder makes may be larger than any number.
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
        // Of a segment that has just begun nothing may be there yet: all of the one before is.
        return parts > 0 ? PartPosition(sequence: sequence, part: parts - 1) : PartPosition(sequence: sequence - 1)
    }
}
