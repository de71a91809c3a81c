/// Encodes captions as byte pairs that write them to the hidden screen of CC1 (pop-on).
///
/// Source: ANSI/CTA-608-E §B.5. Commands are sent twice.
enum CEA608Encoder {
    /// Words that must be sent without a gap: a command and its repetition, or characters.
    typealias Unit = [UInt16]

    static let endOfCaption = command(0x14, 0x2f)
    static let eraseDisplayed = command(0x14, 0x2c)

    static func load(_ layout: CEA608Layout) -> [Unit] {
        var encoder = Encoder()
        encoder.add(0x14, 0x20)  // resume caption loading
        encoder.add(0x14, 0x2e)  // erase non-displayed memory
        for line in layout.lines { encoder.add(line) }
        return encoder.units
    }

    private static func command(_ first: UInt8, _ second: UInt8) -> Unit {
        let word = word(first, second)
        return [word, word]
    }

    private static func word(_ first: UInt8, _ second: UInt8) -> UInt16 {
        UInt16(withParity(first)) << 8 | UInt16(withParity(second))
    }

    static func withParity(_ byte: UInt8) -> UInt8 {
        (byte & 0x7f).nonzeroBitCount % 2 == 0 ? byte | 0x80 : byte & 0x7f
    }

    private struct Encoder {
        var units: [Unit] = []
        private var half: UInt8?

        mutating func add(_ first: UInt8, _ second: UInt8) {
            flush()
            units.append(command(first, second))
        }

        private mutating func flush() {
            guard let byte = half else { return }
            half = nil
            units.append([word(byte, 0)])
        }

        private mutating func add(_ byte: UInt8) {
            guard let first = half else {
                half = byte
                return
            }
            half = nil
            units.append([word(first, byte)])
        }

        mutating func add(_ line: CEA608Layout.Line) {
            guard let first = line.cells.first else { return }
            start(row: line.row, column: line.column, pen: first.pen)
            for (index, cell) in line.cells.enumerated() {
                let next = index + 1 < line.cells.count ? line.cells[index + 1].pen : cell.pen
                if cell.scalar == " ", next != cell.pen {
                    addMidRow(next)
                } else {
                    add(cell.scalar ?? " ")
                }
            }
            flush()
        }

        private mutating func start(row: Int, column: Int, pen: CEA608Pen) {
            let isPlain = pen.color == 0 && !pen.isItalic
            if isPlain || column > 0 {
                // A style code takes up the cell before the text.
                let start = isPlain ? column : column - 1
                addPreamble(
                    row: row, attribute: 0x10 | UInt8(start / 4) << 1 | (isPlain && pen.isUnderlined ? 1 : 0))
                if start % 4 > 0 { add(0x17, UInt8(0x20 + start % 4)) }
                if !isPlain { addMidRow(pen) }
            } else {
                let attribute: UInt8 = pen.isItalic ? 7 : pen.color
                addPreamble(row: row, attribute: attribute << 1 | (pen.isUnderlined ? 1 : 0))
            }
        }

        private mutating func addPreamble(row: Int, attribute: UInt8) {
            let codes: [UInt8] = [
                0x11, 0x11, 0x12, 0x12, 0x15, 0x15, 0x16, 0x16, 0x17, 0x17, 0x10, 0x13, 0x13, 0x14, 0x14,
            ]
            // The second row of each code has an additional bit. Row 11 has a separate code.
            let isSecond = row < 10 ? row % 2 == 1 : row > 10 && row % 2 == 0
            add(codes[min(max(row, 0), 14)], (isSecond ? 0x60 : 0x40) | attribute)
        }

        private mutating func addMidRow(_ pen: CEA608Pen) {
            let attribute: UInt8 = pen.isItalic ? 7 : pen.color
            add(0x11, 0x20 | attribute << 1 | (pen.isUnderlined ? 1 : 0))
        }

        private mutating func add(_ scalar: Unicode.Scalar) {
            switch CEA608Characters.code(of: scalar) {
            case .standard(let byte): add(byte)
            case .special(let byte): add(0x11, byte)
            case .extended(let first, let second, let substitute):
                add(substitute)
                add(first, second)
            case nil: add(UInt8(ascii: "?"))
            }
        }
    }
}
