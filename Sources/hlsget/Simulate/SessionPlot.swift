import HLSKitSimulation

/// A session on one page: throughput and chosen bit rate above, buffer and stalls below.
struct SessionPlot: Sendable {
    private let session: SimulatedSession
    private let trace: NetworkTrace
    private let title: String

    init(_ session: SimulatedSession, trace: NetworkTrace, title: String) {
        self.session = session
        self.trace = trace
        self.title = title
    }

    private static let width = 1200.0
    private static let height = 735.0
    private static let left = 80.0
    private static let right = 1170.0
    private static let rateTop = 90.0
    private static let rateBottom = 400.0
    private static let bufferTop = 450.0
    private static let bufferBottom = 650.0

    var svg: String {
        let end = max(session.end, 1)
        let topRate = session.movie.averageBitRates.last ?? 1
        // Throughput far above the ladder says nothing; it is cut off.
        let rateLimit = topRate * 1.5
        let bufferLimit = max(1, session.bufferLimit.milliseconds)
        func x(_ time: Double) -> Double { Self.left + (Self.right - Self.left) * min(max(time / end, 0), 1) }
        func rateY(_ rate: Double) -> Double {
            Self.rateBottom - (Self.rateBottom - Self.rateTop) * min(max(rate / rateLimit, 0), 1)
        }
        func bufferY(_ media: Double) -> Double {
            Self.bufferBottom - (Self.bufferBottom - Self.bufferTop) * min(max(media / bufferLimit, 0), 1.05)
        }

        var body = ""
        for (start, stop) in waits {
            body += Self.rectangle(
                x(start), Self.rateTop, x(stop) - x(start), Self.bufferBottom - Self.rateTop, "#f4c7c3")
        }
        for tick in Self.ticks(upTo: rateLimit) {
            body += Self.line(Self.left, rateY(tick), Self.right, rateY(tick), "#e4e4e4")
            body += Self.label(Self.left - 8, rateY(tick) + 4, Decimals.bitRate(tick), anchor: "end")
        }
        for tick in Self.ticks(upTo: bufferLimit) {
            body += Self.line(Self.left, bufferY(tick), Self.right, bufferY(tick), "#e4e4e4")
            body += Self.label(
                Self.left - 8, bufferY(tick) + 4, "\(Decimals.text(tick / 1000, places: 0)) s", anchor: "end")
        }
        for tick in Self.timeTicks(upTo: end) {
            body += Self.line(x(tick), Self.bufferBottom, x(tick), Self.bufferBottom + 5, "#888888")
            body += Self.label(x(tick), Self.bufferBottom + 20, Decimals.clock(tick / 1000), anchor: "middle")
        }
        body += Self.path(throughput(until: end).map { (x($0), rateY($1)) }, "#8fb8de", width: 1)
        var steps: [(Double, Double)] = []
        for segment in session.segments {
            let y = rateY(session.movie.averageBitRates[segment.variant])
            // Between downloads the last choice stands.
            if let last = steps.last { steps.append((x(segment.requested), last.1)) }
            steps.append((x(segment.requested), y))
            steps.append((x(segment.done), y))
        }
        body += Self.path(steps, "#1a4f8b", width: 2)
        for abandon in session.abandons {
            let y = rateY(session.movie.averageBitRates[abandon.variant])
            let cross = x(abandon.aborted)
            body += Self.line(cross - 4, y - 4, cross + 4, y + 4, "#c0392b", width: 2)
            body += Self.line(cross - 4, y + 4, cross + 4, y - 4, "#c0392b", width: 2)
        }
        body += Self.path(buffer.map { (x($0), bufferY($1)) }, "#2e7d32", width: 1.5)
        body += Self.legend
        let score = session.score
        let summary = [
            "QoE \(Decimals.text(score.normalizedQoE, places: 3))",
            "stalled \(Decimals.text(score.stallDuration.inSeconds, places: 1)) s in \(Decimals.count(score.stallCount, "stall"))",
            "start after \(Decimals.text(score.startupTime.inSeconds, places: 1)) s",
            "mean \(Decimals.bitRateWithUnit(score.meanKilobitsPerSecond * 1000))",
            "\(Decimals.text(score.switchesPerMinute, places: 1)) switches/min",
            "\(Decimals.count(session.abandons.count, "download")) abandoned",
        ].joined(separator: " · ")
        body += Self.label(Self.left, 30, title, anchor: "start", size: 17)
        body += Self.label(Self.left, 52, summary, anchor: "start")
        body += Self.label(Self.left, Self.rateTop - 8, "bit rate", anchor: "start")
        body += Self.label(Self.left, Self.bufferTop - 8, "media ahead (limit at the top line)", anchor: "start")
        body += Self.label(
            (Self.left + Self.right) / 2, Self.bufferBottom + 45, "time of the session", anchor: "middle")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
            font-family="sans-serif" font-size="13">
            <rect width="100%" height="100%" fill="white"/>
            \(body)</svg>

            """
    }

    // MARK: Series

    /// The start, and every stall.
    private var waits: [(Double, Double)] {
        var waits: [(Double, Double)] = [(0, session.starts.first ?? session.end)]
        waits += zip(session.stalls, session.starts.dropFirst()).map { ($0, $1) }
        return waits
    }

    /// Means over stretches that are wider than a line.
    private func throughput(until end: Double) -> [(Double, Double)] {
        let count = 545
        let step = end / Double(count)
        return (0..<count).flatMap { index -> [(Double, Double)] in
            let start = Double(index) * step
            let rate = trace.deliveredBits(from: start, to: start + step) / step * 1000
            return [(start, rate), (start + step, rate)]
        }
    }

    private var buffer: [(Double, Double)] {
        var events: [(time: Double, media: Double, rate: Double?)] = session.segments.map { segment in
            (segment.done, session.movie.duration(ofSegment: segment.index).milliseconds, nil)
        }
        events += session.starts.map { ($0, 0, 1) } + session.stalls.map { ($0, 0, 0) }
        events.sort { $0.time < $1.time }
        var points: [(Double, Double)] = [(0, 0)]
        var time = 0.0
        var media = 0.0
        var rate = 0.0
        for event in events + [(session.end, 0, nil)] {
            media = max(0, media - rate * (event.time - time))
            time = event.time
            points.append((time, media))
            media += event.media
            if event.media > 0 { points.append((time, media)) }
            rate = event.rate ?? rate
        }
        return points
    }

    // MARK: Shapes

    private static let legend =
        [
            ("#8fb8de", "throughput"), ("#1a4f8b", "chosen variant"), ("#c0392b", "x: download abandoned"),
            ("#2e7d32", "media ahead"), ("#f4c7c3", "waiting, stalled"),
        ]
        .enumerated().map { index, entry in
            let x = right - 950 + Double(index) * 200
            return rectangle(x, height - 22, 14, 10, entry.0) + label(x + 20, height - 12, entry.1, anchor: "start")
        }.joined()

    /// Round numbers, about five of them.
    private static func ticks(upTo limit: Double) -> [Double] {
        var step = 1.0
        let steps = [2.0, 2.5, 2.0]
        var index = 0
        while limit / step > 7, index < 60 {
            step *= steps[index % 3]
            index += 1
        }
        return (0...7).map { Double($0) * step }.filter { $0 <= limit }
    }

    /// Times as clocks have them, ten at most, in milliseconds.
    private static func timeTicks(upTo end: Double) -> [Double] {
        let steps = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map { $0 * 1000.0 }
        let step = steps.first { end / $0 <= 10 } ?? end / 10
        return (0...10).map { Double($0) * step }.filter { $0 <= end }
    }

    private static func number(_ value: Double) -> String { Decimals.text(value, places: 1) }

    private static func path(_ points: [(Double, Double)], _ color: String, width: Double) -> String {
        let text = points.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
        return #"<polyline fill="none" stroke="\#(color)" stroke-width="\#(width)" points="\#(text)"/>"# + "\n"
    }

    private static func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ color: String, width: Double = 1
    ) -> String {
        #"<line x1="\#(number(x1))" y1="\#(number(y1))" x2="\#(number(x2))" y2="\#(number(y2))" "#
            + #"stroke="\#(color)" stroke-width="\#(width)"/>"# + "\n"
    }

    private static func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ color: String)
        -> String
    {
        #"<rect x="\#(number(x))" y="\#(number(y))" width="\#(number(max(width, 0.5)))" height="\#(number(height))" "#
            + #"fill="\#(color)"/>"# + "\n"
    }

    private static func label(
        _ x: Double, _ y: Double, _ text: String, anchor: String, size: Int = 13
    ) -> String {
        let escaped = text.map { character in
            switch character {
            case "<": "&lt;"
            case ">": "&gt;"
            case "&": "&amp;"
            default: String(character)
            }
        }.joined()
        return #"<text x="\#(number(x))" y="\#(number(y))" text-anchor="\#(anchor)" font-size="\#(size)">"#
            + escaped + "</text>\n"
    }
}
