import HLSGetKit
import HLSKitCore

/// The text at the bottom of a window: the content of the terminal's status line, in several lines.
struct ScreenText: Sendable, Equatable {
    /// The latest message, or `nil` after it has expired.
    var message: String?
    /// Characters per line. Longer lines are shortened as in a terminal.
    var columns: Int

    func lines(_ state: PlayerState) -> String {
        let line = StatusLine(width: columns, showsBar: false).render(state)
        return [message.map { String($0.prefix(columns)) }, line].compactMap(\.self).joined(separator: "\n")
    }

    /// Whether to show the text without a request, because playback is not advancing.
    static func isNeeded(_ state: PlayerState) -> Bool {
        state.timeControlStatus != .playing
    }
}
