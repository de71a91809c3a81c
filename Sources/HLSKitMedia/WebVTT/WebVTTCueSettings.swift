/// Position and layout of a cue. `nil` means the default of the format. ``position`` and ``size`` are percentages, 0 to
/// 100.
///
/// Unknown settings and invalid values are skipped.
///
/// Source: WebVTT §4.4, §6.3.
package struct WebVTTCueSettings: Sendable, Hashable {
    /// The line progression of text that runs from top to bottom.
    package enum Vertical: String, Sendable, Hashable {
        /// Lines progress from right to left.
        case growingLeft = "rl"
        /// Lines progress from left to right.
        case growingRight = "lr"
    }

    package enum Line: Sendable, Hashable {
        /// The number of lines from the top, or from the bottom if negative.
        case number(Double)
        /// In percent of the height (of the width for vertical text), 0 to 100.
        case percentage(Double)
    }

    package enum LineAlignment: String, Sendable, Hashable {
        case start, center, end
    }

    package enum PositionAlignment: String, Sendable, Hashable {
        case lineLeft = "line-left"
        case center
        case lineRight = "line-right"
    }

    package enum TextAlignment: String, Sendable, Hashable {
        case start, center, end, left, right
    }

    package var region: String?
    package var vertical: Vertical?
    package var line: Line?
    package var lineAlignment: LineAlignment?
    package var position: Double?
    package var positionAlignment: PositionAlignment?
    package var size: Double?
    package var alignment: TextAlignment?

    package init() {}

    package init(parsing text: Substring) {
        for setting in text.split(whereSeparator: WebVTTTime.isWhitespace) {
            guard let colon = setting.firstIndex(of: ":") else { continue }
            let value = setting[setting.index(after: colon)...]
            guard !value.isEmpty else { continue }
            apply(String(setting[..<colon]), value)
        }
    }

    private mutating func apply(_ name: String, _ value: Substring) {
        switch name {
        case "region": region = String(value)
        case "vertical": vertical = Vertical(rawValue: String(value)) ?? vertical
        case "line": applyLine(value)
        case "position": applyPosition(value)
        case "size": size = Self.percentage(value) ?? size
        case "align": alignment = TextAlignment(rawValue: String(value)) ?? alignment
        default: break
        }
    }

    private mutating func applyLine(_ value: Substring) {
        let (place, side) = Self.parts(value)
        let alignment = side.flatMap { LineAlignment(rawValue: String($0)) }
        guard side == nil || alignment != nil else { return }
        if place.hasSuffix("%") {
            guard let percentage = Self.percentage(place) else { return }
            line = .percentage(percentage)
        } else {
            guard let number = Self.number(place) else { return }
            line = .number(number)
        }
        lineAlignment = alignment
    }

    private mutating func applyPosition(_ value: Substring) {
        let (place, side) = Self.parts(value)
        let alignment = side.flatMap { PositionAlignment(rawValue: String($0)) }
        guard side == nil || alignment != nil, let percentage = Self.percentage(place) else { return }
        position = percentage
        positionAlignment = alignment
    }

    private static func parts(_ value: Substring) -> (place: Substring, side: Substring?) {
        guard let comma = value.firstIndex(of: ",") else { return (value, nil) }
        return (value[..<comma], value[value.index(after: comma)...])
    }

    private static func percentage(_ text: Substring) -> Double? {
        guard text.hasSuffix("%"), let value = number(text.dropLast()), (0...100).contains(value),
            !text.hasPrefix("-")
        else { return nil }
        return value
    }

    /// A longer number is valid but never useful.
    private static let maxDigitCount = 256

    /// Reads digits with at most one point and an optional leading minus.
    private static func number(_ text: Substring) -> Double? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard text.utf8.count - digits.count <= 1, digits.count <= maxDigitCount, digits.first != UInt8(ascii: "."),
            digits.last != UInt8(ascii: "."),
            digits.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text)
    }
}
