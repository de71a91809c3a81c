public import HLSKitTime
import Synchronization

/// A clock that follows one that the program only hears of: that of a server, or of another machine.
///
/// Whoever measures the other clock, say by NTP or from the answers of a server, tells it with ``steer(to:at:)``. The
/// clock never stands, jumps or goes back: it runs a little faster or slower until it shows what it was told, and learns
/// how fast the other clock runs. Players with this clock, on as many machines as there are, mean the same moment by the
/// same host time.
///
/// ```swift
/// let clock = SteeredClock(showing: serverTime)
/// let player = Player(configuration: PlayerConfiguration(clock: clock))
/// player.automaticallyWaitsToMinimizeStalling = false
/// try player.setRate(1, time: .zero, atHostTime: agreedTime)
/// ```
///
/// See docs/behaviour/time.md.
public final class SteeredClock: EpochClock {
    /// Farther from 1 than this the other clock's speed is not believed, as a fraction.
    package static let maximumDrift = 0.01
    /// How much faster or slower than the other clock it runs at most while it makes up for a distance, as a fraction.
    package static let maximumCorrection = 0.05

    /// A straight line, after a stretch in which a distance is made up for.
    private struct Course: Sendable {
        /// Where it begins: moments of the clock beneath and of this one.
        var base: HostTime
        var shown: HostTime
        /// Seconds of this clock in one of that beneath.
        var rate = 1.0
        /// What is added to the rate for as long as ``correctionTime``.
        var correction = 0.0
        var correctionTime = Duration.zero

        func time(at base: HostTime) -> HostTime {
            let passed = max(base - self.base, .zero)
            let drift: Duration = passed * (rate - 1)
            let made: Duration = min(passed, correctionTime) * correction
            return shown + (passed + drift + made)
        }

        /// When this clock shows `time`, to some nanoseconds.
        func base(of time: HostTime) -> HostTime {
            let bend = self.time(at: base + correctionTime)
            if time <= bend {
                let left: Duration = (time - shown) / (rate + correction)
                return base + left
            }
            let left: Duration = (time - bend) / rate
            return base + (correctionTime + left)
        }
    }

    private struct State {
        var course: Course
        /// The first measurement, from which the speed is taken.
        var first: (base: HostTime, time: HostTime)?
    }

    /// The clock beneath.
    let base: SourceClock
    private let state: Mutex<State>

    /// How often a sleeper looks again, in case the clock was steered.
    private static let longestSleep = Duration.milliseconds(500)
    /// A distance is made up for in this time, or longer where that would be too fast.
    private static let leastCorrectionTime = Duration.seconds(1)
    private static let farthest = Duration.seconds(1_000_000_000_000)

    /// Makes a clock that shows `time` now, and runs as fast as `base` until it is steered.
    public init(showing time: HostTime = .zero, on base: SourceClock = .host) {
        self.base = base
        state = Mutex(State(course: Course(base: base.now, shown: time)))
    }

    /// The moment that it is.
    public var now: HostTime {
        let base = base.now
        return state.withLock { $0.course.time(at: base) }
    }

    /// `HostTime.zero`.
    public var epoch: HostTime { .zero }

    /// That of the clock beneath.
    public var minimumResolution: Duration { base.minimumResolution }

    /// Tells what the clock that is followed shows.
    ///
    /// A distance is made up for within one second, or at 5 % of the speed where it is more than 50 ms. The speed
    /// follows from this and the first measurement, once they are a second apart: measure every few seconds.
    ///
    /// - Parameters:
    ///   - time: The moment of the clock that is followed.
    ///   - moment: When it showed it, on the clock beneath; nil is now. For an answer of a server that is half-way between
    ///     request and answer.
    public func steer(to time: HostTime, at moment: HostTime? = nil) {
        let now = base.now
        let moment = moment ?? now
        state.withLock { state in
            var rate = state.course.rate
            if let first = state.first {
                let passed = moment - first.base
                if passed >= .seconds(1) {
                    let bounds = (1 - Self.maximumDrift)...(1 + Self.maximumDrift)
                    rate = min(max((time - first.time) / passed, bounds.lowerBound), bounds.upperBound)
                }
            } else {
                state.first = (moment, time)
            }
            let shown = state.course.time(at: now)
            let since: Duration = (now - moment) * rate
            // What is farther away is nonsense, and not to be multiplied.
            let distance = min(max(time + since - shown, .zero - Self.farthest), Self.farthest)
            let size = max(distance, .zero - distance)
            let length: Duration = max(Self.leastCorrectionTime, size / Self.maximumCorrection)
            state.course = Course(
                base: now, shown: shown, rate: rate, correction: distance / length, correctionTime: length)
        }
    }

    /// Sleeps until the clock shows `deadline`, also when it is steered meanwhile, to half a second's steering; throws
    /// `CancellationError` when the task is cancelled. `tolerance` is not used.
    public func sleep(until deadline: HostTime, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        while true {
            let now = base.now
            let course = state.withLock { $0.course }
            let left = deadline - course.time(at: now)
            if left <= .zero { return }
            guard left < Self.longestSleep * 2 else {
                try await base.sleep(until: now + Self.longestSleep)
                continue
            }
            // A quotient may come out some nanoseconds too early.
            let end = max(course.base(of: deadline), now + .nanoseconds(100))
            try await base.sleep(until: min(end, now + Self.longestSleep))
        }
    }
}
