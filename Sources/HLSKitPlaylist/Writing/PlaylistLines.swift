/// A line of a playlist, as ranges of its text.
struct PlaylistLine {
    enum Content {
        case tag(Tag)
        case uri
        /// A comment, an unknown tag or a blank line.
        case other
    }

    var content: Content
    /// The range including the line end.
    var range: Range<Int>
    /// The text after the colon of a tag, trimmed.
    var value: Range<Int>
}

extension [UInt8] {
    func forEachLine(in range: Range<Int>, _ body: (PlaylistLine) -> Void) {
        var position = range.lowerBound
        while position < range.upperBound {
            let line = line(at: position)
            body(line)
            position = line.range.upperBound
        }
    }

    func line(at start: Int) -> PlaylistLine {
        let span = self.span
        var traits: LineTraits = []
        let (end, next) = span.lineEnd(from: start, traits: &traits)
        let range = start..<(next ?? end)
        let trimmed = traits.contains(.control) ? span.unpadded(start..<end) : span.trimmed(start..<end)
        guard let first = trimmed.first else { return PlaylistLine(content: .other, range: range, value: trimmed) }
        guard span[first] == 0x23 else { return PlaylistLine(content: .uri, range: range, value: trimmed) }
        let nameEnd = span.index(of: 0x3A, in: trimmed) ?? trimmed.upperBound
        let value = span.trimmed(Swift.min(nameEnd + 1, trimmed.upperBound)..<trimmed.upperBound)
        // `#EXTM3U` may be followed by other text.
        let word = span.index(of: 0x20, in: first..<nameEnd) ?? nameEnd
        guard
            let (tag, _) = Tag.table.find(first + 1..<nameEnd, in: span) ?? Tag.table.find(first + 1..<word, in: span),
            word == nameEnd || tag == .extM3U
        else { return PlaylistLine(content: .other, range: range, value: value) }
        return PlaylistLine(content: .tag(tag), range: range, value: value)
    }
}

struct LineWriter {
    private(set) var bytes: [UInt8] = []
    private let lineEnd: [UInt8]

    init(like text: [UInt8]) {
        let first = text.firstIndex(of: 0x0A)
        lineEnd = first.map { $0 > 0 && text[$0 - 1] == 0x0D } == true ? [0x0D, 0x0A] : [0x0A]
        bytes.reserveCapacity(text.count + text.count / 8)
    }

    /// Copies a line. Adds a line end if it has none.
    mutating func raw(_ text: [UInt8], _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        bytes += text[range]
        // The last line may end with the first half of CRLF.
        if bytes.last == 0x0D { bytes.append(0x0A) } else if bytes.last != 0x0A { bytes += lineEnd }
    }

    mutating func line(_ text: String) {
        bytes += AttributeText.oneLine(text).utf8
        bytes += lineEnd
    }

    mutating func tag(_ tag: Tag, _ value: String? = nil) {
        line("#" + tag.rawValue + (value.map { ":" + $0 } ?? ""))
    }
}
