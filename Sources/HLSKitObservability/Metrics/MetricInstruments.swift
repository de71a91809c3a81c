import CoreMetrics
import HLSKitCore
import Synchronization

/// The instruments of players with the same dimensions, which are created on first use.
final class MetricInstruments: Sendable {
    private struct Key: Hashable {
        var metric: Metric
        var labels: [String]
    }

    private struct State {
        var sums = GaugeSums()
        var samples: [Int: MetricSample] = [:]
        var counters: [Key: Counter] = [:]
        var fractions: [Key: FloatingPointCounter] = [:]
        var timers: [Key: Timer] = [:]
        var gauges: [Key: Gauge] = [:]
    }

    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private let state = Mutex(State())

    init(factory: any MetricsFactory, dimensions: [(String, String)]) {
        self.factory = factory
        self.dimensions = dimensions
    }

    func take(_ updates: [MetricUpdate], of player: Int) {
        guard !updates.isEmpty else { return }
        state.withLock { state in
            for update in updates {
                switch update {
                case .count(let metric, let labels, let count): counter(metric, labels, &state).increment(by: count)
                case .add(let metric, let labels, let duration):
                    fraction(metric, labels, &state).increment(by: duration.seconds)
                case .time(let metric, let labels, let duration):
                    timer(metric, labels, &state).recordNanoseconds(duration.wholeNanoseconds)
                case .sample(let sample):
                    state.sums.change(from: state.samples.removeValue(forKey: player), to: sample)
                    state.samples[player] = sample
                    show(&state)
                }
            }
        }
    }

    private func show(_ state: inout State) {
        for (metric, labels, value) in state.sums.values {
            let key = Key(metric: metric, labels: labels)
            if let value {
                gauge(key, &state).record(value)
            } else if let gauge = state.gauges.removeValue(forKey: key) {
                // Otherwise, the last value would remain visible.
                gauge.destroy()
            }
        }
    }

    // MARK: Instruments

    private func all(_ metric: Metric, _ labels: [String]) -> [(String, String)] {
        dimensions + zip(metric.labels, labels)
    }

    private func counter(_ metric: Metric, _ labels: [String], _ state: inout State) -> Counter {
        let key = Key(metric: metric, labels: labels)
        if let counter = state.counters[key] { return counter }
        let counter = Counter(label: metric.rawValue, dimensions: all(metric, labels), factory: factory)
        state.counters[key] = counter
        return counter
    }

    private func fraction(_ metric: Metric, _ labels: [String], _ state: inout State) -> FloatingPointCounter {
        let key = Key(metric: metric, labels: labels)
        if let counter = state.fractions[key] { return counter }
        let counter = FloatingPointCounter(label: metric.rawValue, dimensions: all(metric, labels), factory: factory)
        state.fractions[key] = counter
        return counter
    }

    private func timer(_ metric: Metric, _ labels: [String], _ state: inout State) -> Timer {
        let key = Key(metric: metric, labels: labels)
        if let timer = state.timers[key] { return timer }
        let timer: Timer = .init(
            label: metric.rawValue, dimensions: all(metric, labels), preferredDisplayUnit: .seconds, factory: factory)
        state.timers[key] = timer
        return timer
    }

    private func gauge(_ key: Key, _ state: inout State) -> Gauge {
        if let gauge = state.gauges[key] { return gauge }
        let gauge = Gauge(label: key.metric.rawValue, dimensions: all(key.metric, key.labels), factory: factory)
        state.gauges[key] = gauge
        return gauge
    }
}
