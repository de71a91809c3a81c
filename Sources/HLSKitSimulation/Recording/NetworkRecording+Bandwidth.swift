import HLSKitCore

extension NetworkRecording {
    /// Time over which the bandwidth is averaged, in milliseconds.
    private static let step = 250.0

    /// Estimates the link from the downloads of segments, as the text of a ``NetworkTrace``.
    ///
    /// The bandwidth is the amount of data in each quarter of a second, divided by the time in which a download was
    /// active. Idle times keep the previous bandwidth because the capacity is unknown. The latency is the time from
    /// request to response. The result is `nil` if there were no downloads.
    public func bandwidthTrace() -> String? {
        var bits: [Int: Double] = [:]
        var busy: [Int: Double] = [:]
        var latencies: [Int: Double] = [:]
        var covered = 0.0
        for exchange in exchanges where exchange.resourceClass == .segment {
            guard let first = exchange.events.first, let last = exchange.events.last else { continue }
            let (start, end) = (first.time.milliseconds, last.time.milliseconds)
            guard end <= SimulationRun.timeLimit else { return nil }
            latencies[Int(exchange.time.milliseconds / Self.step)] =
                min((first.time - exchange.time).milliseconds, NetworkTrace.maximumLatency)
            for (time, event) in exchange.events {
                if case .data(let bytes) = event {
                    bits[Int(time.milliseconds / Self.step), default: 0] += Double(bytes.count) * 8
                }
            }
            // Requests are in the order of their start, so do not count earlier busy time again.
            var time = max(start, covered)
            while time < end {
                let index = Int(time / Self.step)
                let next = min(end, Double(index + 1) * Self.step)
                busy[index, default: 0] += next - time
                time = next
            }
            covered = max(covered, end)
        }
        // In a step that was busy for only a short time, the bandwidth would be random.
        let rates = busy.filter { $0.value >= Self.step / 5 }
        guard let firstRate = rates.keys.min(), let firstLatency = latencies.keys.min() else { return nil }
        func rate(_ index: Int) -> Double? { rates[index].map { (bits[index] ?? 0) / $0 } }
        var current = (rate: rate(firstRate) ?? 0, latency: latencies[firstLatency] ?? 0)
        guard rates.keys.contains(where: { (rate($0) ?? 0) > 0 }) else { return nil }

        var text = "# hlskit-trace 1\n# family: recorded\n# columns: duration_ms,bandwidth_kbps,latency_ms\n"
        var (line, duration) = ("", 0)
        for index in 0...Int(covered / Self.step) {
            current = (rate(index) ?? current.rate, latencies[index] ?? current.latency)
            let next = "\(Self.tenths(current.rate)),\(Int(current.latency.rounded()))\n"
            if next != line, duration > 0 {
                text += "\(duration),\(line)"
                duration = 0
            }
            line = next
            duration += Int(Self.step)
        }
        return text + "\(duration),\(line)"
    }

    /// Formats a rate with one decimal, clamped to the limits of a trace.
    private static func tenths(_ rate: Double) -> String {
        let tenths = Int((min(max(0, rate), NetworkTrace.maximumBandwidth) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
