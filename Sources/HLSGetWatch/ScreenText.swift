import HLSGetKit
import HLSKitCore

struct ScreenText: Sendable, Equatable {
    /// The latest message, or `nil` after it has expired.
    var message: String?
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

    /// Whether to show the text without a request, because playback is not advancing.
    static func isNeeded(_ state: PlayerState) -> Bool {
        state.timeControlStatus != .playing
    }
}
