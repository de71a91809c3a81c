import Synchronization

/// A clock on which time passes faster than in the world.
struct FastClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let factor: Int
    private let epoch = ContinuousClock.now

    init(factor: Int) { self.factor = factor }

    var now: Instant { Instant(offset: (ContinuousClock.now - epoch) * factor) }
    var minimumResolution: Duration { .microseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: epoch + deadline.offset / factor, tolerance: tolerance)
    }
}
