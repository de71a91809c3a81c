public import CoreMetrics
public import HLSKitCore
import Synchronization

/// Reports metrics of players to a swift-metrics backend: playback, waiting, loading and missing media.
///
/// ```swift
/// let metrics = PlayerMetrics()
/// metrics.attach(to: player, dimensions: [("stream", "News")])
/// ```
///
/// One instance is enough for all players of a process. Players with the same dimensions are counted together, and
/// gauges contain their mean. Each metric therefore has one series, regardless of the number of players. URLs are never
/// used as dimensions unless the app does so.
public final class PlayerMetrics: Sendable {
    /// The largest number of dimension values.
    ///
    /// Further values share the value `other`.
    public static let maximumDimensionCount = 10_000

    private struct Key: Hashable {
        var names: [String]
        var values: [String]
    }

    private struct State {
        var instruments: [Key: MetricInstruments] = [:]
        var lastNumber = 0
    }

    private let factory: any MetricsFactory
    private let interval: Duration
    private let state = Mutex(State())

    /// Creates metrics.
    ///
    /// - Parameters:
    ///   - factory: The factory for instruments. The default, `nil`, is the factory that the process has set with
    ///     `MetricsSystem.bootstrap`.
    ///   - interval: The interval at which a player is checked, by its clock. Activity between two checks is counted at
    ///     the second one. The default is 5 s, and the minimum is 0.1 s.
    public init(factory: (any MetricsFactory)? = nil, interval: Duration = .seconds(5)) {
        self.factory = factory ?? MetricsSystem.factory
        self.interval = max(interval, .milliseconds(100))
    }

    /// Counts the activity of a player until it is closed or released.
    ///
    /// - Parameters:
    ///   - player: The player. It is not retained.
    ///   - dimensions: The labels for all metrics of the player, as names and values. Use only a few values, because
    ///     each one adds a permanent series per metric. The names `class`, `code`, `outcome`, `reason` and `state` are
    ///     reserved.
    /// - Returns: The observation, which you need not keep.
    @discardableResult
    public func attach(to player: Player, dimensions: [(String, String)] = []) -> PlayerObservation {
        let taken = Set(Metric.allCases.flatMap(\.labels))
        precondition(!dimensions.contains { taken.contains($0.0) }, "a dimension has the name of a label")
        let (instruments, number) = state.withLock { state -> (MetricInstruments, Int) in
            state.lastNumber += 1
            return (self.instruments(of: dimensions, &state), state.lastNumber)
        }
        return PlayerObservation(
            of: player, interval: interval, observer: MetricsObserver(instruments, player: number))
    }

    private func instruments(of dimensions: [(String, String)], _ state: inout State) -> MetricInstruments {
        var dimensions = dimensions
        var key = Key(names: dimensions.map(\.0), values: dimensions.map(\.1))
        if state.instruments[key] == nil, state.instruments.count >= Self.maximumDimensionCount {
            dimensions = dimensions.map { ($0.0, "other") }
            key.values = dimensions.map(\.1)
        }
        if let instruments = state.instruments[key] { return instruments }
        let instruments = MetricInstruments(factory: factory, dimensions: dimensions)
        state.instruments[key] = instruments
        return instruments
    }
}

private final class MetricsObserver: PlayerObserver {
    private let instruments: MetricInstruments
    private let player: Int
    private let tally = Mutex(MetricsTally())

    init(_ instruments: MetricInstruments, player: Int) {
        self.instruments = instruments
        self.player = player
    }

    func observe(_ signal: PlayerSignal, at time: HostTime) {
        // Hold the lock while the instruments are updated, so that gauges end with the last sample.
        tally.withLock { tally in instruments.take(tally.observe(signal, at: time), of: player) }
    }
}
