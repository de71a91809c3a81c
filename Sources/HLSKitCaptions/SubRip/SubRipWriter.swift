import HLSKitTime

/// Writes `.srt` with millisecond precision.
///
/// Empty lines of a text are omitted because they end a cue. Positions are rounded to a third of the screen.
/// Backgrounds, ruby, voices and overlines are omitted.
enum SubRipWriter {
    static func write(_ captions: [Caption]) throws(CaptionError) -> [UInt8] {
        var text = ""
        var number = 0
        for (index, caption) in captions.enumerated() {
            guard let times = try FileTimes(caption.timeRange, timescale: 1000, index: index) else { continue }
            if number > 0 { text += "\n" }
            number += 1
            text += "\(number)\n" + DecimalText.clock(milliseconds: times.start, point: ",") + " --> "
            text += DecimalText.clock(milliseconds: times.end, point: ",") + "\n"
            let key = caption.placeKey
            if key != 2 { text += "{\\an\(key)}" }
            let lines = caption.linesOfPieces
            for line in lines {
                for piece in line { text += Self.text(piece) }
                text += "\n"
            }
            if lines.isEmpty { text += "\n" }
        }
        return Array(text.utf8)
    }

    private static func text(_ piece: StyledText) -> String {
        let style = piece.style
        var tags: [(open: String, close: String)] = []
        if let color = style.textColor { tags.append(("font color=\"\(color.hexadecimal)\"", "font")) }
        if style.fontWeight == .bold { tags.append(("b", "b")) }
        if style.fontStyle == .italic { tags.append(("i", "i")) }
        if style.decoration.contains(.underline) { tags.append(("u", "u")) }
        if style.decoration.contains(.lineThrough) { tags.append(("s", "s")) }
        return tags.map { "<\($0.open)>" }.joined() + guarded(piece.text)
            + tags.reversed().map { "</\($0.close)>" }.joined()
    }

    /// Inserts a word joiner into text that looks like markup or times.
    private static func guarded(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars where scalar != "\0" {
            if scalar == ">", previous == "-" { result.append(SubRipMarkup.wordJoiner) }
            result.append(scalar)
            if scalar == "<" || scalar == "{" { result.append(SubRipMarkup.wordJoiner) }
            previous = scalar
        }
        return String(result)
    }
}
