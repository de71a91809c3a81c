/// The next moment at which time alone changes something, while media is played in real time.
struct NextMoment: Sendable {
    /// It depends on this.
    struct Facts: Sendable {
        var timebase = TimebaseState.stopped
        var playhead = Duration.zero
        var verdict: ForwardBuffer.Verdict
        /// So much media ahead is as good as none.
        var stallEpsilon = Duration.zero
        /// Where playing ends, if anything is still to be done there and all media up to it is known.
        var end: Duration?
        /// When a rate above 1 catches up with a live stream.
        var edge: Duration?
        /// When a rate that takes back a distance from the edge has done so.
        var rateChange: Duration?
        /// When the playhead comes to something that is to be told.
        var told: Duration?
        /// A track at rest may want media again.
        var hasRestingTrack = false
        /// A hard limit of what is loaded ahead of one track; nil where there is none, or several tracks.
        var hardLimit: Duration?
        var nextSegmentDuration = Duration.zero
        /// Only while no more than this is ahead, media is loaded; nil for no such limit.
        var maximumForwardBuffer: Duration?
    }

    /// nil where time alone never changes anything.
    private(set) var time: Duration?
    private let soonest: Duration

    init(_ facts: Facts, at now: Duration) {
        soonest = now + .milliseconds(1)
        let (timebase, verdict) = (facts.timebase, facts.verdict)
        // The buffer runs empty.
        if !verdict.isEmpty, !verdict.holdsAllRemaining {
            let time = facts.playhead + verdict.forwardDuration - facts.stallEpsilon
            consider(timebase.hostTime(of: time + .microseconds(1)))
        }
        if let end = facts.end { consider(timebase.hostTime(of: end)) }
        consider(facts.edge)
        consider(facts.rateChange)
        consider(facts.told)
        if facts.hasRestingTrack {
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

    /// How long until the next segment fits.
    private static func timeUntilRoom(_ facts: Facts) -> Duration? {
        guard let limit = facts.hardLimit else { return nil }
        let excess = facts.verdict.forwardDuration + facts.nextSegmentDuration - limit
        let rate = facts.timebase.rate
        return (rate == 1 ? excess : excess / rate) + .microseconds(1)
    }
}
