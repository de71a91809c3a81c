import HLSKitCore
import Synchronization

/// Everything that `play` says, to whom it says it, and when: the status line or the JSON lines while it goes on,
/// warnings, and at the end the summary and the error.
///
/// The caller hands in all events, all new states and about ten states a second, from any thread, and ends with
/// ``finish(_:error:files:elapsed:)``.
final class PlayReporter: Sendable {
    private struct State {
        var summary: PlaySummary
        var events = EventReporter()
    }

    private let options: PlayOptions
    private let style: PlayOptions.ProgressStyle
    private let display: StatusDisplay?
    private let standardOutput: @Sendable (String) -> Void
    private let standardError: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// A reporter on standard error and standard output.
    convenience init(options: PlayOptions) {
        let display = StatusDisplay()
        self.init(
            options: options, display: display, standardOutput: { StandardStream.output.write($0) },
            standardError: { StandardStream.error.write($0) })
    }

    /// - Parameter display: A display on the terminal that standard error is; nil where it is none.
    init(
        options: PlayOptions, display: StatusDisplay?, standardOutput: @escaping @Sendable (String) -> Void,
        standardError: @escaping @Sendable (String) -> Void
    ) {
        self.options = options
        style = options.progressStyle(standardErrorIsTerminal: display != nil)
        self.display = style == .bar ? display : nil
        self.standardOutput = standardOutput
        self.standardError = standardError
        state = Mutex(State(summary: PlaySummary(url: options.url)))
    }

    func observe(_ event: PlayerEvent) {
        state.withLock { state in
            state.summary.observe(event)
            if style == .json {
                write(state.events.lines(for: event))
            } else if let line = EventText.line(for: event, verbosity: options.verbosity) {
                if let display { display.print(line) } else { write([line]) }
            }
        }
    }

    /// Takes a snapshot, made at `time` of the player's clock.
    func update(_ player: PlayerState, at time: Duration) {
        state.withLock { state in
            state.summary.state = player
            switch style {
            case .bar: display?.update(player, at: time)
            case .json: write(state.events.lines(for: player, at: time))
            case .none: break
            }
        }
    }

    /// Says how it ended.
    ///
    /// - Parameters:
    ///   - status: How it ended, before `--strict` is asked.
    ///   - error: The failure that ended it.
    ///   - elapsed: Time of the player's clock.
    /// - Returns: What to tell the shell: with `--strict`, ``ExitStatus/incomplete`` in place of
    ///   ``ExitStatus/done`` where anything is missing.
    func finish(
        _ status: ExitStatus, error: PlayerError? = nil, files: [PlaySummary.File] = [], elapsed: Duration
    ) -> ExitStatus {
        state.withLock { state in
            let isTooLittle = options.isStrict && status == .done && state.summary.isIncomplete
            state.summary.exitStatus = isTooLittle ? .incomplete : status
            state.summary.error = error
            state.summary.files = files
            state.summary.elapsed = elapsed

            display?.clear()
            if style == .json {
                write([state.events.line(for: state.summary, at: elapsed)])
            } else if options.verbosity != .quiet {
                write(state.summary.lines)
            }
            if let error {
                write([ErrorLine.text(for: error)])
            } else if isTooLittle {
                write([Self.incompleteLine(state.summary)])
            }
            if options.printsSummaryDocument { standardOutput(state.summary.document + "\n") }
            return state.summary.exitStatus
        }
    }

    /// Names the first thing that is missing.
    private static func incompleteLine(_ summary: PlaySummary) -> String {
        guard let first = summary.skipped.first ?? summary.missed.first else {
            return ErrorLine.line("incomplete: damaged samples", url: summary.url, detail: nil)
        }
        let others = summary.skipped.count + summary.missed.count - 1
        let more = others > 0 ? " and \(others) more" : ""
        return ErrorLine.line("incomplete: segment \(first.first)\(more)", url: first.url, detail: first.cause)
    }

    private func write(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        standardError(lines.joined(separator: "\n") + "\n")
    }
}
