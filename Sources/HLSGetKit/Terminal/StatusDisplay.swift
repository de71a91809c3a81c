import Glibc
package import HLSKitCore
import Synchronization

/// Keeps one status line at the bottom of a terminal, and prints messages over it.
///
/// The terminal's width is read for each drawing, so the next line after a resize (SIGWINCH) is correct. Any thread may
/// use it, and no call blocks for longer than a write to the terminal.
package final class StatusDisplay: Sendable {
    /// The shortest time between two drawings.
    static let interval = Duration.milliseconds(100)

    private static let logInterval = Duration.seconds(1)

    private struct State {
        var hint: String?
        var recording: RecordingStatus?
        /// The displayed text without escape sequences, or empty if there is none.
        var shown = ""
        var shownWidth = 0
        var drawnAt: Duration?
        var status: TimeControlStatus?
    }

    private let terminal: Terminal
    private let width: @Sendable () -> Int?
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// Creates a display on standard error, or returns `nil` if that is not a terminal.
    ///
    /// - Parameter isForced: Whether to show the status anyway, as one separate line per second.
    package convenience init?(isForced: Bool = false) {
        let terminal = Terminal(descriptor: STDERR_FILENO)
        guard terminal.isTerminal || isForced else { return nil }
        self.init(
            terminal: terminal, isLog: !terminal.isTerminal, width: { Terminal.width(of: STDERR_FILENO) },
            write: { StandardStream.error.write($0) })
    }

    private let isLog: Bool
    private var shortestInterval: Duration { isLog ? Self.logInterval : Self.interval }

    package convenience init(below screen: PreviewScreen) {
        let descriptor = screen.stream.descriptor
        self.init(
            terminal: Terminal(descriptor: descriptor), width: { Terminal.width(of: descriptor) },
            write: { screen.write($0) })
    }

    init(
        terminal: Terminal, isLog: Bool = false, width: @escaping @Sendable () -> Int?,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.isLog = isLog
        self.terminal = terminal
        self.width = width
        self.write = write
    }

    /// Shows `player` at `time` of the player's clock. Skipped within ``interval`` of the last drawing unless the time
    /// control status has changed. Call it for each new state and about ten times a second.
    package func update(_ player: PlayerState, at time: Duration) {
        state.withLock { state in
            if let drawnAt = state.drawnAt, time - drawnAt < shortestInterval, player.timeControlStatus == state.status
            {
                return
            }
            state.drawnAt = time
            state.status = player.timeControlStatus
            draw(player, &state)
        }
    }

    /// Shows another line without colour that is not wider than ``columns``. Skipped within ``interval`` of the last
    /// drawing.
    package func update(_ line: String, at time: Duration) {
        state.withLock { state in
            if let drawnAt = state.drawnAt, time - drawnAt < shortestInterval { return }
            state.drawnAt = time
            draw(line, length: line.count, columns: columns, &state)
        }
    }

    package func setHint(_ hint: String) { state.withLock { $0.hint = hint } }

    package func setRecording(_ recording: RecordingStatus) { state.withLock { $0.recording = recording } }

    /// Sets the files that are being written. A split recording begins others.
    package func setRecordedFiles(_ paths: [String]) { state.withLock { $0.recording?.paths = paths } }

    package var columns: Int { width() ?? terminal.width ?? 80 }
    var allowsUnicode: Bool { terminal.allowsUnicode }

    /// Prints an escaped line (without a line feed) over the status line.
    package func print(_ line: String) {
        state.withLock { state in
            write(erasure(of: state) + line + "\n" + state.shown)
        }
    }

    package func clear() {
        state.withLock { state in
            guard !state.shown.isEmpty else { return }
            write(erasure(of: state))
            state = State()
        }
    }

    /// Leaves the last status line in place and starts a new line.
    package func finish() {
        state.withLock { state in
            guard !state.shown.isEmpty else { return }
            write("\n")
            state = State()
        }
    }

    private func draw(_ player: PlayerState, _ state: inout State) {
        let columns = columns
        var line = StatusLine(width: columns, allowsUnicode: terminal.allowsUnicode && !isLog)
        line.hint = state.hint
        line.recording = state.recording?.text(player)
        let length = line.render(player).count
        line.allowsColor = terminal.allowsColor && !isLog
        draw(line.render(player), length: length, columns: columns, &state)
    }

    private func draw(_ text: String, length: Int, columns: Int, _ state: inout State) {
        guard text != state.shown else { return }
        guard !isLog else { return write(text + "\n") }
        // Write the new line over the old one and then clear the rest, to prevent flicker.
        if terminal.understandsEscapes {
            write("\r" + text + "\u{1b}[K")
        } else {
            write("\r" + text + String(repeating: " ", count: max(0, min(state.shownWidth, columns - 1) - length)))
        }
        state.shown = text
        state.shownWidth = length
    }

    private func erasure(of state: State) -> String {
        guard !state.shown.isEmpty else { return "" }
        if terminal.understandsEscapes { return "\r\u{1b}[K" }
        return "\r" + String(repeating: " ", count: state.shownWidth) + "\r"
    }
}
