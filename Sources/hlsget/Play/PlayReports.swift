import Glibc
import HLSGetKit
import HLSGetReport
import HLSGetWatch
import HLSKitCore

/// The messages of one run of `hlsget play`, in the terminal, in the window and as JSON lines.
struct PlayReports {
    let display: StatusDisplay?
    let reportsJSON: Bool
    /// The destination of JSON lines, or `nil` if none are needed.
    let lines: ReportLines?
    private let options: PlayOptions
    private let preview: PreviewScreen?

    init(_ options: PlayOptions, preview: PreviewScreen?) {
        self.options = options
        self.preview = preview
        let isTerminal = preview != nil || Terminal(descriptor: StandardStream.error.descriptor).isTerminal
        let style = options.progressStyle(standardErrorIsTerminal: isTerminal)
        display =
            style == .bar
            ? preview.map(StatusDisplay.init(below:)) ?? StatusDisplay(isForced: options.progress == .bar) : nil
        reportsJSON = style == .json
        lines =
            reportsJSON || options.reportPath != nil
            ? ReportLines(records: options.reportPath != nil, writes: reportsJSON) : nil
    }

    /// Returns the receiver of the notes of writers.
    ///
    /// - Parameter now: The time since the start of the run.
    func note(at now: @escaping @Sendable () -> Duration) -> WriterNote {
        { [display, lines, options, reportsJSON] text in
            lines?.take(EventReporter.note(text, at: now()))
            guard !reportsJSON, options.verbosity != .quiet else { return }
            let line = ErrorLine.line(text, url: nil, detail: nil, severity: "note")
            if let display { display.print(line) } else { StandardStream.error.writeLine(line) }
        }
    }

    /// Shows a message to the viewer, in the window and in the terminal.
    func report(_ text: String, _ stage: WatchStage?) {
        stage?.say(text)
        guard stage == nil || display != nil else { return }
        for line in TerminalText.wrapped(text, columns: display?.columns ?? .max) { say(line) }
    }

    func show(
        _ state: PlayerState, at time: Duration, _ reporter: inout EventReporter, _ stage: WatchStage?
    ) {
        stage?.show(state)
        display?.update(state, at: time)
        if let lines { for line in reporter.lines(for: state, at: time) { lines.take(line) } }
    }

    func show(
        _ event: PlayerEvent, at time: Duration, _ reporter: inout EventReporter, _ stage: WatchStage?
    ) {
        if let lines { for line in reporter.lines(for: event, at: time) { lines.take(line) } }
        if reportsJSON { return }
        if let text = change(in: event)
            ?? EventText.line(
                for: event, verbosity: options.verbosity, showsCues: display != nil && stage == nil)
        {
            say(text)
        }
    }

    func warn(_ error: HLSError, at time: Duration) {
        lines?.take(EventReporter.warning(error.cause, url: error.urlString, detail: error.detail, at: time))
        if !reportsJSON, options.verbosity != .quiet {
            say(ErrorLine.line(error.cause, url: error.urlString, detail: error.detail, severity: "warning"))
        }
    }

    /// A warning if a recording cannot keep its quality.
    private func change(in event: PlayerEvent) -> String? {
        guard options.hasOneVariant, options.verbosity != .quiet,
            case .variantSwitched(let from?, let to, let explanation) = event.kind
        else { return nil }
        return EventText.change(from: from, to: to, because: explanation)
    }

    func say(_ line: String) {
        display?.print(line)
        if display == nil || preview?.isOnOutput == true { StandardStream.error.writeLine(line) }
    }

    func failure(of summary: PlaySummary) -> HLSError? {
        summary.error ?? (summary.exitStatus == .incomplete ? summary.incompleteError : nil)
    }

    /// Writes the summary.
    func report(_ summary: PlaySummary) {
        // Other commands end silently on SIGPIPE.
        if summary.exitStatus == .interrupted(signal: SIGPIPE), !reportsJSON { return }
        if let error = failure(of: summary) {
            StandardStream.error.writeLine(
                reportsJSON ? EventReporter.fatal(error, at: summary.elapsed) : ErrorLine.text(for: error))
        }
        if reportsJSON {
            StandardStream.error.writeLine(EventReporter.line(for: summary, at: summary.elapsed))
        } else if options.verbosity != .quiet, isWorthReporting(summary) {
            for line in summary.lines { StandardStream.error.writeLine(line) }
        }
        if options.printsSummaryDocument { StandardStream.output.writeLine(summary.document) }
    }

    /// Whether the statistics are meaningful because media was loaded or the user interrupted it.
    private func isWorthReporting(_ summary: PlaySummary) -> Bool {
        if case .interrupted = summary.exitStatus { return true }
        return summary.state.statistics.numberOfSegments > 0
    }
}
