import HLSGetKit
import HLSKitCore

/// The text at the lower edge of a window: what the status line of a terminal says, in lines.
struct ScreenText: Sendable, Equatable {
    /// What was said last; nil if that is long ago.
    var message: String?
    /// Characters of a line; longer ones get shorter as in a terminal.
    var columns: Int

    func lines(_ state: PlayerState) -> String {
        let line = StatusLine(width: columns, showsBar: false).render(state)
        return [message.map { String($0.prefix(columns)) }, line].compactMap(\.self).joined(separator: "\n")
    }

    /// Whether there is something that nobody has asked to see, but should know.
    static func isNeeded(_ state: PlayerState) -> Bool {
        state.timeControlStatus != .playing
    }
}
