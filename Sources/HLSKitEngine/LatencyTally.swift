/// Adds up how late what was presented of a live item was.
struct LatencyTally: Sendable {
    /// By the time for which it was presented.
    private(set) var histogram = LatencyHistogram()
    /// The latency of what is being presented, and since when that counts; nil while time stands.
    private var running: (latency: Duration, since: Duration)?

    /// Nothing live was presented.
    var isEmpty: Bool { histogram.isEmpty && running == nil }

    /// Takes the latency of now; nil where there is none. Between two calls it was what the first of them told.
    mutating func note(_ latency: Duration?, isRunning: Bool, at now: Duration) {
        if let (latency, since) = running { histogram.add(latency, for: now - since) }
        running = isRunning ? latency.map { ($0, now) } : nil
    }

    /// The mean, up to now.
    func mean(at now: Duration) -> LatencyMean {
        var mean = histogram.sum
        if let (latency, since) = running { mean.add(latency, for: now - since) }
        return mean
    }

    /// With what is being presented, up to now.
    func histogram(at now: Duration) -> LatencyHistogram {
        var copy = self
        copy.note(nil, isRunning: false, at: now)
        return copy.histogram
    }
}
