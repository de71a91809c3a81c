import HLSKitLoading
import HLSKitTime

/// Decides the rate that keeps a live stream at its distance from the edge, and when to jump.
///
/// Within the dead band, the rate is 1. Outside it, a tenth of the difference is corrected per second, in steps of 0.01
/// and within limits. The correction ends when the difference is close to zero. The rate is below 1 too close to the
/// edge, and above 1 too far from it. After a wait that left too much media behind, playback jumps. The distance is
/// estimated from playlists (``LiveEdge``), so the server's clock does not matter.
struct LatencyControl: Sendable {
    enum Action: Sendable, Hashable {
        /// Sets the rate of the timebase.
        case rate(Double)
        /// Continues at the intended distance from the edge and skips the media before it.
        case jump
    }

    struct Facts: Sendable, Hashable {
        /// The estimated distance of the playhead from the edge.
        var distance: Duration
        /// The range of distances that need no correction.
        var target: ClosedRange<Duration>
        var ahead: Duration
        /// The maximum duration of the next listed segment or part.
        var piece: Duration
        /// The time at which the playlist last listed new media.
        var listed = Duration.zero
        /// The highest rate, above 1.
        var limit: Double
        var mayJump = false
    }

    /// The time in which a difference is corrected, if the limit allows.
    private static let time = Duration.seconds(10)
    /// The number of seconds at the rate limit within which a difference must be correctable.
    private static let patience = 60.0
    /// The minimum time between jumps, so that a slow network does not load media that is never played.
    private static let jumpInterval = Duration.seconds(30)
    /// The lowest rate. Slower playback is noticeable.
    private static let slowest = 0.9
    private static let step = 0.01

    private(set) var rate = 1.0
    /// The time at which this rate has corrected the difference, or nil if there is none.
    private(set) var nextChange: Duration?
    /// Whether the playhead began close enough to its target distance to be kept there, or nil if unknown.
    private var follows: Bool?
    /// Whether time was stopped, so knowledge of the edge may be outdated.
    private var hasWaited = false
    private var resumed: Duration?
    private var jumped: Duration?

    mutating func move() {
        follows = nil
        hasWaited = false
    }

    mutating func wait() {
        (hasWaited, resumed) = (true, nil)
        _ = set(1)
    }

    /// Stops the control because the item or the rate has changed.
    mutating func rest() { self = LatencyControl() }

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
        // Complete a correction once it has begun, because a rate that alternates is audible.
        let isUnderWay = rate > 1 ? difference > .zero : rate < 1 && difference < .zero
        guard abs(difference.seconds) > (isUnderWay ? band / 4 : band).seconds else { return set(1) }
        let steps = (difference / Self.time / Self.step).rounded(.awayFromZero)
        let new = min(max(1 + steps * Self.step, 2 - facts.limit, Self.slowest), facts.limit)
        if new > 1, facts.ahead < Self.reserve(facts) / (isUnderWay ? 2 : 1) { return set(1) }
        // A change by a single step is not worthwhile.
        let kept = isUnderWay && abs(new - rate) < Self.step * 1.5 ? rate : new
        let left = (abs(difference.seconds) - band.seconds / 4) / abs(kept - 1)
        return set(kept, until: now + .milliseconds(1) + .seconds(left))
    }

    private mutating func set(_ new: Double, until time: Duration? = nil) -> Action {
        (rate, nextChange) = (new, time)
        return .rate(new)
    }

    /// Returns the difference that is not corrected.
    private static func band(_ facts: Facts) -> Duration { max(.milliseconds(50), facts.piece / 4) }

    /// Returns the difference above which the user chose the position or a wait was too long to correct.
    private static func reach(_ facts: Facts) -> Duration {
        max(.seconds(patience * (facts.limit - 1)), facts.piece * 2)
    }

    /// Returns the media ahead below which time does not run faster, because loading is the bottleneck.
    private static func reserve(_ facts: Facts) -> Duration {
        max(facts.target.lowerBound - facts.piece, facts.piece) / 2
    }
}

extension LatencyControl.Facts {
    /// The excess of the distance over the target range, or a negative value if the playhead is too close.
    fileprivate var difference: Duration {
        if distance > target.upperBound { return distance - target.upperBound }
        return min(.zero, distance - target.lowerBound)
    }
}

extension LatencyControl {
    /// Adds up the latency of presented live media.
    struct LatencyTally: Sendable {
        private(set) var histogram = LatencyHistogram()
        /// The current latency and the time since which it applies, or nil while time is stopped.
        private var running: (latency: Duration, since: Duration)?

        var isEmpty: Bool { histogram.isEmpty && running == nil }

        /// Notes the current latency, or nil if there is none. It applies until the next call.
        mutating func note(_ latency: Duration?, isRunning: Bool, at now: Duration) {
            if let (latency, since) = running { histogram.add(latency, for: now - since) }
            running = isRunning ? latency.map { ($0, now) } : nil
        }

        func mean(at now: Duration) -> LatencyMean {
            var mean = histogram.sum
            if let (latency, since) = running { mean.add(latency, for: now - since) }
            return mean
        }

        func histogram(at now: Duration) -> LatencyHistogram {
            var copy = self
            copy.note(nil, isRunning: false, at: now)
            return copy.histogram
        }
    }
}
