public import CoreMetrics
public import HLSKitCore
import Synchronization

/// Tells a metrics backend of swift-metrics how players do: what they play, wait for, load and miss.
///
/// ```swift
/// let metrics = PlayerMetrics()
/// metrics.attach(to: player, dimensions: [("stream", "News")])
/// ```
///
/// One is enough for all players of a process. Players with the same dimensions are counted together, and gauges have their
/// means: one series of each metric, however many they are. No dimension is a URL, unless the program makes it one.
///
/// All metrics are in docs/behaviour/observability.md.
public final class PlayerMetrics: Sendable {
    /// So many different dimensions have series of their own; what is beyond shares one, with the value `other`.
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

    /// - Parameters:
    ///   - factory: makes the instruments; nil (the default) is the one that the process was set up with
    ///     (`MetricsSystem.bootstrap`) by now.
    ///   - interval: how often a player is looked at, by its clock; what happens in between is counted then. Default 5 s, at
    ///     least 0.1 s.
    public init(factory: (any MetricsFactory)? = nil, interval: Duration = .seconds(5)) {
        self.factory = factory ?? MetricsSystem.factory
        self.interval = max(interval, .milliseconds(100))
    }

    /// Counts what the player does from now on, until it is closed or let go.
    ///
    /// - Parameters:
    ///   - player: is not kept.
    ///   - dimensions: labels of all of its metrics, names with values, as swift-metrics has them. Few: each value is as many
    ///     series as there are metrics, which stay. The names `class`, `code`, `outcome`, `reason` and `state` are taken.
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

/// Counts for one player.
private final class MetricsObserver: PlayerObserver {
    private let instruments: MetricInstruments
    private let player: Int
    private let tally = Mutex(MetricsTally())

    init(_ instruments: MetricInstruments, player: Int) {
        self.instruments = instruments
        self.player = player
    }

    func observe(_ signal: PlayerSignal, at time: HostTime) {
        // One after another, also at the instruments: what a player shows last is what it shows.
        tally.withLock { tally in instruments.take(tally.observe(signal, at: time), of: player) }
    }
}
