import HLSGetKit
import HLSKitCore
import HLSKitSimulation

/// A recording, played in virtual time with the options of `play`.
struct ReplaySession {
    struct Result: Sendable {
        var log: EventLog
        var summary: PlaySummary
        var accessLogEvents: [AccessLogEvent] = []

        /// One line on whether the player repeated the recorded decisions. The original run had random delays, so
        /// events at about the same time may have been in another order.
        func comparison(with recorded: [String], isCutOff: Bool) -> String {
            let count = log.decisions.count
            let differing = zip(recorded, log.decisions).enumerated().filter { $0.element.0 != $0.element.1 }
            guard let first = differing.first else {
                return count == recorded.count || isCutOff && count < recorded.count
                    ? "decided as recorded: the same \(count) events"
                    : "the same \(min(count, recorded.count)) events, then \(count) instead of \(recorded.count)"
            }
            if recorded.sorted() == log.decisions.sorted() {
                return "decided as recorded: the same \(count) events, \(differing.count) of them in a different order"
            }
            let (then, now) = (TerminalText.escaped(first.element.0), TerminalText.escaped(first.element.1))
            return "event \(first.offset + 1) of \(recorded.count) differs: recorded \"\(then)\", now \"\(now)\""
        }
    }

    let recording: NetworkRecording
    let options: PlayOptions
    let selector: any VariantSelector
    var decodes = true
    var report: (@Sendable (PlayerEvent) -> Void)?

    init(recording: NetworkRecording, options: PlayOptions, selector: any VariantSelector) {
        self.recording = recording
        self.options = options
        self.selector = selector
    }

    func run() throws -> Result {
        let clock = VirtualClock()
        var configuration = options.playerConfiguration(
            clock: clock, transport: ReplayTransport(recording, clock: clock), canSeek: options.isWatched)
        configuration.variantSelector = selector
        // Ignore the hooks of the options, because a replay must not make requests.
        configuration.hooks = LoadingHooks()
        if !decodes { configuration.decodesWithoutOutput = [] }
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: options.url)
        options.apply(to: item)
        let events = player.events()
        options.start(player)
        try player.replaceCurrentItem(with: item)
        // The original decisions may have come slightly later than the recording's last moments.
        let limit = recording.duration + ReplayTransport.tolerance
        let (url, report) = (options.url, report)
        let end = Task(executorPreference: clock) {
            do { try await clock.sleep(for: limit) } catch { return }
            await player.close()
        }
        return try clock.run {
            var log = EventLog()
            var summary = PlaySummary(url: url)
            for await event in events {
                log.append(event)
                report?(event)
                summary.observe(event)
                summary.hasEnded = event.isLast
                summary.elapsed = event.hostTime.offset
                if case .itemStatusChanged(.failed) = event.kind { summary.error = item.error }
                if summary.hasEnded { break }
            }
            summary.state = player.state
            end.cancel()
            await player.close()
            return Result(log: log, summary: summary, accessLogEvents: item.accessLog?.events ?? [])
        }
    }
}

extension PlayerEvent {
    fileprivate var isLast: Bool {
        switch kind {
        case .didPlayToEnd, .itemStatusChanged(.failed): true
        default: false
        }
    }
}
