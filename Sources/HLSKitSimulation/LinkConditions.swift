/// How a link behaves at one time.
public struct LinkConditions: Sendable, Hashable {
    /// Bits that the link carries per second; 0 while it carries nothing.
    public var bitsPerSecond: Double
    /// Time from a request to its first byte.
    public var latency: Duration
    /// The part of the packets that is lost, from 0 (the default) to 1. Lost packets are sent again, so that nothing is
    /// missing from what arrives: it arrives more slowly, see ``throughput``.
    public var packetLoss: Double

    /// - Precondition: `bitsPerSecond` is finite, neither it nor `latency` is negative, and `packetLoss` is from 0 to 1.
    public init(bitsPerSecond: Double, latency: Duration = .zero, packetLoss: Double = 0) {
        precondition(bitsPerSecond.isFinite && bitsPerSecond >= 0, "a bit rate is a finite number, at least 0")
        precondition(latency >= .zero, "a latency is not negative")
        precondition((0...1).contains(packetLoss), "a loss is from 0 to 1")
        self.bitsPerSecond = bitsPerSecond
        self.latency = latency
        self.packetLoss = packetLoss
    }

    /// Bits of a TCP segment on Ethernet.
    private static let segmentBits = 1460.0 * 8
    /// A round trip in milliseconds that is taken for one of none: lost packets are not noticed at once.
    private static let shortestRoundTrip = 1.0

    /// Bits that arrive per second: those of the link, or as many as TCP gets through at this loss and with the latency
    /// as its round trip, whichever is less. Source: M. Mathis et al., "The Macroscopic Behavior of the TCP Congestion
    /// Avoidance Algorithm", 1997.
    public var throughput: Double {
        guard packetLoss > 0 else { return bitsPerSecond }
        let roundTrip = max(latency.milliseconds, Self.shortestRoundTrip) / 1000
        let limit = Self.segmentBits / roundTrip * (1.5 / packetLoss).squareRoot() * (1 - packetLoss)
        return min(bitsPerSecond, limit)
    }
}
