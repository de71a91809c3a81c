/// Adds up the latency of presented live media.
struct LatencyTally: Sendable {
    /// Presentation time by latency.
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
