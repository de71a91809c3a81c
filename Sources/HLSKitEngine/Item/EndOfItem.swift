import HLSKitLoading
import HLSKitSelection

/// Decides whether an item has ended, and whether it ended normally or with a failure.
struct EndOfItem: Sendable {
    /// The longest time to wait for outputs that do not reach an end time.
    private static let longestWait = Duration.seconds(1)

    /// The time until which to wait for outputs at an end time.
    private var deadline: Duration?
    /// The error if a kind of media could not be decoded from the last seek target to the end.
    @Shared private var undecodable: HLSError? = nil

    struct Facts {
        /// Whether no further media will be loaded, and whether all of it was presented.
        var isComplete = false
        var isDrained = false
        /// Whether any media was passed to outputs.
        var hasPresentable = false
        /// The reason why nothing that was loaded can be presented, or nil if something can.
        var missing: HLSError?
        /// The error with which the item fails after its loaded media because loading cannot continue.
        var pendingFailure: HLSError?
        /// Whether time has reached the missing media, the end time that was set, and the end of playback.
        var isAtFailure = false
        var isAtEndTime = false
        var isAtEnd = false
        /// Whether media is playing, without a pending seek or pending subtitles.
        var mayEnd = false
        /// The error if more than one segment at the end was unavailable.
        var loss: HLSError?
        var awaitsOutputs = false
    }

    enum Action: Sendable {
        /// Nothing can be played, or some media is missing.
        case fail(HLSError)
        /// The media loaded before the pending failure was played.
        case failAtLast(HLSError)
        /// Stop loading media after the end time.
        case cut
        /// Wait for outputs to present the media that is due.
        case wait(until: Duration)
        case end
    }

    func check(_ facts: Facts, at now: Duration) -> [Action] {
        // All segments were skipped, which is a failure and not an end.
        if facts.isComplete, facts.pendingFailure == nil, let missing = facts.missing { return [.fail(missing)] }
        if let failure = facts.pendingFailure, facts.isDrained || facts.isAtFailure || !facts.hasPresentable {
            return [.failAtLast(failure)]
        }
        // Media after an end time need not be presented.
        guard facts.isDrained || facts.isAtEndTime, facts.isAtEnd, facts.mayEnd else { return [] }
        // One segment may be missing at the end because a server may list one too many.
        if let loss = facts.loss { return [.fail(loss)] }
        let last: Action = undecodable.map { .fail($0) } ?? .end
        guard facts.isAtEndTime, !facts.isDrained else { return [last] }
        let cut: [Action] = facts.isComplete ? [] : [.cut]
        guard facts.awaitsOutputs else { return cut + [last] }
        if let deadline { return now < deadline ? cut : cut + [last] }
        return cut + [.wait(until: now + Self.longestWait)]
    }

    mutating func wait(until time: Duration) { deadline = time }

    /// Notes that the decoder returns nothing for a kind of media.
    mutating func noteUndecodable(_ error: HLSError) { undecodable = error }

    /// Notes that the end has moved, so outputs get a new deadline.
    mutating func move() { deadline = nil }

    /// Discards facts about the end that no longer apply after the playhead moves.
    mutating func jump() { self = EndOfItem() }
}
