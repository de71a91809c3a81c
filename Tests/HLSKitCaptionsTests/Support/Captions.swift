import HLSKitCaptions
import HLSKitTime

func ms(_ start: Int64, _ end: Int64) -> MediaTimeRange {
    MediaTimeRange(start: MediaTime(value: start, timescale: 1000), end: MediaTime(value: end, timescale: 1000))
}

/// Returns a time range in frames of 1001/30000 s.
func frames(_ start: Int64, _ end: Int64) -> MediaTimeRange {
    MediaTimeRange(
        start: MediaTime(value: start * 1001, timescale: 30_000), end: MediaTime(value: end * 1001, timescale: 30_000))
}

func read(_ format: CaptionFormat, _ text: String) throws(CaptionError) -> CaptionFileReader.Content {
    try CaptionFileReader(format: format).read(Array(text.utf8))
}

func written(_ format: CaptionFormat, _ captions: [Caption]) throws(CaptionError) -> String {
    String(decoding: try CaptionFileWriter(format: format).write(captions).bytes, as: UTF8.self)
}

extension Caption {
    var styledWords: [StyledWord] {
        var words: [StyledWord] = []
        var word = ""
        var start = 0
        for (offset, scalar) in (text + " ").unicodeScalars.enumerated() {
            if scalar == " " || scalar == "\n" {
                if !word.isEmpty { words.append(StyledWord(text: word, style: style(at: start).style)) }
                word = ""
            } else {
                if word.isEmpty { start = offset }
                word.unicodeScalars.append(scalar)
            }
        }
        return words
    }
}

struct StyledWord: Hashable {
    var text: String
    var style: CaptionStyle
}

/// A maker of random captions that every format can hold, apart from the styles that `decorate` adds.
struct CaptionMaker {
    var random: SplitMix64
    var words = [
        "Hello", "<b>", "a&b", "--> x", "{\\an8}", "1", "\u{e9}t\u{e9}", "\u{266a}", "&amp;", "]]>", "\"q\"", "3<5",
    ]

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    static func style(_ random: inout SplitMix64, lines: CaptionStyle.Decoration) -> CaptionStyle {
        CaptionStyle(
            textColor: [nil, .yellow, CaptionColor(red: 1, green: 2, blue: 3)].randomElement(using: &random) ?? nil,
            fontWeight: Bool.random(using: &random) ? .bold : .normal,
            fontStyle: Bool.random(using: &random) ? .italic : .normal,
            decoration: [[], .underline, lines].randomElement(using: &random) ?? [])
    }

    /// Makes eight captions in order of time. Each word of the random texts has its own style.
    ///
    /// - Parameter make: Makes a caption from its number, text and styles.
    mutating func captions(
        lines: CaptionStyle.Decoration, _ decorate: (inout CaptionStyle, inout SplitMix64) -> Void = { _, _ in },
        make: (Int, String, [Caption.StyleRun], inout SplitMix64) -> Caption
    ) -> [Caption] {
        (0..<8).map { index in
            let (text, runs) = self.text { random in
                var style = Self.style(&random, lines: lines)
                decorate(&style, &random)
                return style
            }
            return make(index, text, runs, &random)
        }
    }

    mutating func text(style: (inout SplitMix64) -> CaptionStyle) -> (String, [Caption.StyleRun]) {
        var text = ""
        var runs: [Caption.StyleRun] = []
        for line in 0...Int.random(in: 0...2, using: &random) {
            if line > 0 { text += "\n" }
            for word in 0...Int.random(in: 0...3, using: &random) {
                if word > 0 { text += " " }
                let start = text.unicodeScalars.count
                text += words.randomElement(using: &random) ?? ""
                runs.append(Caption.StyleRun(range: start..<text.unicodeScalars.count, style: style(&random)))
            }
        }
        return (text, runs)
    }
}
