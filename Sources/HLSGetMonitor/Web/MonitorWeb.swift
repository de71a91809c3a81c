import HLSGetKit
import HLSKitCore
import Synchronization

/// What the monitor's server answers on which path.
final class MonitorWeb: Sendable {
    /// Without a beat of the monitor for so long it is ill.
    static let longestSilence = Duration.seconds(10)

    private let watches: WatchSet
    private let clock: SourceClock
    private let rows = Mutex(RowStream())
    private let lastBeat: Mutex<HostTime>

    init(watches: WatchSet, clock: SourceClock) {
        self.watches = watches
        self.clock = clock
        lastBeat = Mutex(clock.now)
    }

    /// The monitor is at work.
    func beat() { lastBeat.withLock { $0 = clock.now } }

    /// - Returns: what those who read events are told.
    func update(_ new: [StreamRow]) -> String { rows.withLock { $0.update(new) } }

    /// What is the case now.
    private var streams: JSONValue {
        .array(watches.rows.sorted { $0.name < $1.name }.map { .object($0.members) })
    }

    func answer(_ path: String) -> HTTPAnswer {
        switch path {
        case "/":
            return HTTPAnswer(
                contentType: "text/html; charset=utf-8", body: Array(MonitorPage.html(rows: streams.text).utf8))
        case "/metrics":
            let text = MonitorMetrics.text(
                watches.rows.sorted { $0.name < $1.name }, elapsed: watches.elapsed, version: CommandInfo.version)
            return HTTPAnswer(contentType: PrometheusText.contentType, body: Array(text.utf8))
        case "/streams.json":
            return HTTPAnswer(contentType: "application/json", body: Array((streams.text + "\n").utf8))
        case "/events":
            let all = rows.withLock(\.all)
            return HTTPAnswer(
                contentType: "text/event-stream", body: Array("retry: 3000\n\(all)".utf8), isEventStream: true)
        case "/healthz":
            let silence = clock.now - lastBeat.withLock(\.self)
            return silence <= Self.longestSilence
                ? .text("ok") : .text("no beat for \(Int(silence.inSeconds)) s", status: 503)
        default: return .text("there are /, /metrics, /streams.json, /events and /healthz", status: 404)
        }
    }
}
