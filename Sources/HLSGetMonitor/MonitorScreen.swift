import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

/// Shows the table on the terminal behind standard error, on a page of its own, and gives the page before back.
final class MonitorScreen: Sendable {
    private let terminal: Terminal
    private let isOpen = Mutex(false)
    private let offset = Mutex(0)
    private let message = Mutex<(text: String, time: Duration)?>(nil)
    /// So long a message stays.
    private static let messageTime = Duration.seconds(60)

    /// nil where there is no terminal that understands escape sequences.
    init?() {
        terminal = Terminal(descriptor: STDERR_FILENO)
        guard terminal.understandsEscapes else { return nil }
    }

    /// The lines that fit, over those before.
    func show(_ rows: [StreamRow], elapsed: Duration) {
        let size = Terminal.size(of: STDERR_FILENO) ?? (columns: 80, rows: 24)
        let offset = offset.withLock { offset in
            offset = max(0, min(offset, rows.count - 1))
            return offset
        }
        let footer = message.withLock { message in
            if let time = message?.time, elapsed - time > Self.messageTime { message = nil }
            return message.map { "\(Decimals.clock($0.time.inSeconds))  \($0.text)" } ?? ""
        }
        let table = MonitorTable(
            width: size.columns, height: max(1, size.rows), allowsColor: terminal.allowsColor,
            allowsUnicode: terminal.allowsUnicode, offset: offset, footer: footer)
        let lines = table.render(rows, elapsed: elapsed)
        // One write of all over all: nothing is ever blank.
        let text = lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
        isOpen.withLock { isOpen in
            let begin = isOpen ? "" : "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
            isOpen = true
            StandardStream.error.write("\(begin)\u{1b}[H\(text)\u{1b}[J")
        }
    }

    /// What is shown below the table for a while, in the place of what was before.
    func say(_ text: String, at time: Duration) { message.withLock { $0 = (text, time) } }

    /// The arrow keys and those of a pager move through the streams.
    ///
    /// - Returns: false where it is to end.
    func take(_ key: Key) -> Bool {
        let page = max(1, (Terminal.size(of: STDERR_FILENO)?.rows ?? 24) - 3)
        let step: Int
        switch key {
        case .character("q"): return false
        case .down, .character("j"): step = 1
        case .up, .character("k"): step = -1
        case .character(" "), .right: step = page
        case .character("b"), .left: step = -page
        default: return true
        }
        offset.withLock { $0 = max(0, $0 + step) }
        return true
    }

    /// Gives the terminal back. May be called by any thread, and more than once.
    func close() {
        isOpen.withLock { isOpen in
            if isOpen { StandardStream.error.write("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l") }
            isOpen = false
        }
    }
}
