import CoreMetrics
import Synchronization

/// A metrics backend that keeps the values. The test backend of swift-metrics rounds fractional counters.
final class Readings: MetricsFactory {
    private struct State {
        var counts: [String: Double] = [:]
        var times: [String: [Duration]] = [:]
        var gauges: [String: Double] = [:]
    }

    private let state = Mutex(State())

    /// Returns `name{label=value}` with labels in their original order.
    private static func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        dimensions.isEmpty
            ? label : "\(label){\(dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ","))}"
    }

    // MARK: Reading

    func count(_ name: String) -> Double { state.withLock { $0.counts[name] ?? 0 } }
    func times(_ name: String) -> [Duration] { state.withLock { $0.times[name] ?? [] } }
    func gauge(_ name: String) -> Double? { state.withLock { $0.gauges[name] } }
    var series: Set<String> {
        state.withLock { Set($0.counts.keys).union($0.times.keys).union($0.gauges.keys) }
    }

    var text: String {
        state.withLock { state in
            let counts = state.counts.map { "\($0.key) \($0.value)" }
            let times = state.times.map { "\($0.key) \($0.value)" }
            let gauges = state.gauges.map { "\($0.key) \($0.value)" }
            return (counts + times + gauges).sorted().joined(separator: "\n")
        }
    }

    // MARK: Instruments

    private final class Instrument:
        CounterHandler, FloatingPointCounterHandler, RecorderHandler, TimerHandler, MeterHandler
    {
        let name: String
        let readings: Readings

        init(name: String, readings: Readings) {
            self.name = name
            self.readings = readings
        }

        func increment(by amount: Int64) { increment(by: Double(amount)) }
        func increment(by amount: Double) { readings.state.withLock { $0.counts[name, default: 0] += amount } }
        func decrement(by amount: Double) {}
        func reset() {}
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { readings.state.withLock { $0.gauges[name] = value } }
        func set(_ value: Int64) { record(Double(value)) }
        func set(_ value: Double) { record(value) }
        func recordNanoseconds(_ duration: Int64) {
            readings.state.withLock { $0.times[name, default: []].append(.nanoseconds(duration)) }
        }
    }

    private func instrument(_ label: String, _ dimensions: [(String, String)]) -> Instrument {
        Instrument(name: Self.name(label, dimensions), readings: self)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(label, dimensions)
    }
    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        instrument(label, dimensions)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { instrument(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        instrument(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { instrument(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {
        guard let instrument = handler as? Instrument else { return }
        state.withLock { $0.gauges[instrument.name] = nil }
    }
    func destroyTimer(_ handler: any TimerHandler) {}
}
