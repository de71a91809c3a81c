package import HLSKitTime

/// Decodes the byte pairs of one field of line 21 into captions.
///
/// Both channels of the field are decoded. Text services and extended data (XDS) are skipped. A caption is emitted when
/// it ends: when the screen is erased, replaced or rolled up. In roll-up mode, each new line makes a caption that
/// includes the visible lines above it.
///
/// Source: ANSI/CTA-608-E (line 21 data services), 47 CFR 15.119.
package struct CEA608Decoder: Sendable {
    private enum Mode { case none, popOn, rollUp(Int), paintOn, text }

    private struct Channel {
        var mode = Mode.none
        var displayed = CEA608Screen()
        var hidden = CEA608Screen()
        /// The start time of the displayed content, or nil while there is no visible text.
        var since: MediaTime?
        var row = CaptionGrid.rowCount - 1
        var column = 0
        var pen = CEA608Pen()
        /// The cell after the most recently overwritten displayed text.
        var rewriting: Int?

        var isDisplayWritten: Bool {
            switch mode {
            case .rollUp, .paintOn: true
            case .none, .popOn, .text: false
            }
        }
    }

    private let services: [ClosedCaptionService]
    private let checksParity: Bool
    private var channels = [Channel(), Channel()]
    /// The channel of the text, or nil before the first command and in extended data.
    private var current: Int?
    /// The last command. Each command is sent twice, and the repetition is ignored.
    private var lastCommand: (UInt8, UInt8)?

    /// - Parameters:
    ///   - field: 1 (CC1 and CC2) or 2 (CC3 and CC4). Other numbers are treated as 1.
    ///   - checksParity: Whether to check parity. If so, damaged characters become blocks and damaged commands are
    ///     skipped.
    package init(field: Int, checksParity: Bool = true) {
        services = field == 2 ? [.cc3, .cc4] : [.cc1, .cc2]
        self.checksParity = checksParity
    }

    /// Decodes a pair of bytes, including their parity bits, that was sent at `time`. Times must not decrease.
    package mutating func decode(
        _ first: UInt8, _ second: UInt8, at time: MediaTime, to captions: inout [ClosedCaption]
    ) {
        func isDamaged(_ byte: UInt8) -> Bool { checksParity && byte.nonzeroBitCount % 2 == 0 }
        let isFirstDamaged = isDamaged(first)
        let isSecondDamaged = isDamaged(second)
        let (first, second) = (first & 0x7f, second & 0x7f)
        guard first >= 0x10 && first < 0x20 else {
            lastCommand = nil
            if isFirstDamaged && first == 0 || first == 0 && second == 0 { return }
            if (0x01...0x0f).contains(first), !isFirstDamaged {
                // Extended data, which only the second field has.
                if services.first == .cc3 { current = nil }
                return
            }
            for byte in [isFirstDamaged ? 0x7f : first, isSecondDamaged ? 0x7f : second] {
                put(CEA608Characters.standard(byte), at: time, &captions)
            }
            return
        }
        guard !isFirstDamaged, !isSecondDamaged else { return }
        if let lastCommand, lastCommand == (first, second) {
            self.lastCommand = nil
            return
        }
        lastCommand = (first, second)
        current = first & 0x08 == 0 ? 0 : 1
        command(first & 0x77, second, at: time, &captions)
    }

    package mutating func finish(at time: MediaTime, to captions: inout [ClosedCaption]) {
        for index in channels.indices { give(index, at: time, &captions) }
    }

    // MARK: Commands

    /// - Parameter first: The first byte, mapped to the first channel.
    private mutating func command(
        _ first: UInt8, _ second: UInt8, at time: MediaTime, _ captions: inout [ClosedCaption]
    ) {
        guard let index = current else { return }
        switch (first, second) {
        // The second field has different codes for these, but files do not always use them correctly.
        case (0x14, 0x20...0x2f), (0x15, 0x20...0x2f): control(second, index, at: time, &captions)
        case (0x17, 0x21...0x23):
            channels[index].column = min(channels[index].column + Int(second - 0x20), CaptionGrid.columnCount - 1)
        case (0x11, 0x20...0x2f): midRow(second, index, at: time, &captions)
        case (0x11, 0x30...0x3f): put(CEA608Characters.special(second), at: time, &captions)
        case (0x12...0x13, 0x20...0x3f):
            if channels[index].column > 0 { channels[index].column -= 1 }
            put(CEA608Characters.extended(first, second), at: time, isCorrection: true, &captions)
        case (0x10, 0x20...0x2f):
            replaceSpace(index) { $0.background = (second & 0x0e) >> 1 == 7 ? nil : (second & 0x0e) >> 1 }
        case (0x17, 0x2d): replaceSpace(index) { $0.background = CEA608Color.transparentBackground }
        case (0x17, 0x2e...0x2f):
            replaceSpace(index) {
                $0.color = 7
                $0.isUnderlined = second == 0x2f
            }
        case (_, 0x40...0x7f): preamble(first, second, index)
        default: break
        }
    }

    private mutating func control(_ code: UInt8, _ index: Int, at time: MediaTime, _ captions: inout [ClosedCaption]) {
        switch code {
        case 0x20: channels[index].mode = .popOn
        case 0x21: backspace(index)
        case 0x24: clearRow(index, at: time, &captions)
        case 0x25...0x27: startRollUp(Int(code) - 0x23, index, at: time, &captions)
        // Flashing takes up a cell, as do all attributes within a row.
        case 0x28: put(" ", at: time, &captions)
        case 0x29:
            give(index, at: time, &captions)
            channels[index].mode = .paintOn
        case 0x2a, 0x2b: channels[index].mode = .text
        case 0x2c:
            give(index, at: time, &captions)
            channels[index].displayed = CEA608Screen()
            channels[index].since = nil
        case 0x2d: carriageReturn(index, at: time, &captions)
        case 0x2e: channels[index].hidden = CEA608Screen()
        case 0x2f:
            give(index, at: time, &captions)
            swap(&channels[index])
            channels[index].mode = .popOn
            channels[index].since = channels[index].displayed.isEmpty ? nil : time
        default: break
        }
    }

    private func swap(_ channel: inout Channel) {
        let displayed = channel.displayed
        channel.displayed = channel.hidden
        channel.hidden = displayed
    }

    private mutating func startRollUp(
        _ rowCount: Int, _ index: Int, at time: MediaTime, _ captions: inout [ClosedCaption]
    ) {
        if case .rollUp(let old) = channels[index].mode {
            channels[index].mode = .rollUp(rowCount)
            if rowCount < old { give(index, at: time, &captions) }
            return
        }
        give(index, at: time, &captions)
        channels[index] = Channel()
        channels[index].mode = .rollUp(rowCount)
    }

    private mutating func carriageReturn(_ index: Int, at time: MediaTime, _ captions: inout [ClosedCaption]) {
        guard case .rollUp(let rowCount) = channels[index].mode else { return }
        give(index, at: time, &captions)
        let base = channels[index].row
        channels[index].displayed.rollUp(rows: max(0, base - rowCount + 1)...base)
        channels[index].column = 0
        channels[index].pen = CEA608Pen()
        channels[index].since = channels[index].displayed.isEmpty ? nil : time
    }

    /// Decodes a preamble address code: a row, and a colour or an indent.
    private mutating func preamble(_ first: UInt8, _ second: UInt8, _ index: Int) {
        let rows: [UInt8: Int] = [0x11: 0, 0x12: 2, 0x15: 4, 0x16: 6, 0x17: 8, 0x10: 10, 0x13: 11, 0x14: 13]
        guard var row = rows[first] else { return }
        if first != 0x10, second & 0x20 != 0 { row += 1 }
        if case .rollUp(let rowCount) = channels[index].mode {
            // The base row cannot be so high that not all rows fit.
            row = max(row, rowCount - 1)
            channels[index].displayed.move(rowCount: rowCount, base: channels[index].row, to: row)
        }
        channels[index].row = row
        var pen = CEA608Pen()
        pen.isUnderlined = second & 1 == 1
        let attribute = (second & 0x1e) >> 1
        switch attribute {
        case 0...6:
            pen.color = attribute
            channels[index].column = 0
        case 7:
            pen.isItalic = true
            channels[index].column = 0
        default: channels[index].column = Int(attribute - 8) * 4
        }
        channels[index].pen = pen
        channels[index].rewriting = nil
    }

    private mutating func midRow(
        _ code: UInt8, _ index: Int, at time: MediaTime, _ captions: inout [ClosedCaption]
    ) {
        // The code takes up a cell, which keeps the previous style.
        put(" ", at: time, &captions)
        let attribute = (code & 0x0e) >> 1
        if attribute == 7 {
            channels[index].pen.isItalic = true
        } else {
            channels[index].pen.color = attribute
            channels[index].pen.isItalic = false
        }
        channels[index].pen.isUnderlined = code & 1 == 1
    }

    /// Sets attributes that replace the preceding space.
    private mutating func replaceSpace(_ index: Int, _ body: (inout CEA608Pen) -> Void) {
        body(&channels[index].pen)
        let (row, column, pen) = (channels[index].row, channels[index].column, channels[index].pen)
        guard column > 0 else { return }
        change(index, at: nil) { screen in
            if screen[row, column - 1].scalar == " " { screen[row, column - 1].pen = pen }
        }
    }

    // MARK: Text

    /// - Parameter isCorrection: Whether the previous character is a substitute for receivers that do not support this
    ///   one.
    private mutating func put(
        _ scalar: Unicode.Scalar?, at time: MediaTime, isCorrection: Bool = false,
        _ captions: inout [ClosedCaption]
    ) {
        guard let index = current, let scalar else { return }
        // After the last column, text overwrites that column.
        let isBehind = channels[index].column >= CaptionGrid.columnCount
        let column = min(channels[index].column, CaptionGrid.columnCount - 1)
        let (row, pen) = (channels[index].row, channels[index].pen)
        if !isBehind, !isCorrection { writeOver(row, column, with: scalar, index, at: time, &captions) }
        change(index, at: scalar == " " ? nil : time) {
            // A transparent space shows the picture.
            $0[row, column] =
                scalar == "\u{a0}" ? CEA608Screen.Cell() : CEA608Screen.Cell(scalar: scalar, pen: pen)
        }
        channels[index].column = column + 1
    }

    /// Ends the current caption when text overwrites readable text, once rather than with each character.
    private mutating func writeOver(
        _ row: Int, _ column: Int, with scalar: Unicode.Scalar, _ index: Int, at time: MediaTime,
        _ captions: inout [ClosedCaption]
    ) {
        guard channels[index].isDisplayWritten else { return }
        let cell = row * CaptionGrid.columnCount + column
        let old = channels[index].displayed[row, column].scalar ?? " "
        let continues = channels[index].rewriting == cell
        guard continues || old != " " && old != scalar else { return }
        if !continues { give(index, at: time, &captions) }
        channels[index].rewriting = cell + 1
    }

    private mutating func clearRow(_ index: Int, at time: MediaTime, _ captions: inout [ClosedCaption]) {
        let (row, column) = (channels[index].row, channels[index].column)
        if channels[index].isDisplayWritten, !channels[index].displayed.isBlank(row: row, from: column) {
            give(index, at: time, &captions)
        }
        change(index, at: nil) { $0.clear(row: row, from: column) }
        if channels[index].displayed.isEmpty { channels[index].since = nil }
    }

    private mutating func backspace(_ index: Int) {
        guard channels[index].column > 0 else { return }
        channels[index].column -= 1
        let (row, column) = (channels[index].row, channels[index].column)
        change(index, at: nil) { $0[row, column] = CEA608Screen.Cell() }
    }

    /// Changes the screen that is written to. `time` is the time from which the change is visible.
    private mutating func change(_ index: Int, at time: MediaTime?, _ body: (inout CEA608Screen) -> Void) {
        switch channels[index].mode {
        case .none, .text: break
        case .popOn: body(&channels[index].hidden)
        case .rollUp, .paintOn:
            body(&channels[index].displayed)
            if channels[index].since == nil { channels[index].since = time }
        }
    }

    /// Emits the displayed content as captions that end at `time`. It remains displayed.
    private mutating func give(_ index: Int, at time: MediaTime, _ captions: inout [ClosedCaption]) {
        let channel = channels[index]
        guard let since = channel.since, since < time else { return }
        channels[index].since = channel.displayed.isEmpty ? nil : time
        var scroll = CaptionRegion.Scroll.none
        var animation = Caption.Animation.none
        switch channel.mode {
        case .rollUp: scroll = .rollUp
        case .paintOn: animation = .characterReveal
        default: break
        }
        let range = MediaTimeRange(start: since, end: time)
        for caption in channel.displayed.captions(in: range, scroll: scroll, animation: animation) {
            captions.append(ClosedCaption(service: services[index], caption: caption))
        }
    }
}
