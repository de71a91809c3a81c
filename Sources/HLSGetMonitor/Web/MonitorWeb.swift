import HLSGetKit
import HLSKitCore
import Synchronization

final class MonitorWeb: Sendable {
    /// The monitor is unhealthy after this time without a ``beat()``.
    static let longestSilence = Duration.seconds(10)

    private let watches: StreamGroup
    private let clock: SourceClock
    private let rows = Mutex(RowStream())
    private let lastBeat: Mutex<HostTime>

    init(watches: StreamGroup, clock: SourceClock) {
        self.watches = watches
        self.clock = clock
        lastBeat = Mutex(clock.now)
    }

    func beat() { lastBeat.withLock { $0 = clock.now } }

    func update(_ new: [StreamRow]) -> String { rows.withLock { $0.update(new) } }

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
                ? .text("ok") : .text("the monitor has made no progress for \(Int(silence.inSeconds)) s", status: 503)
        default: return .text("available: /, /metrics, /streams.json, /events and /healthz", status: 404)
        }
    }
}
