import HLSKitCore

/// The properties of a link at one time.
public struct LinkConditions: Sendable, Hashable {
    /// The bits that the link carries per second, or 0 for an outage.
    public var bitsPerSecond: Double
    /// The time from a request to its first byte.
    public var latency: Duration
    /// The share of lost packets, from 0 (the default) to 1.
    ///
    /// Lost packets are sent again, so all data arrives, but more slowly; see ``throughput``.
    public var packetLoss: Double

    /// Creates conditions.
    ///
    /// - Precondition: `bitsPerSecond` is finite, neither it nor `latency` is negative, and `packetLoss` is from 0 to
    ///   1.
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
    /// The assumed round trip, in milliseconds, if there is none, because packet loss is not noticed immediately.
    private static let shortestRoundTrip = 1.0

    /// The bits that arrive per second.
    ///
    /// This is the link's rate or the TCP throughput at this loss, with the latency as the round trip, whichever is
    /// less. Source: M. Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997.
    public var throughput: Double {
        guard packetLoss > 0 else { return bitsPerSecond }
        let roundTrip = max(latency.milliseconds, Self.shortestRoundTrip) / 1000
        let limit = Self.segmentBits / roundTrip * (1.5 / packetLoss).squareRoot() * (1 - packetLoss)
        return min(bitsPerSecond, limit)
    }
}
