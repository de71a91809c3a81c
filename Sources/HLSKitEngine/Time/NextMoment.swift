/// The next time at which the state changes without an event during paced playback.
struct NextMoment: Sendable {
    struct Facts: Sendable {
        var timebase = TimebaseState.stopped
        var playhead = Duration.zero
        var verdict: ForwardBuffer.Verdict
        /// The amount of media ahead that counts as empty.
        var stallEpsilon = Duration.zero
        /// The end of playback if it requires an action and all media before it is known.
        var end: Duration?
        /// The time at which a rate above 1 catches up with a live stream.
        var edge: Duration?
        /// The time at which a rate that corrects the distance from the edge has done so.
        var rateChange: Duration?
        /// The time at which the playhead reaches something to report.
        var reported: Duration?
        /// Whether a track that stopped loading may need media again.
        var hasIdleTrack = false
        /// The hard limit of media loaded ahead of one track, or nil if there is none or several tracks.
        var hardLimit: Duration?
        var nextSegmentDuration = Duration.zero
        /// The amount of media ahead above which nothing is loaded, or nil for no such limit.
        var maximumForwardBuffer: Duration?
    }

    /// The time, or nil if the state never changes by itself.
    private(set) var time: Duration?
    private let soonest: Duration

    init(_ facts: Facts, at now: Duration) {
        soonest = now + .milliseconds(1)
        let (timebase, verdict) = (facts.timebase, facts.verdict)
        if !verdict.isEmpty, !verdict.holdsAllRemaining {
            let time = facts.playhead + verdict.forwardDuration - facts.stallEpsilon
            consider(timebase.hostTime(of: time + .microseconds(1)))
        }
        if let end = facts.end { consider(timebase.hostTime(of: end)) }
        consider(facts.edge)
        consider(facts.rateChange)
        consider(facts.reported)
        if facts.hasIdleTrack {
            consider(now + (Self.timeUntilRoom(facts) ?? .milliseconds(250)))
        } else if let limit = facts.maximumForwardBuffer, verdict.forwardDuration > limit {
            consider(now + (verdict.forwardDuration - limit) / timebase.rate)
        }
    }

    private mutating func consider(_ time: Duration?) {
        guard let time else { return }
        let later = max(time, soonest)
        self.time = min(self.time ?? later, later)
    }

    private static func timeUntilRoom(_ facts: Facts) -> Duration? {
        guard let limit = facts.hardLimit else { return nil }
        let excess = facts.verdict.forwardDuration + facts.nextSegmentDuration - limit
        let rate = facts.timebase.rate
        return (rate == 1 ? excess : excess / rate) + .microseconds(1)
    }
}
