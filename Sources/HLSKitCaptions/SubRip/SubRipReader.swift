import HLSKitTime

/// Reads `.srt`, which has no standard. Numbers may be missing or wrong, times have a comma or a point, and text may
/// contain blank lines and simple tags.
///
/// A cue begins at a line with two times. A number alone on the previous line belongs to it.
enum SubRipReader {
    private typealias Line = Substring.UnicodeScalarView

    static func read(_ bytes: [UInt8]) throws(CaptionError) -> CaptionFileReader.Content {
        let (text, note) = TextDecoding.text(of: bytes)
        var notes = NoteList()
        if let note { notes.add(note) }
        let lines = TextDecoding.lines(of: text)
        var captions: [Caption] = []
        var pending: (caption: Caption, number: Line?, textStart: Int)?
        var hasText = false
        for (index, line) in lines.enumerated() {
            let trimmed = line.trimmed
            if !trimmed.isEmpty { hasText = true }
            guard hasArrow(trimmed) else { continue }
            let times = times(of: trimmed)
            let lineBefore = index > 0 ? lines[index - 1].trimmed : Line()
            let numberLine = index > 0 && isNumber(lineBefore) ? index - 1 : nil
            if times == nil {
                notes.add("invalid times", line: index + 1)
                // Within a text, such a line may be text.
                guard numberLine != nil || lineBefore.isEmpty else { continue }
            }
            if let (caption, _, start) = pending {
                finish(caption, lines[start..<max(start, numberLine ?? index)], &captions)
            }
            pending = nil
            guard let times else { continue }
            guard times.end >= times.start else {
                notes.add("a cue that ends before it starts", line: index + 1)
                continue
            }
            let caption = Caption(
                "",
                timeRange: MediaTimeRange(
                    start: MediaTime(value: times.start, timescale: 1000),
                    end: MediaTime(value: times.end, timescale: 1000)))
            pending = (caption, numberLine.map { lines[$0].trimmed }, index + 1)
        }
        if let (caption, number, start) = pending {
            var rest = lines[start...]
            if let cut = cutOffNumber(rest, after: number) {
                notes.add("a cue that is cut off after its number", line: cut + 1)
                rest = rest[..<cut]
            }
            finish(caption, rest, &captions)
        }
        if captions.isEmpty, hasText {
            throw CaptionError(code: .notThisFormat, line: 1, text: "no line with two times")
        }
        return CaptionFileReader.Content(captions: captions, notes: notes.notes)
    }

    /// Returns the index of a truncated next cue's number, or nil if the text ends differently.
    ///
    /// Such a number is alone after a blank line, and one more than the previous cue's number.
    private static func cutOffNumber(_ lines: ArraySlice<Line>, after number: Line?) -> Int? {
        guard let number = number.flatMap({ Int(String($0)) }),
            let last = lines.lastIndex(where: { !$0.trimmed.isEmpty }),
            last > lines.startIndex, lines[last - 1].trimmed.isEmpty, isNumber(lines[last].trimmed),
            Int(String(lines[last].trimmed)) == number.addingReportingOverflow(1).partialValue
        else { return nil }
        return last
    }

    private static func finish(_ caption: Caption, _ lines: ArraySlice<Line>, _ captions: inout [Caption]) {
        var lines = lines
        while let last = lines.last, last.trimmed.isEmpty { lines.removeLast() }
        while let first = lines.first, first.trimmed.isEmpty { lines.removeFirst() }
        var text = String.UnicodeScalarView()
        for (index, line) in lines.enumerated() {
            if index > 0 { text.append("\n") }
            text.append(contentsOf: line)
        }
        var caption = caption
        let (pieces, place) = SubRipMarkup.pieces(of: text)
        if let place { caption.apply(place) }
        caption.setPieces(pieces)
        captions.append(caption)
    }

    private static func hasArrow(_ line: Line) -> Bool {
        guard let first = line.first, first.isDigit || first == "-" else { return false }
        return Substring(line).contains("-->")
    }

    private static func isNumber(_ line: Line) -> Bool {
        !line.isEmpty && line.allSatisfy { $0.isDigit }
    }

    /// Reads the times in milliseconds. Coordinates after the times are skipped.
    private static func times(of line: Line) -> (start: Int64, end: Int64)? {
        var rest = line
        guard let start = time(&rest) else { return nil }
        rest = rest.trimmed
        guard rest.starts(with: "-->".unicodeScalars) else { return nil }
        rest = rest.dropFirst(3).trimmed
        guard let end = time(&rest) else { return nil }
        return (start, end)
    }

    /// Reads `01:02:03,456`. The hours are optional, and so are one to three digits after a comma, point or colon.
    private static func time(_ rest: inout Line) -> Int64? {
        var numbers: [Int64] = []
        var milliseconds: Int64 = 0
        while numbers.count < 3 {
            guard let (number, _) = digits(&rest) else { return nil }
            numbers.append(number)
            guard numbers.count < 3, rest.first == ":" else { break }
            rest = rest.dropFirst()
        }
        if let mark = rest.first, mark == "," || mark == "." || mark == ":" {
            rest = rest.dropFirst()
            guard let (fraction, count) = digits(&rest) else { return nil }
            milliseconds = count == 1 ? fraction * 100 : count == 2 ? fraction * 10 : fraction
            if count > 3 {
                for _ in 3..<count { milliseconds /= 10 }
            }
        }
        guard numbers.count >= 2, numbers.dropFirst().allSatisfy({ $0 < 60 }), numbers[0] < 1_000_000 else {
            return nil
        }
        return numbers.reduce(0) { $0 * 60 + $1 } * 1000 + milliseconds
    }

    private static func digits(_ rest: inout Line) -> (value: Int64, count: Int)? {
        while rest.first == " " { rest = rest.dropFirst() }
        let run = rest.prefix(10).prefix { $0.isDigit }
        guard (1...9).contains(run.count) else { return nil }
        rest = rest[run.endIndex...]
        return (run.reduce(0) { $0 * 10 + Int64($1.value - 0x30) }, run.count)
    }
}

extension Unicode.Scalar {
    var isDigit: Bool { (0x30...0x39).contains(value) }
}

extension Substring.UnicodeScalarView {
    var trimmed: Substring.UnicodeScalarView {
        var rest = drop { $0.properties.isWhitespace || $0 == "\u{feff}" || $0 == "\0" }
        while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
        return rest
    }
}
