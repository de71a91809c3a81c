public import HLSKitTime

/// A caption: its text, time, position and style.
///
/// Source: AVFoundation's `AVCaption`.
public struct Caption: Sendable, Hashable {
    /// The alignment of lines between the edges of their region.
    public enum TextAlignment: Sendable, Hashable {
        /// On the side at which the line begins.
        case start
        /// On the side at which the line ends.
        case end
        case center, left, right
    }

    /// The way in which the text appears.
    public enum Animation: Sendable, Hashable {
        case none
        /// One character after another (CEA-608's paint-on).
        case characterReveal
    }

    /// A piece of the text with a style other than the default.
    public struct StyleRun: Sendable, Hashable {
        /// Offsets in ``Caption/text``, counted in Unicode scalars.
        public var range: Range<Int>
        /// The style of that piece.
        public var style: CaptionStyle

        /// Creates a run of text with one style.
        ///
        /// `range` counts Unicode scalars.
        public init(range: Range<Int>, style: CaptionStyle) {
            self.range = range
            self.style = style
        }
    }

    /// The text with lines separated by `\n`.
    ///
    /// Changing it truncates styles that extend past its end.
    public var text: String {
        didSet { styles = Self.normalized(styles, count: text.unicodeScalars.count) }
    }
    /// The time range of the caption.
    ///
    /// Without a numeric duration, the caption is shown until the end, together with later ones. Files that need an end
    /// contain 99:59:59.
    public var timeRange: MediaTimeRange
    /// The region of the caption.
    ///
    /// `nil` means the default of the format, which is at the bottom.
    public var region: CaptionRegion?
    /// The alignment of the text.
    ///
    /// `nil` means the default of the format.
    public var textAlignment: TextAlignment?
    /// The way in which the text appears.
    ///
    /// By default, all of it appears at once.
    public var animation: Animation
    /// The styled pieces, in the order of the text.
    ///
    /// They are not empty and do not overlap, and equal neighbours are merged.
    public private(set) var styles: [StyleRun]
    /// The name of the caption in a file, or an empty text if it has none.
    public var identifier: String

    /// Creates a caption.
    ///
    /// If pieces of `styles` overlap, the later one wins. Offsets outside the text are cut off.
    public init(
        _ text: String, timeRange: MediaTimeRange, region: CaptionRegion? = nil, styles: [StyleRun] = [],
        textAlignment: TextAlignment? = nil, animation: Animation = .none, identifier: String = ""
    ) {
        self.text = text
        self.timeRange = timeRange
        self.region = region
        self.textAlignment = textAlignment
        self.animation = animation
        self.identifier = identifier
        self.styles = []
        let count = text.unicodeScalars.count
        guard !styles.isEmpty else { return }
        var result: [StyleRun] = []
        for run in styles { Self.paint(run, onto: &result) }
        self.styles = Self.normalized(result, count: count)
    }

    /// Sets the style of `range` (in Unicode scalars).
    ///
    /// ``CaptionStyle/plain`` removes the style.
    public mutating func setStyle(_ style: CaptionStyle, in range: Range<Int>) {
        var runs = styles
        Self.paint(StyleRun(range: range, style: style), onto: &runs)
        styles = Self.normalized(runs, count: text.unicodeScalars.count)
    }

    /// Returns the style of the scalar at an offset, and the range of the same style.
    ///
    /// Outside the text, the style is plain.
    public func style(at offset: Int) -> (style: CaptionStyle, range: Range<Int>) {
        var start = 0
        for run in styles {
            if offset < run.range.lowerBound { return (.plain, start..<run.range.lowerBound) }
            if run.range.contains(offset) { return (run.style, run.range) }
            start = run.range.upperBound
        }
        return (.plain, start..<max(start, text.unicodeScalars.count))
    }

    private static func paint(_ run: StyleRun, onto runs: inout [StyleRun]) {
        guard !run.range.isEmpty else { return }
        // Files are read from the start, so the new piece is nearly always after all others.
        if let last = runs.last, last.range.upperBound > run.range.lowerBound {
            runs = runs.flatMap { old -> [StyleRun] in
                guard old.range.overlaps(run.range) else { return [old] }
                var parts: [StyleRun] = []
                if old.range.lowerBound < run.range.lowerBound {
                    parts.append(StyleRun(range: old.range.lowerBound..<run.range.lowerBound, style: old.style))
                }
                if run.range.upperBound < old.range.upperBound {
                    parts.append(StyleRun(range: run.range.upperBound..<old.range.upperBound, style: old.style))
                }
                return parts
            }
        }
        runs.append(run)
    }

    private static func normalized(_ runs: [StyleRun], count: Int) -> [StyleRun] {
        var result: [StyleRun] = []
        for run in runs.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let range = run.range.clamped(to: 0..<count)
            guard !range.isEmpty, run.style != .plain else { continue }
            if let last = result.last, last.range.upperBound == range.lowerBound, last.style == run.style {
                result[result.count - 1].range = last.range.lowerBound..<range.upperBound
            } else {
                result.append(StyleRun(range: range, style: run.style))
            }
        }
        return result
    }
}

struct StyledText: Hashable {
    var text: String
    var style: CaptionStyle
}

extension Caption {
    mutating func setPieces(_ pieces: [StyledText]) {
        var text = String.UnicodeScalarView()
        var runs: [StyleRun] = []
        var offset = 0
        for piece in pieces {
            let scalars = piece.text.unicodeScalars
            text.append(contentsOf: scalars)
            runs.append(StyleRun(range: offset..<offset + scalars.count, style: piece.style))
            offset += scalars.count
        }
        self = Caption(
            String(text), timeRange: timeRange, region: region, styles: runs, textAlignment: textAlignment,
            animation: animation, identifier: identifier)
    }

    var pieces: [StyledText] {
        let scalars = Array(text.unicodeScalars)
        var result: [StyledText] = []
        var offset = 0
        func add(_ end: Int, _ style: CaptionStyle) {
            guard offset < end, end <= scalars.count else { return }
            result.append(StyledText(text: String(String.UnicodeScalarView(scalars[offset..<end])), style: style))
            offset = end
        }
        for run in styles {
            add(run.range.lowerBound, .plain)
            add(run.range.upperBound, run.style)
        }
        add(scalars.count, .plain)
        return result
    }

    /// The pieces of each line that is not blank.
    ///
    /// An empty line ends a cue in WebVTT and SubRip, so these formats cannot contain one.
    var linesOfPieces: [[StyledText]] {
        var lines: [[StyledText]] = [[]]
        for piece in pieces {
            let parts = piece.text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }
            for (index, part) in parts.enumerated() {
                if index > 0 { lines.append([]) }
                if !part.isEmpty { lines[lines.count - 1].append(StyledText(text: String(part), style: piece.style)) }
            }
        }
        return lines.filter { line in
            line.contains { $0.text.unicodeScalars.contains { !$0.properties.isWhitespace && $0 != "\0" } }
        }
    }
}
