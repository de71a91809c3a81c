import HLSKitLoading

/// Decides how fast a live stream is played so that it stays at its distance from the edge, and whether a wait has left so
/// much behind that it is skipped.
///
/// Within the dead band the rate is 1. Beyond it a tenth of the difference is taken back each second, in steps of a hundredth
/// and within limits, until next to nothing of it is left: nearer to the edge than wanted the rate is below 1, farther
/// from it above. The distance is estimated from lists (``LiveEdge``), so that no clock of the server counts.
///
/// See docs/behaviour/live.md.
struct LatencyControl: Sendable {
    enum Action: Sendable, Hashable {
        /// The rate of the timebase.
        case rate(Double)
        /// Playing continues at its distance from the edge; what lies between is skipped.
        case jump
    }

    /// It depends on this.
    struct Facts: Sendable, Hashable {
        /// The distance of the playhead from the edge, as estimated.
        var distance: Duration
        /// The distances between which nothing is to be done.
        var target: ClosedRange<Duration>
        /// Media that is loaded ahead.
        var ahead: Duration
        /// What is listed next lasts so long at most.
        var piece: Duration
        /// When something new was last listed.
        var listed = Duration.zero
        /// The highest rate, above 1.
        var limit: Double
        /// What a wait has left behind may be skipped.
        var mayJump = false
    }

    /// The rate is such that a difference is taken back in this time, as far as the limit allows.
    private static let time = Duration.seconds(10)
    /// What the limit does not take back in this time is too far away.
    private static let patience = 60.0
    /// From one jump to the next: a slow network is not to load what is never played.
    private static let jumpInterval = Duration.seconds(30)
    /// The lowest rate: slower is heard and seen.
    private static let slowest = 0.9
    private static let step = 0.01

    /// The rate that was answered last.
    private(set) var rate = 1.0
    /// When the difference is gone at this rate; nil where there is none.
    private(set) var nextChange: Duration?
    /// Whether the playhead was near enough to its place when it was put where it is, and is kept there; nil before that is
    /// known.
    private var follows: Bool?
    /// Time stood still, and what is known of the edge may be of before.
    private var hasWaited = false
    /// When time ran again.
    private var resumed: Duration?
    private var jumped: Duration?

    /// The playhead is put somewhere by the user.
    mutating func move() {
        follows = nil
        hasWaited = false
    }

    /// Time stands still: a stall, a pause.
    mutating func wait() {
        (hasWaited, resumed) = (true, nil)
        _ = set(1)
    }

    /// Nothing is controlled for now: another item, or another rate.
    mutating func rest() { self = LatencyControl() }

    /// What is done while time runs at the rate that was answered last, or begins to.
    mutating func decide(_ facts: Facts, at now: Duration) -> Action {
        let difference = facts.difference
        let reach = Self.reach(facts)
        let follows = follows ?? (difference <= reach)
        self.follows = follows
        guard follows else { return set(1) }
        if hasWaited {
            if facts.mayJump, difference > reach, jumped.map({ now - $0 >= Self.jumpInterval }) ?? true {
                (hasWaited, jumped) = (false, now)
                return .jump
            }
            let resumed = resumed ?? now
            self.resumed = resumed
            guard facts.listed > resumed else { return set(1) }
            hasWaited = false
        }
        let band = Self.band(facts)
        // What was begun is brought to its end: a rate that changes back and forth is heard.
        let isUnderWay = rate > 1 ? difference > .zero : rate < 1 && difference < .zero
        guard abs(difference.seconds) > (isUnderWay ? band / 4 : band).seconds else { return set(1) }
        let steps = (difference / Self.time / Self.step).rounded(.awayFromZero)
        let new = min(max(1 + steps * Self.step, 2 - facts.limit, Self.slowest), facts.limit)
        if new > 1, facts.ahead < Self.reserve(facts) / (isUnderWay ? 2 : 1) { return set(1) }
        // A step less is not worth a change.
        let kept = isUnderWay && abs(new - rate) < Self.step * 1.5 ? rate : new
        let left = (abs(difference.seconds) - band.seconds / 4) / abs(kept - 1)
        return set(kept, until: now + .milliseconds(1) + .seconds(left))
    }

    private mutating func set(_ new: Double, until time: Duration? = nil) -> Action {
        (rate, nextChange) = (new, time)
        return .rate(new)
    }

    /// A difference up to this is left alone.
    private static func band(_ facts: Facts) -> Duration { max(.milliseconds(50), facts.piece / 4) }

    /// Beyond this the user has put the playhead where it is by intent, or a wait has left too much behind.
    private static func reach(_ facts: Facts) -> Duration {
        max(.seconds(patience * (facts.limit - 1)), facts.piece * 2)
    }

    /// With less than this ahead time does not run faster: loads are what is late.
    private static func reserve(_ facts: Facts) -> Duration {
        max(facts.target.lowerBound - facts.piece, facts.piece) / 2
    }
}

extension LatencyControl.Facts {
    /// How much farther from the edge than wanted; below zero where it is nearer.
    fileprivate var difference: Duration {
        if distance > target.upperBound { return distance - target.upperBound }
        return min(.zero, distance - target.lowerBound)
    }
}
