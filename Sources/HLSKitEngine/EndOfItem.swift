import HLSKitLoading
import HLSKitSelection

/// Decides whether an item is over, and whether that is its end or a failure.
struct EndOfItem: Sendable {
    /// Outputs that do not come to an end time are not waited for any longer.
    private static let longestWait = Duration.seconds(1)

    /// Up to when outputs are waited for at an end time.
    private var deadline: Duration?
    /// Nothing of a kind of media could be decoded from the playhead's last place to the end.
    @Shared private var undecodable: HLSError? = nil

    /// What the end depends on.
    struct Facts {
        /// No further media will be loaded, and all of it was presented.
        var isComplete = false
        var isDrained = false
        /// Any media was handed on.
        var hasPresentable = false
        /// Why there is nothing to present of what was loaded; nil where there is something.
        var missing: HLSError?
        /// Loading cannot go on: what the item fails with when it was played.
        var pendingFailure: HLSError?
        /// Time has come to where that is missed; to the end time that is set; to where playing ends.
        var isAtFailure = false
        var isAtEndTime = false
        var isAtEnd = false
        /// Media is played, and neither a seek nor subtitles are waited for.
        var mayEnd = false
        /// The last segments could not be had, more than one of them.
        var loss: HLSError?
        var awaitsOutputs = false
    }

    enum Action: Sendable {
        /// There is nothing to play, or not all of it.
        case fail(HLSError)
        /// What could not go on is played.
        case failAtLast(HLSError)
        /// Media behind the end time is not loaded any more.
        case cut
        /// The outputs have still to present what is due.
        case wait(until: Duration)
        case end
    }

    /// What is to be done, in order.
    func check(_ facts: Facts, at now: Duration) -> [Action] {
        // All of it was skipped: that is a failure, not an end.
        if facts.isComplete, facts.pendingFailure == nil, let missing = facts.missing { return [.fail(missing)] }
        if let failure = facts.pendingFailure, facts.isDrained || facts.isAtFailure || !facts.hasPresentable {
            return [.failAtLast(failure)]
        }
        // Media behind an end time need not be presented.
        guard facts.isDrained || facts.isAtEndTime, facts.isAtEnd, facts.mayEnd else { return [] }
        // One segment at the end may be missing, as a server may have listed one too many.
        if let loss = facts.loss { return [.fail(loss)] }
        let last: Action = undecodable.map { .fail($0) } ?? .end
        guard facts.isAtEndTime, !facts.isDrained else { return [last] }
        let cut: [Action] = facts.isComplete ? [] : [.cut]
        guard facts.awaitsOutputs else { return cut + [last] }
        if let deadline { return now < deadline ? cut : cut + [last] }
        return cut + [.wait(until: now + Self.longestWait)]
    }

    /// The outputs are waited for until then.
    mutating func wait(until time: Duration) { deadline = time }

    /// Nothing of a kind of media comes out of its decoder.
    mutating func noteUndecodable(_ error: HLSError) { undecodable = error }

    /// The end is elsewhere: it is waited for again.
    mutating func move() { deadline = nil }

    /// The playhead is elsewhere: what was found out at the end counts no longer.
    mutating func jump() { self = EndOfItem() }
}
