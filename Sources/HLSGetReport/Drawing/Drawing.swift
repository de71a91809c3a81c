import HLSGetKit

/// A drawing with time along its width, as SVG: shapes stretch with the width, and text keeps its size.
///
/// A value without I/O. It escapes all text. Callers must remove secrets from log text first.
package struct Drawing: Sendable {
    private static let units = 1000.0

    let axis: TimeAxis
    /// In pixels.
    var height: Double
    private var shapes = ""
    private var labels = ""
    private var hovers = ""

    init(axis: TimeAxis, height: Double = 0) {
        self.axis = axis
        self.height = height
    }

    enum Anchor: String, Sendable { case start, middle, end }

    // MARK: Shapes

    /// Draws a bar from one moment to another. A bar shorter than `least` is widened to it.
    mutating func bar(
        _ start: Double, _ end: Double, y: Double, height: Double, _ style: String, least: Double = 1,
        title: String? = nil
    ) {
        guard axis.shows(start, end) else { return }
        let x = self.x(start)
        let width = max(self.x(end) - x, least)
        shapes += #"<rect class="\#(style)" x="\#(number(min(x, Self.units - width)))" y="\#(number(y))" "#
        shapes += #"width="\#(number(width))" height="\#(number(height))""#
        shapes += title.map { "><title>\(Markup.escaped($0))</title></rect>\n" } ?? "/>\n"
    }

    mutating func line(_ points: [(time: Double, y: Double)], _ style: String) {
        guard points.count > 1 else { return }
        shapes += #"<path class="\#(style)" d="\#(path(points))"/>"# + "\n"
    }

    mutating func area(_ points: [(time: Double, y: Double)], base: Double, _ style: String) {
        guard let first = points.first, let last = points.last, points.count > 1 else { return }
        shapes += #"<path class="\#(style)" d="M\#(number(x(first.time))) \#(number(base))L"#
        shapes += path(points).dropFirst()
        shapes += #"L\#(number(x(last.time))) \#(number(base))Z"/>"# + "\n"
    }

    /// Draws dots that stay round when the drawing is stretched.
    mutating func dots(_ points: [(time: Double, y: Double)], _ style: String) {
        guard !points.isEmpty else { return }
        let path = points.map { "M\(number(x($0.time))) \(number($0.y))h0" }.joined()
        shapes += #"<path class="\#(style)" d="\#(path)"/>"# + "\n"
    }

    mutating func verticals(_ lines: [(time: Double, from: Double, to: Double)], _ style: String) {
        guard !lines.isEmpty else { return }
        let path = lines.map { "M\(number(x($0.time))) \(number($0.from))V\(number($0.to))" }.joined()
        shapes += #"<path class="\#(style)" d="\#(path)"/>"# + "\n"
    }

    mutating func horizontal(_ y: Double, _ style: String) {
        shapes += #"<path class="\#(style)" d="M0 \#(number(y))H1000"/>"# + "\n"
    }

    // MARK: Text

    /// - Parameters:
    ///   - dx: The offset to the right, in pixels.
    ///   - isOptional: Whether to omit the text if there is little room.
    mutating func text(
        _ text: String, at time: Double, y: Double, _ style: String = "", anchor: Anchor = .start, dx: Double = 0,
        isOptional: Bool = false
    ) {
        write(Markup.escaped(text), share: axis.share(time), y: y, style, anchor, dx, isOptional)
    }

    mutating func gutter(_ text: String, y: Double, _ style: String = "t-muted") {
        write(Markup.escaped(text), share: 0, y: y, style, .end, -7, false)
    }

    /// Draws the heading of a lane and its legend: each mark in its own style, followed by its meaning.
    mutating func heading(_ text: String, y: Double, legend: [(mark: String, text: String, style: String)] = []) {
        let entries = legend.map { entry in
            #"<tspan class="\#(entry.style)" dx="10">\#(entry.mark)</tspan>"#
                + #"<tspan class="t-muted"> \#(Markup.escaped(entry.text))</tspan>"#
        }
        let content = #"<tspan class="t-lane">\#(Markup.escaped(text))</tspan>"# + entries.joined()
        write(content, share: 0, y: y, "", .start, 0, false)
    }

    mutating func hover(_ start: Double, _ end: Double, _ title: String) {
        let x = self.x(start)
        hovers += #"<rect class="h" x="\#(number(x))" y="0" width="\#(number(self.x(end) - x))" "#
        hovers += #"height="\#(number(height))"><title>\#(Markup.escaped(title))</title></rect>"# + "\n"
    }

    // MARK: Result

    /// The drawing as part of a page, as wide as its container.
    ///
    /// - Parameter label: A description for screen readers.
    func inline(label: String) -> String {
        #"<svg class="plot" role="img" aria-label="\#(Markup.escaped(label))" width="100%" "#
            + #"height="\#(number(height))">"# + content + "</svg>"
    }

    /// The drawing as a separate file with a fixed width.
    package func file(title: String, subtitle: String) -> String {
        let (left, top, width) = (72.0, 64.0, Self.units + 92)
        let total = top + height + 8
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(total))" \
            width="\(number(width))" height="\(number(total))" font-family="system-ui, sans-serif" font-size="12">
            <style>
            \(DrawingStyle.forFiles)
            .t-title{font-size:17px;font-weight:600}
            </style>
            <rect width="100%" height="100%" fill="\(PaletteColor.surface.light)"/>
            <text class="t-title" x="\(number(left))" y="26">\(Markup.escaped(title))</text>
            <text x="\(number(left))" y="46">\(Markup.escaped(subtitle))</text>
            <svg x="\(number(left))" y="\(number(top))" width="\(number(Self.units))" height="\(number(height))" \
            overflow="visible">
            \(content)</svg>
            </svg>

            """
    }

    // MARK: Parts

    private var content: String {
        #"<svg width="100%" height="\#(number(height))" viewBox="0 0 1000 \#(number(height))" "#
            + #"preserveAspectRatio="none">"# + "\n" + shapes + hovers + "</svg>\n" + labels
    }

    private func x(_ time: Double) -> Double { axis.share(time) * Self.units }

    private func path(_ points: [(time: Double, y: Double)]) -> String {
        "M" + points.map { "\(number(x($0.time))) \(number($0.y))" }.joined(separator: "L")
    }

    private mutating func write(
        _ markup: String, share: Double, y: Double, _ style: String, _ anchor: Anchor, _ dx: Double, _ isOptional: Bool
    ) {
        let classes = [style, isOptional ? "opt" : ""].filter { !$0.isEmpty }.joined(separator: " ")
        labels += #"<text x="\#(number(share * 100, places: 2))%" y="\#(number(y))""#
        if dx != 0 { labels += #" dx="\#(number(dx))""# }
        if anchor != .start { labels += #" text-anchor="\#(anchor.rawValue)""# }
        if !classes.isEmpty { labels += #" class="\#(classes)""# }
        labels += ">\(markup)</text>\n"
    }

    private func number(_ value: Double, places: Int = 1) -> String {
        var text = Decimals.text(value, places: places)
        guard text.contains(".") else { return text }
        while let last = text.last, last == "0" || last == "." {
            text.removeLast()
            if last == "." { break }
        }
        return text
    }
}
