public import HLSKitTime
import Synchronization

/// A clock that follows an external clock, such as the clock of a server or another machine.
///
/// Measure the other clock, for example with NTP or from server responses, and pass the result to ``steer(to:at:)``.
/// The clock never stops, jumps or runs backwards. Instead, it runs slightly faster or slower until it shows the
/// measured time, and adopts the speed of the other clock. Players with this clock, on any number of machines, agree on
/// the meaning of a host time.
///
/// ```swift
/// let clock = SteeredClock(showing: serverTime)
/// let player = Player(configuration: PlayerConfiguration(clock: clock))
/// player.automaticallyWaitsToMinimizeStalling = false
/// try player.setRate(1, time: .zero, atHostTime: agreedTime)
/// ```
public final class SteeredClock: EpochClock {
    /// The largest plausible difference of the other clock's speed from 1, as a fraction.
    package static let maximumDrift = 0.01
    /// The largest difference from the other clock's speed while an offset is corrected, as a fraction.
    package static let maximumCorrection = 0.05

    private struct Course: Sendable {
        /// The start, on the underlying clock and on this one.
        var base: HostTime
        var shown: HostTime
        /// The seconds of this clock per second of the underlying one.
        var rate = 1.0
        /// The addition to the rate during ``correctionTime``.
        var correction = 0.0
        var correctionTime = Duration.zero

        func time(at base: HostTime) -> HostTime {
            let passed = max(base - self.base, .zero)
            let drift: Duration = passed * (rate - 1)
            let made: Duration = min(passed, correctionTime) * correction
            return shown + (passed + drift + made)
        }

        /// Returns the time on the underlying clock at which this clock shows `time`, accurate to a few nanoseconds.
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
        var first: (base: HostTime, time: HostTime)?
    }

    let base: SourceClock
    private let state: Mutex<State>

    /// The interval at which a sleeping task checks whether the clock was steered.
    private static let longestSleep = Duration.milliseconds(500)
    /// The time in which an offset is corrected, unless that would be too fast.
    private static let leastCorrectionTime = Duration.seconds(1)
    private static let farthest = Duration.seconds(1_000_000_000_000)

    /// Creates a clock that shows `time` now and runs as fast as `base` until it is steered.
    public init(showing time: HostTime = .zero, on base: SourceClock = .host) {
        self.base = base
        state = Mutex(State(course: Course(base: base.now, shown: time)))
    }

    /// The current host time.
    public var now: HostTime {
        let base = base.now
        return state.withLock { $0.course.time(at: base) }
    }

    /// The epoch, `HostTime.zero`.
    public var epoch: HostTime { .zero }

    /// The resolution of the underlying clock.
    public var minimumResolution: Duration { base.minimumResolution }

    /// Adjusts the clock to a measurement of the external clock.
    ///
    /// An offset is corrected within one second, or at 5 % of the speed if it is more than 50 ms. The speed follows
    /// from this and the first measurement if they are at least a second apart. Measure every few seconds.
    ///
    /// - Parameters:
    ///   - time: The time of the external clock.
    ///   - moment: The time of the measurement on the underlying clock, or `nil` for now. For a server response, it is
    ///     half-way between request and response.
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
            // Larger offsets are implausible, and their products could overflow.
            let distance = min(max(time + since - shown, .zero - Self.farthest), Self.farthest)
            let size = max(distance, .zero - distance)
            let length: Duration = max(Self.leastCorrectionTime, size / Self.maximumCorrection)
            state.course = Course(
                base: now, shown: shown, rate: rate, correction: distance / length, correctionTime: length)
        }
    }

    /// Sleeps until the clock shows `deadline`.
    ///
    /// The method throws `CancellationError` if the task is cancelled. It ignores `tolerance`. If the clock is steered
    /// in the meantime, the wake-up may be wrong by the steering of half a second.
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
            // The quotient may be a few nanoseconds too early.
            let end = max(course.base(of: deadline), now + .nanoseconds(100))
            try await base.sleep(until: min(end, now + Self.longestSleep))
        }
    }
}
