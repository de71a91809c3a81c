import Glibc
import HLSKitCore
import Synchronization

final class StreamGroup: Sendable {
    /// Between two starts, because a thousand simultaneous requests would overload the servers.
    static let stagger = Duration.milliseconds(20)
    static let longestStart = Duration.seconds(30)

    private struct Watch {
        var stream: WatchedStream
        var decodes: Bool
        var task: Task<Void, Never>
    }

    private let options: MonitorOptions
    private let clock: SourceClock
    private let transport: any ResourceTransport
    private let epoch: HostTime
    private let epochDate = PlaylistDate(seconds: Int64(Glibc.time(nil)))
    private let report: @Sendable (WatchedStream, StreamHealth.Change) -> Void
    private let watches = Mutex<[String: Watch]>([:])
    private let outages = Mutex(0)

    init(
        _ options: MonitorOptions, clock: SourceClock, transport: any ResourceTransport,
        report: @escaping @Sendable (WatchedStream, StreamHealth.Change) -> Void
    ) {
        self.options = options
        self.clock = clock
        self.transport = transport
        self.report = report
        epoch = clock.now
    }

    var elapsed: Duration { clock.now - epoch }

    var rows: [StreamRow] {
        watches.withLock { Array($0.values) }.map { StreamRow($0.stream, decodes: $0.decodes) }
    }

    var hasSeenOutage: Bool { outages.withLock { $0 > 0 } }

    /// Adds, removes and restarts streams to match the list. Unchanged streams continue.
    ///
    /// - Returns: How many streams were added and removed; a changed one counts as both.
    func apply(_ list: MonitorList) -> (added: Int, removed: Int) {
        let wanted = Dictionary(list.entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return watches.withLock { watches in
            var removed = 0
            for (name, watch) in watches where wanted[name] != watch.stream.entry {
                watch.task.cancel()
                watches[name] = nil
                removed += 1
            }
            let new = list.entries.filter { watches[$0.name] == nil }
            let step = min(Self.stagger, Self.longestStart / max(1, new.count))
            for (index, entry) in new.enumerated() { watches[entry.name] = begin(entry, after: step * index) }
            return (new.count, removed)
        }
    }

    private func begin(_ entry: MonitorEntry, after delay: Duration) -> Watch {
        let decodes = entry.decodes ?? options.decodes
        let stream = WatchedStream(entry, rules: options.rules, clock: clock, epoch: epoch, epochDate: epochDate) {
            [weak self] stream, change in
            guard let self else { return }
            if change.new == .down { outages.withLock { $0 += 1 } }
            report(stream, change)
        }
        let watcher = StreamWatcher(
            stream: stream,
            configuration: options.configuration(
                clock: clock, transport: transport, decodes: decodes, fields: entry.fields),
            quality: entry.quality ?? options.quality, decodes: decodes)
        let task = Task { [clock] in
            do { try await clock.sleep(for: delay) } catch { return }
            await watcher.run()
        }
        return Watch(stream: stream, decodes: decodes, task: task)
    }

    func close() async {
        let all = watches.withLock { Array($0.values) }
        for watch in all { watch.task.cancel() }
        for watch in all { await watch.task.value }
    }
}
