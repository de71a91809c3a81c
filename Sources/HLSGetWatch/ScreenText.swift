import HLSGetKit
import HLSKitCore

/// The text at the lower edge of a window: a message, then the player's state in one line.
struct ScreenText: Sendable, Equatable {
    /// The latest message, or `nil` if that is long ago.
    var message: String?
    /// The number of characters of a line.
    var columns: Int
    /// Whether the state is the status line of a terminal instead of a viewer's words.
    var showsDetails = false

    /// The most lines of a message. Longer ones are cut.
    private static let messageLineCount = 6

    func lines(_ state: PlayerState) -> [String] {
        let message = message.map { TerminalText.wrapped($0, columns: columns).prefix(Self.messageLineCount) } ?? []
        let line =
            showsDetails
            ? StatusLine(width: columns, showsBar: false).render(state)
            : String(StatusLine.viewerText(state).prefix(columns))
        return message + [line]
    }

    /// Whether the window shows the text although nobody has asked for it.
    static func isNeeded(_ state: PlayerState) -> Bool {
        state.timeControlStatus != .playing
    }
}
