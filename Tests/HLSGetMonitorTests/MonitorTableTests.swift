import HLSKitCore
import Testing

@testable import HLSGetMonitor

@Suite("Monitor table")
struct MonitorTableTests {
    private static func row(_ name: String, _ event: StreamHealth.Event?) -> StreamRow {
        var health = StreamHealth()
        _ = health.handle(.began, at: .zero)
        guard let event else { return StreamRow(name: name, url: "", health: health, at: .seconds(5)) }
        var sample = StreamSample()
        sample.latency = .seconds(12.3)
        sample.buffered = .seconds(6)
        sample.variant = "1080p 8.4M"
        sample.throughput = 24_000_000
        sample.statistics.startupTime = .seconds(1)
        _ = health.handle(.sample(sample), at: .seconds(1))
        _ = health.handle(.playing, at: .seconds(1))
        _ = health.handle(event, at: .seconds(2))
        for second in 3...60 { _ = health.advance(to: .seconds(second)) }
        return StreamRow(name: name, url: "", health: health, at: .seconds(60))
    }

    private static let rows: [StreamRow] = {
        let failure = FailureName(code: "http_503", text: "server error (HTTP 503)")
        let up = (0..<40).map { row("channel \($0) \u{1b}[31m" + ($0 == 7 ? "東京テレビ" : ""), .playing) }
        let stale = row("stale", .senses(isBlack: nil, isFrozen: true, isSilent: nil))
        return up + [row("new", nil), stale, row("gone", .failed(failure))]
    }()

    @Test(
        "lines stay within the terminal's width and height, and control characters are escaped", arguments: 1...8)
    func fits(step: Int) {
        for width in stride(from: 11 + step, through: 200, by: 8) {
            for height in [1, 2, 3, 5, 24, 60] {
                let table = MonitorTable(
                    width: width, height: height, allowsUnicode: step.isMultiple(of: 2),
                    footer: String(repeating: "x", count: step * 40))
                let lines = table.render(Self.rows, elapsed: .seconds(60))
                #expect(lines.count <= height)
                for line in lines {
                    #expect(line.count < max(12, width), "\(line)")
                    #expect(!line.unicodeScalars.contains { $0.value < 0x20 })
                }
            }
        }
    }

    @Test("the worst streams come first; those that do not fit are counted")
    func worst() {
        let lines = MonitorTable(width: 100, height: 8).render(Self.rows, elapsed: .seconds(60))
        #expect(lines[0] == "43 streams: 1 down, 1 degraded, 1 starting, 40 up  1:00")
        #expect(lines[2].hasPrefix("gone ") && lines[2].hasSuffix("failed: server error (HTTP 503)"))
        #expect(lines[3].hasPrefix("stale ") && lines[3].contains("frozen"))
        #expect(lines[4].hasPrefix("new ") && lines[4].contains("starting"))
        #expect(lines.last == "... 38 more: 38 up")
    }

    @Test("a narrow terminal still shows a stream's name, state and reason")
    func narrow() {
        let lines = MonitorTable(width: 40, height: 10).render(Self.rows, elapsed: .seconds(60))
        #expect(lines[1] == "STREAM         STATE")
        #expect(lines[2] == "gone           down      failed: serve~")
    }

    @Test("the footer shows the last message in full if there is room")
    func footer() {
        let rows = Array(Self.rows.suffix(3))
        let said = String((0..<20).map { "word \($0) " }.joined())
        let table = MonitorTable(width: 60, height: 24, footer: said)
        let lines = table.render(rows, elapsed: .seconds(60))
        #expect(lines.count == 2 + 3 + 3)
        #expect(lines.suffix(3).joined() == said)
        let low = MonitorTable(width: 60, height: 6, footer: said).render(rows, elapsed: .seconds(60))
        #expect(low.count == 6 && low.last == String(said.prefix(58)) + "~")
    }

    @Test("colour changes nothing but colour")
    func color() {
        let plain = MonitorTable(width: 100, height: 12).render(Self.rows, elapsed: .seconds(60))
        let colored = MonitorTable(width: 100, height: 12, allowsColor: true).render(Self.rows, elapsed: .seconds(60))
        #expect(colored[2].contains("\u{1b}[31mdown"))
        let bare = colored.map { line in
            ["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[2m", "\u{1b}[0m"].reduce(line) {
                $0.replacing($1, with: "")
            }
        }
        #expect(bare == plain)
    }

    @Test("lines scrolled past are not shown")
    func scrolled() {
        let lines = MonitorTable(width: 100, height: 8, offset: 1).render(Self.rows, elapsed: .seconds(60))
        #expect(lines[2].hasPrefix("stale "))
    }
}
