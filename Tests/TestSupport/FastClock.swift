/// A clock on which time passes faster than in the world.
package struct FastClock: Clock {
    package struct Instant: InstantProtocol {
        package var offset: Duration
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    package let factor: Int
    private let epoch = ContinuousClock.now

    package init(factor: Int) { self.factor = factor }

    package var now: Instant { Instant(offset: (ContinuousClock.now - epoch) * factor) }
    package var minimumResolution: Duration { .microseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: epoch + deadline.offset / factor, tolerance: tolerance)
    }
}
