import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

package struct MonitorRun {
    private static let tick = Duration.seconds(1)
    /// Ticks between two events of the web page.
    private static let pageTicks = 2

    private enum Happening: Sendable {
        case tick
        case signal(Int32)
        case reload
        case key(Key)
        case isTime
    }

    private let options: MonitorOptions
    private let source: MonitorSource
    private let clock: SourceClock
    private let style: PlayOptions.ProgressStyle
    private let screen: MonitorScreen?
    private let terminal = TerminalHangup()

    init(_ options: MonitorOptions, source: MonitorSource, clock: SourceClock = .host) {
        self.options = options
        self.source = source
        self.clock = clock
        let isTerminal = Terminal(descriptor: STDERR_FILENO).isTerminal
        switch options.progress {
        case let style?: self.style = style
        case nil: style = isTerminal && !options.isQuiet ? .bar : .none
        }
        screen = style == .bar ? MonitorScreen() : nil
    }

    func run(_ list: MonitorList) async -> ExitStatus {
        let transport: any ResourceTransport
        do throws(ArgumentValueError) {
            transport = try options.play.makeTransport()
        } catch {
            StandardStream.error.writeLine("hlsget: error: \(error.description)")
            return .usage
        }
        Self.allowManyFiles()
        let keyboard = screen == nil ? nil : KeyboardWatcher()
        let screen = screen
        let signals = SignalWatcher(signals: source.canBeReadAgain ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]) {
            keyboard?.close()
            screen?.close()
            _exit(128 + $0)
        }
        let reload = source.canBeReadAgain ? ReloadSignal() : nil
        let began = clock.now
        let notices = AlertNotifier(
            commands: options.commands, webhooks: options.webhooks, transport: transport, clock: clock,
            warn: { [self] in warn($0, at: clock.now - began) })
        let watches = StreamGroup(options, clock: clock, transport: transport) { [self] stream, change in
            say(change, of: stream)
            notices.report(change, of: stream)
        }
        for text in list.warnings { warn(text, at: .zero) }
        let page = MonitorWeb(watches: watches, clock: clock)
        let server: MonitorServer?
        do throws(MonitorServer.Failure) {
            server = try serve(page, at: began)
        } catch {
            keyboard?.close()
            StandardStream.error.writeLine(
                "hlsget: error: cannot listen on \(options.address) port \(options.port ?? 0): \(error.description)")
            return .internalError
        }
        defer { server?.close() }
        _ = watches.apply(list)
        let telling = Task { await notices.run() }
        let end = await follow(watches, page, server, signals, reload, keyboard)
        await watches.close()
        telling.cancel()
        await telling.value
        keyboard?.close()
        screen?.close()
        return finish(watches, end, at: clock.now - began)
    }

    private func serve(_ page: MonitorWeb, at began: HostTime) throws(MonitorServer.Failure) -> MonitorServer? {
        guard let port = options.port else { return nil }
        let server = try MonitorServer(address: options.address, port: port, clock: clock) { page.answer($0) }
        if !options.isQuiet {
            let host = options.address.contains(":") ? "[\(options.address)]" : options.address
            let text = "page, metrics and health at http://\(host):\(server.port)/"
            if style == .json {
                StandardStream.error.writeLine(EventReporter.note(text, at: clock.now - began))
            } else {
                StandardStream.error.writeLine("hlsget: \(text)")
            }
        }
        return server
    }

    // MARK: The loop

    private func follow(
        _ watches: StreamGroup, _ page: MonitorWeb, _ server: MonitorServer?, _ signals: SignalWatcher,
        _ reload: ReloadSignal?, _ keyboard: KeyboardWatcher?
    ) async -> ExitStatus {
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self, bufferingPolicy: .bufferingOldest(100))
        let (clock, duration) = (clock, options.duration)
        let tasks = [
            Task {
                while !Task.isCancelled {
                    sink.yield(.tick)
                    try await clock.sleep(for: Self.tick)
                }
            },
            Task { for await signal in signals.requests { sink.yield(.signal(signal)) } },
            Task {
                guard let reload else { return }
                for await _ in reload.requests { sink.yield(.reload) }
            },
            Task {
                guard let keyboard else { return }
                for await key in keyboard.keys { sink.yield(.key(key)) }
            },
            Task {
                guard let duration else { return }
                try await clock.sleep(for: duration)
                sink.yield(.isTime)
            },
        ]
        defer { for task in tasks { task.cancel() } }
        var tickCount = 0
        var reported = Duration.zero
        for await happening in happenings {
            switch happening {
            case .signal(let signal): return .interrupted(signal: signal)
            case .isTime: return .done
            case .reload:
                if terminal.hasHappened { return .interrupted(signal: SIGHUP) }
                readAgain(watches)
            case .key(let key):
                guard screen?.take(key) ?? true else { return .done }
                screen?.show(watches.rows, elapsed: watches.elapsed)
            case .tick:
                page.beat()
                let isPageTime = server != nil && tickCount % Self.pageTicks == 0
                tickCount += 1
                let isDue = style == .json && watches.elapsed - reported >= options.interval
                guard screen != nil || isPageTime || isDue else { continue }
                let rows = watches.rows
                screen?.show(rows, elapsed: watches.elapsed)
                if isPageTime {
                    let events = page.update(rows)
                    if !events.isEmpty { server?.send(event: events) }
                }
                if isDue {
                    reported = watches.elapsed
                    write(rows, at: reported)
                }
            }
        }
        return .done
    }

    private func readAgain(_ watches: StreamGroup) {
        do throws(ArgumentValueError) {
            let list = try source.read()
            let (added, removed) = watches.apply(list)
            say(note: "the list was read again: \(added) added, \(removed) removed", at: watches.elapsed)
            for text in list.warnings { warn(text, at: watches.elapsed) }
        } catch {
            warn("the list is unchanged: \(error.description)", at: watches.elapsed)
        }
    }

    // MARK: Reporting

    private func write(_ rows: [StreamRow], at time: Duration) {
        let lines = rows.sorted { $0.name < $1.name }.map { EventReporter.text("stream", at: time, $0.members) }
        StandardStream.error.write(lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n"))
    }

    private func say(_ change: StreamHealth.Change, of stream: WatchedStream) {
        if style == .json {
            StandardStream.error.writeLine(
                EventReporter.text("stream_state", at: change.time, change.members(of: stream)))
        } else if change.old != nil || change.new != .up {
            say(text: change.text(of: stream.entry.name), at: change.time)
        }
    }

    private func say(note: String, at time: Duration) {
        if style == .json {
            StandardStream.error.writeLine(EventReporter.note(note, at: time))
        } else {
            say(text: note, at: time)
        }
    }

    private func warn(_ text: String, at time: Duration) {
        if style == .json {
            StandardStream.error.writeLine(EventReporter.warning(text, at: time))
        } else {
            say(text: "warning: \(TerminalText.escaped(text))", at: time, isWarning: true)
        }
    }

    private func say(text: String, at time: Duration, isWarning: Bool = false) {
        if let screen {
            screen.say(text, at: time)
        } else if !options.isQuiet || isWarning {
            StandardStream.error.writeLine("hlsget: \(text)")
        }
    }

    private func finish(_ watches: StreamGroup, _ end: ExitStatus, at time: Duration) -> ExitStatus {
        let rows = watches.rows.sorted { $0.name < $1.name }
        let outages = rows.reduce(0) { $0 &+ $1.counters.outageCount }
        let status = end == .done && options.isStrict && watches.hasSeenOutage ? .incomplete : end
        if style == .json {
            write(rows, at: time)
            StandardStream.error.writeLine(EventReporter.text("summary", at: time, summary(of: rows, outages, status)))
        }
        if options.printsDocument {
            let streams = JSONValue.array(rows.map { .object($0.members) })
            StandardStream.output.writeLine(
                JSONValue.object(["v": 1, "elapsed": .number(time.inSeconds), "streams": streams]).text)
        }
        if !options.isQuiet, style != .json {
            StandardStream.error.writeLine(
                "hlsget: watched \(Decimals.count(rows.count, "stream")) for \(Decimals.length(time.inSeconds)): "
                    + "\(MonitorTable.counts(of: rows)); \(Decimals.count(outages, "outage"))")
        }
        return status
    }

    private func summary(of rows: [StreamRow], _ outages: Int, _ status: ExitStatus) -> [JSONValue.Member] {
        var counts: [String: Int] = [:]
        for row in rows { counts[row.stateName, default: 0] += 1 }
        let states = ["up", "degraded", "down", "starting"].map { name in
            JSONValue.Member(name: name, value: .integer(counts[name] ?? 0))
        }
        return [.init(name: "streams", value: .integer(rows.count))] + states + [
            .init(name: "outages", value: .integer(outages)),
            .init(name: "exit_status", value: .integer(Int(status.rawValue))),
        ]
    }

    /// A thousand streams need more connections than the default limit of 1024 open files allows.
    private static func allowManyFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
