import HLSKitTime

/// One service of CEA-708: its windows and their captions.
///
/// A caption is the content of a visible window until it changes. Text written into a visible window belongs to its
/// current caption. Delays and window effects are skipped.
struct CEA708Service: Sendable {
    private var windows = [CEA708Window?](repeating: nil, count: 8)
    private var current: Int?
    /// The start time of each window's current content, or nil while it has no readable text.
    private var since = [MediaTime?](repeating: nil, count: 8)

    mutating func decode(_ block: ArraySlice<UInt8>, at time: MediaTime, to captions: inout [Caption]) {
        var rest = block
        while let code = rest.popFirst() {
            switch code {
            case 0x00...0x1f: control(code, &rest, at: time, &captions)
            case 0x7f: write("\u{266a}", at: time, &captions)
            case 0x20...0x7e, 0xa0...0xff: write(Unicode.Scalar(code), at: time, &captions)
            default:
                let count = Self.parameterCount(code)
                guard rest.count >= count else { return }
                command(code, Array(rest.prefix(count)), at: time, &captions)
                rest = rest.dropFirst(count)
            }
        }
    }

    mutating func finish(at time: MediaTime, to captions: inout [Caption]) {
        change(at: time, &captions) { windows, _ in windows = Array(repeating: nil, count: windows.count) }
    }

    // MARK: Text

    private mutating func write(_ scalar: Unicode.Scalar, at time: MediaTime, _ captions: inout [Caption]) {
        guard let index = current, let window = windows[index] else { return }
        if window.isVisible, window.writesOver(with: scalar) {
            change(at: time, &captions) { windows, _ in windows[index]?.write(scalar) }
        } else {
            windows[index]?.write(scalar)
        }
        if since[index] == nil, scalar != " ", window.isVisible { since[index] = time }
    }

    private mutating func control(
        _ code: UInt8, _ rest: inout ArraySlice<UInt8>, at time: MediaTime, _ captions: inout [Caption]
    ) {
        switch code {
        case 0x08: if let current { windows[current]?.backspace() }
        case 0x0c: change(at: time, &captions) { windows, current in if let current { windows[current]?.clear() } }
        case 0x0d:
            change(at: time, &captions) { windows, current in if let current { windows[current]?.nextLine() } }
        case 0x0e:
            change(at: time, &captions) { windows, current in if let current { windows[current]?.restartLine() } }
        case 0x10: extended(&rest, at: time, &captions)
        case 0x11...0x17: rest = rest.dropFirst(1)
        case 0x18...0x1f: rest = rest.dropFirst(2)
        default: break
        }
    }

    private mutating func extended(
        _ rest: inout ArraySlice<UInt8>, at time: MediaTime, _ captions: inout [Caption]
    ) {
        guard let code = rest.popFirst() else { return }
        switch code {
        case 0x08...0x0f: rest = rest.dropFirst(1)
        case 0x10...0x17: rest = rest.dropFirst(2)
        case 0x18...0x1f: rest = rest.dropFirst(3)
        case 0x80...0x87: rest = rest.dropFirst(4)
        case 0x88...0x8f: rest = rest.dropFirst(5)
        case 0x90...0x9f: if let header = rest.popFirst() { rest = rest.dropFirst(Int(header & 0x3f)) }
        case 0x20...0x7f, 0xa0...0xff: write(Self.extendedCharacters[code] ?? "_", at: time, &captions)
        default: break
        }
    }

    /// Source: ANSI/CTA-708-E §7.1.8 (G2). Unknown characters are shown as an underscore.
    private static let extendedCharacters: [UInt8: Unicode.Scalar] = [
        0x20: " ", 0x21: "\u{a0}", 0x25: "\u{2026}", 0x2a: "\u{160}", 0x2c: "\u{152}", 0x30: "\u{2588}",
        0x31: "\u{2018}", 0x32: "\u{2019}", 0x33: "\u{201c}", 0x34: "\u{201d}", 0x35: "\u{2022}", 0x39: "\u{2122}",
        0x3a: "\u{161}", 0x3c: "\u{153}", 0x3d: "\u{2120}", 0x3f: "\u{178}", 0x76: "\u{215b}", 0x77: "\u{215c}",
        0x78: "\u{215d}", 0x79: "\u{215e}", 0x7a: "\u{2502}", 0x7b: "\u{2510}", 0x7c: "\u{2514}", 0x7d: "\u{2500}",
        0x7e: "\u{2518}", 0x7f: "\u{250c}",
    ]

