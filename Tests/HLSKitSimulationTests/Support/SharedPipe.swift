import HLSKitCore
import HLSKitSimulation
import Synchronization

/// Several players that share one link and a virtual clock. Each stream has a name, with segments of 2 s and 0.5 MB.
final class SharedPipe: Sendable {
    static let bytesPerSecond = 250_000

    let clock = VirtualClock()
    private let transport: SimulatedTransport
    private let log: Log

    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// - Parameters:
    ///   - kilobitsPerSecond: The bandwidth of the link. Each stream needs 2000.
    ///   - isDead: Whether a stream never delivers anything.
    init(
        kilobitsPerSecond: Int, segmentCount: Int = 60,
        isDead: @escaping @Sendable (_ name: String) -> Bool = { _ in false }
    ) throws {
        let stream = SyntheticStream(
            bitRates: [2_000_000], segmentDuration: .seconds(2), segmentCount: segmentCount)
        let log = Log()
        self.log = log
        let trace = try NetworkTrace(parsing: "1000,\(kilobitsPerSecond),20\n".utf8)
        transport = SimulatedTransport(over: trace, clock: clock) { request in
            let parts = request.urlString.dropFirst("https://".count).split(separator: ".", maxSplits: 1)
            log.lines.withLock { $0.append("\(request.time) \(request.urlString)") }
            guard !isDead(String(parts.first ?? "")) else { return .failure(.timedOut) }
            var inner = request
            inner.urlString = "https://synthetic." + (parts.last ?? "")
            return stream.response(to: inner)
        }
    }

    var requests: [String] { log.lines.withLock { $0 } }

    func configuration(_ budget: ResourceBudget) -> PlayerConfiguration {
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.resourceBudget = budget
        return configuration
    }

    func item(_ name: String) -> PlayerItem { PlayerItem(urlString: "https://\(name).invalid/index.m3u8") }

    func play(
        _ name: String, _ budget: ResourceBudget, change: (inout PlayerConfiguration) -> Void = { _ in }
    ) throws -> Player {
        var configuration = configuration(budget)
        change(&configuration)
        let player = try Player(item: item(name), configuration: configuration)
        player.play()
        return player
    }

    /// Advances time in steps of 0.1 s, or until `body` returns `false`. Returns the elapsed time.
    @discardableResult
    func run(_ seconds: Int, _ body: () -> Bool = { true }) -> Duration {
        let start = clock.now.offset
        for _ in 0..<10 * seconds {
            guard body() else { break }
            clock.advance(by: .milliseconds(100))
        }
        return clock.now.offset - start
    }
}

extension PlayerState {
    /// The seconds of media ahead of the playhead.
    var ahead: Double { max(0, (loadedTimeRanges.last?.end ?? .zero).seconds - currentTime.seconds) }
    /// The seconds of media in memory, including media before the playhead.
    var held: Double { loadedTimeRanges.reduce(0) { $0 + $1.duration.seconds } }
}
