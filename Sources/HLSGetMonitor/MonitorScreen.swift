import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

final class MonitorScreen: Sendable {
    private let terminal: Terminal
    private let isOpen = Mutex(false)
    private let offset = Mutex(0)
    private let message = Mutex<(text: String, time: Duration)?>(nil)
    private static let messageTime = Duration.seconds(60)

    /// Returns `nil` if the terminal does not understand escape sequences.
    init?() {
        terminal = Terminal(descriptor: STDERR_FILENO)
        guard terminal.understandsEscapes else { return nil }
    }

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
        // A single write prevents flicker.
        let text = lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
        isOpen.withLock { isOpen in
            let begin = isOpen ? "" : "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
            isOpen = true
            StandardStream.error.write("\(begin)\u{1b}[H\(text)\u{1b}[J")
        }
    }

    func say(_ text: String, at time: Duration) { message.withLock { $0 = (text, time) } }

    /// Handles the arrow keys and a pager's keys, which scroll through the streams.
    ///
    /// - Returns: `false` if the monitor should end.
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

    /// Restores the terminal. Any thread may call it, even repeatedly.
    func close() {
        isOpen.withLock { isOpen in
            if isOpen { StandardStream.error.write("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l") }
            isOpen = false
        }
    }
}