    // MARK: Commands

    /// Source: ANSI/CTA-708-E §8.10.5.
    private static func parameterCount(_ code: UInt8) -> Int {
        switch code {
        case 0x88...0x8d: 1
        case 0x90, 0x92: 2
        case 0x91: 3
        case 0x97: 4
        case 0x98...0x9f: 6
        default: 0
        }
    }

    private mutating func command(
        _ code: UInt8, _ bytes: [UInt8], at time: MediaTime, _ captions: inout [Caption]
    ) {
        switch code {
        case 0x80...0x87: if windows[Int(code - 0x80)] != nil { current = Int(code - 0x80) }
        case 0x88: each(bytes[0], at: time, &captions) { $0?.clear() }
        case 0x89: each(bytes[0], at: time, &captions) { $0?.isVisible = true }
        case 0x8a: each(bytes[0], at: time, &captions) { $0?.isVisible = false }
        case 0x8b: each(bytes[0], at: time, &captions) { $0?.isVisible.toggle() }
        case 0x8c:
            each(bytes[0], at: time, &captions) { $0 = nil }
            if let index = current, windows[index] == nil { current = nil }
        case 0x8f:
            change(at: time, &captions) { windows, _ in windows = Array(repeating: nil, count: windows.count) }
            current = nil
        case 0x90:
            guard let current else { return }
            windows[current]?.pen.isItalic = bytes[1] & 0x80 != 0
            windows[current]?.pen.isUnderlined = bytes[1] & 0x40 != 0
        case 0x91:
            guard let current else { return }
            let color = Self.color(bytes[0])
            let background = Self.color(bytes[1])
            windows[current]?.pen.color = color == .white ? nil : color
            windows[current]?.pen.background = background == .black ? nil : background
        case 0x92:
            if let current { windows[current]?.movePen(row: Int(bytes[0] & 0x0f), column: Int(bytes[1] & 0x3f)) }
        case 0x97:
            change(at: time, &captions) { windows, current in
                // Left, right, centre, full.
                if let current { windows[current]?.justification = [.left, .right, .center, .left][Int(bytes[2] & 3)] }
            }
        case 0x98...0x9f:
            let index = Int(code - 0x98)
            change(at: time, &captions) { windows, _ in
                var window = CEA708Window(parameters: bytes)
                if let old = windows[index] {
                    if old.hasSameShape(as: window) { window.keepText(of: old) }
                    // Style 0 means no style, so the window keeps its own.
                    if bytes[5] & 0x38 == 0 { window.justification = old.justification }
                }
                windows[index] = window
            }
            current = index
        default: break
        }
    }

    /// Decodes the opacity and two bits for each color. A transparent colour has no alpha.
    private static func color(_ byte: UInt8) -> CaptionColor {
        let alpha: UInt8 = [255, 255, 128, 0][Int(byte >> 6)]
        return CaptionColor(
            red: (byte >> 4 & 3) * 85, green: (byte >> 2 & 3) * 85, blue: (byte & 3) * 85, alpha: alpha)
    }

    private mutating func each(
        _ bitmap: UInt8, at time: MediaTime, _ captions: inout [Caption], _ body: (inout CEA708Window?) -> Void
    ) {
        change(at: time, &captions) { windows, _ in
            for index in windows.indices where bitmap & (1 << UInt8(index)) != 0 { body(&windows[index]) }
        }
    }

    // MARK: Captions

    /// Changes windows. Emits the previous content of those whose visible content changes.
    private mutating func change(
        at time: MediaTime, _ captions: inout [Caption], _ body: (inout [CEA708Window?], Int?) -> Void
    ) {
        let before = windows
        body(&windows, current)
        let changed = windows.indices.filter { index in
            switch (before[index], windows[index]) {
            case (nil, nil): false
            case (let old?, let new?): !old.looks(as: new)
            default: true
            }
        }
        for index in changed.sorted(by: { (before[$0]?.priority ?? 0, $0) < (before[$1]?.priority ?? 0, $1) }) {
            if let start = since[index], start < time, let window = before[index], let shown = window.pieces() {
                var caption = Caption(
                    "", timeRange: MediaTimeRange(start: start, end: time), region: shown.region,
                    textAlignment: window.justification)
                caption.setPieces(shown.pieces)
                captions.append(caption)
            }
            since[index] = windows[index].flatMap { $0.isVisible && $0.hasText ? time : nil }
        }
    }
}
