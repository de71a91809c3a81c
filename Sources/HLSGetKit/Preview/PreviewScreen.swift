import Glibc
import HLSKitCore
import Synchronization

/// Shows images over the last lines of a terminal, on its alternate screen, which is closed on leaving.
///
/// All output to the terminal goes through this type, so that nothing is written into the middle of an image.
package final class PreviewScreen: Sendable {
    private struct State {
        var isEntered = false
        var size = PreviewLayout.Size(columns: 0, rows: 0)
        /// The lines of the last half-block image. Unchanged lines are not sent again.
        var lines: [[UInt8]] = []
        var place: PreviewLayout.Place?
    }

    let format: PreviewFormat
    let stream: StandardStream
    private let size: @Sendable () -> PreviewLayout.Size?
    private let blocks: HalfBlockEncoder
    private let state = Mutex(State())

    /// Uses the terminal of standard error or, if that is redirected, of standard output.
    ///
    /// - Parameter format: The format, or `nil` to query the terminal.
    package convenience init(format: PreviewFormat?) throws(ArgumentValueError) {
        let streams = [StandardStream.error, .output]
        guard let stream = streams.first(where: { Terminal(descriptor: $0.descriptor).understandsEscapes }) else {
            throw ArgumentValueError("--preview needs a terminal")
        }
        let terminal = Terminal(descriptor: stream.descriptor)
        let chosen =
            format
            ?? PreviewFormat(
                environment: { getenv($0).map { String(cString: $0) } }, answer: TerminalQuestion.answer(output: stream)
            )
        self.init(
            format: chosen, stream: stream, allowsUnicode: terminal.allowsUnicode,
            allowsTrueColor: terminal.allowsTrueColor, size: { Self.size(of: stream.descriptor) })
    }

    /// Whether standard error is redirected, so that messages belong there, too.
    package var isOnOutput: Bool { stream.descriptor == StandardStream.output.descriptor }

    init(
        format: PreviewFormat, stream: StandardStream, allowsUnicode: Bool, allowsTrueColor: Bool = true,
        size: @escaping @Sendable () -> PreviewLayout.Size?
    ) {
        self.format = format
        self.stream = stream
        self.size = size
        blocks = HalfBlockEncoder(allowsUnicode: allowsUnicode, allowsTrueColor: allowsTrueColor)
    }

    private static func size(of descriptor: Int32) -> PreviewLayout.Size? {
        // struct winsize: rows, columns, width, height.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size[0] > 0, size[1] > 0 else { return nil }
        return PreviewLayout.Size(
            columns: Int(size[1]), rows: Int(size[0]), width: Int(size[2]), height: Int(size[3]))
    }

    /// Switches to the alternate screen, also after a stop and continue.
    package func enter() {
        state.withLock { state in
            state.isEntered = true
            stream.write("\u{1b}[?1049h\u{1b}[?25l")
            arrange(&state)
        }
    }

    /// Restores the terminal. It may be called repeatedly, and by the thread that ends the command.
    package func leave() {
        // A drawing thread holds the lock while the terminal is slow, so limit the time to wait for it.
        for _ in 0..<200 {
            let isDone = state.withLockIfAvailable { state in
                guard state.isEntered else { return true }
                state.isEntered = false
                let images = format == .kitty ? KittyEncoder.deletion : ""
                stream.write("\(images)\u{1b}[0m\u{1b}[r\u{1b}[?25h\u{1b}[?1049l")
                return true
            }
            if isDone == true { return }
            usleep(2000)
        }
    }

    func write(_ text: String) { state.withLock { _ in stream.write(text) } }

    var layout: PreviewLayout {
        PreviewLayout(size: size() ?? PreviewLayout.Size(columns: 80, rows: 24), format: format)
    }

    func show(_ image: StillImage) {
        state.withLock { state in
            guard state.isEntered else { return }
            let layout = layout
            if layout.size != state.size { arrange(&state) }
            let place = layout.place(of: PixelSize(width: image.width, height: image.height))
            // Keep the cursor in the lines below. Terminals with synchronized output show the whole image at once.
            var bytes = Array("\u{1b}7\u{1b}[?2026h".utf8)
            if place != state.place, state.place != nil { bytes += erasure(layout) }
            if place != state.place { state.lines = [] }
            switch format {
            case .blocks: bytes += changedLines(of: image, in: place, &state)
            case .sixel:
                bytes += "\u{1b}[\(place.row);\(place.column)H".utf8
                bytes += SixelEncoder().bytes(of: image)
            case .kitty:
                bytes += "\u{1b}[\(place.row);\(place.column)H".utf8
                bytes += KittyEncoder().bytes(of: image, in: place)
            }
            state.place = place
            bytes += "\u{1b}[?2026l\u{1b}8".utf8
            stream.write(bytes)
        }
    }

    private func changedLines(of image: StillImage, in place: PreviewLayout.Place, _ state: inout State) -> [UInt8] {
        let lines = blocks.lines(of: image)
        var bytes: [UInt8] = []
        for (index, line) in lines.prefix(place.rows).enumerated() {
            if index < state.lines.count, state.lines[index] == line { continue }
            bytes += "\u{1b}[\(place.row + index);\(place.column)H".utf8
            bytes += line
        }
        state.lines = lines
        return bytes
    }

    private func erasure(_ layout: PreviewLayout) -> [UInt8] {
        var text = format == .kitty ? KittyEncoder.deletion : ""
        for row in 1...layout.rows { text += "\u{1b}[\(row);1H\u{1b}[2K" }
        return Array(text.utf8)
    }

    /// Restricts scrolling to the last lines, with the cursor in the last one.
    private func arrange(_ state: inout State) {
        let layout = layout
        state.size = layout.size
        state.lines = []
        state.place = nil
        let top = min(layout.rows + 1, layout.size.rows)
        let images = format == .kitty ? KittyEncoder.deletion : ""
        stream.write("\(images)\u{1b}[r\u{1b}[2J\u{1b}[\(top);\(layout.size.rows)r\u{1b}[\(layout.size.rows);1H")
    }
}
