/// How a link behaves at one time.
public struct LinkConditions: Sendable, Hashable {
    /// Bits that arrive per second; 0 while nothing does.
    public var bitsPerSecond: Double
    /// Time from a request to its first byte.
    public var latency: Duration

    /// - Precondition: `bitsPerSecond` is finite and neither it nor `latency` is negative.
    public init(bitsPerSecond: Double, latency: Duration = .zero) {
        precondition(bitsPerSecond.isFinite && bitsPerSecond >= 0, "a bit rate is a finite number, at least 0")
        precondition(latency >= .zero, "a latency is not negative")
        self.bitsPerSecond = bitsPerSecond
        self.latency = latency
    }
}
