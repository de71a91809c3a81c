import HLSGetKit
import Testing

@testable import HLSGetReport

@Suite("Drawings with a time axis")
struct DrawingTests {
    @Test(
        "ticks are round times and limited in number",
        arguments: [
            (0, 60, 8, [0, 10, 20, 30, 40, 50, 60]), (0, 7, 8, [0, 1, 2, 3, 4, 5, 6, 7]),
            (93, 121, 8, [95, 100, 105, 110, 115, 120]),
            (0, 20_000, 6, [0, 3600, 7200, 10_800, 14_400, 18_000]),
        ] as [(Double, Double, Int, [Double])])
    func ticks(start: Double, end: Double, limit: Int, expected: [Double]) {
        #expect(TimeAxis(from: start, to: end).ticks(atMost: limit) == expected)
    }

    @Test("an axis has at most the requested ticks, and invalid axes are accepted")
    func oddAxes() {
        for length in [0, 0.3, 1.7, 59, 61, 86_399, 1e7, 1e9, .infinity, .nan, -5] {
            let axis = TimeAxis(from: 3, to: 3 + length)
            #expect(axis.ticks(atMost: 8).count <= 9 && axis.length > 0)
            #expect(axis.share(-1e9) == 0 && axis.share(1e12) == 1)
        }
    }

    @Test(
        "value axes have round ticks",
        arguments: [
            (30, 4, [10, 20, 30]), (28.5, 4, [10, 20]), (4.2, 4, [2, 4]),
            (3_500_000, 4, [1_000_000, 2_000_000, 3_000_000]),
            (0.7, 4, [0.2, 0.4, 0.6]), (1, 4, [0.5, 1]),
        ] as [(Double, Int, [Double])])
    func amounts(limit: Double, count: Int, expected: [Double]) {
        let ticks = ValueScale(limit: limit, top: 0, bottom: 100).ticks(atMost: count)
        #expect(ticks.count == expected.count)
        #expect(zip(ticks, expected).allSatisfy { abs($0 - $1) < limit / 1e6 })
    }

    @Test("values lie between the bottom and the top, whatever they are")
    func scale() {
        let scale = ValueScale(limit: 10, top: 20, bottom: 120)
        #expect(scale.y(0) == 120 && scale.y(5) == 70 && scale.y(10) == 20)
        #expect(scale.y(99) == 20 && scale.y(-3) == 120)
        #expect(ValueScale(limit: .nan, top: 0, bottom: 1).limit == 1)
    }

    @Test("shapes are placed by thousandths of the width, texts by percent")
    func places() {
        var drawing = Drawing(axis: TimeAxis(from: 10, to: 20), height: 50)
        drawing.bar(12, 15, y: 1, height: 2, "f-body")
        drawing.bar(0, 5, y: 1, height: 2, "f-stall")
        drawing.bar(19.9999, 20, y: 1, height: 2, "f-failure", least: 3)
        drawing.line([(10, 0), (20, 50)], "l-ahead")
        drawing.text("a<b", at: 15, y: 9, anchor: .middle)
        let svg = drawing.inline(label: "\"x\"")
        #expect(svg.contains(#"<rect class="f-body" x="200" y="1" width="300" height="2"/>"#))
        #expect(!svg.contains("f-stall"))
        #expect(svg.contains(#"class="f-failure" x="997""#))
        #expect(svg.contains(#"<path class="l-ahead" d="M0 0L1000 50"/>"#))
        #expect(svg.contains(#"<text x="50%" y="9" text-anchor="middle">a&lt;b</text>"#))
        #expect(svg.contains(#"aria-label="&quot;x&quot;""#))
    }

    @Test("the lowest and the highest of many values are drawn, in their order")
    func envelope() {
        let axis = TimeAxis(from: 0, to: 100)
        var values: [(Double, Double)] = (0..<100_000).map { index in (Double(index) / 1000, Double(index % 7)) }
        values[54_321].1 = 99
        values[12_345].1 = -9
        let shown = SessionChart.envelope(values, axis, 200)
        #expect(shown.count <= 404)
        #expect(shown.map(\.1).max() == 99 && shown.map(\.1).min() == -9)
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0.0 <= $1.0 })
        let few = Array(values.prefix(50))
        #expect(SessionChart.envelope(few, axis, 200).count == 50)
        #expect(SessionChart.envelope([], axis, 200).isEmpty)
    }

    @Test("a request's phases add up to its time, without missing phases")
    func phases() {
        var request = SessionRecord.Request(kind: .video, url: "", start: 1, end: 5)
        request.responseStart = 3
        #expect(RequestWaterfall.phases(of: request).map(\.name) == ["first byte", "body"])
        request.transferStart = 1.5
        (request.nameLookupEnd, request.connectEnd, request.secureConnectEnd) = (1.6, 1.8, 2.2)
        let phases = RequestWaterfall.phases(of: request)
        #expect(phases.map(\.name) == ["queued", "dns", "connect", "tls", "first byte", "body"])
        #expect(phases.first?.start == 1 && phases.last?.end == 5)
        #expect(zip(phases, phases.dropFirst()).allSatisfy { $0.end == $1.start })
        request.error = "HTTP 503"
        #expect(RequestWaterfall.phases(of: request).last?.name == "failed")
    }

    @Test(
        "durations are short and have a unit",
        arguments: [
            (0, "0 s"), (0.0123, "12 ms"), (0.9994, "999 ms"), (1, "1.0 s"), (9.94, "9.9 s"), (42.4, "42 s"),
            (125, "2:05 min"), (3723, "1:02:03 h"),
        ] as [(Double, String)])
    func lengths(seconds: Double, text: String) {
        #expect(Decimals.seconds(seconds).replacing("\u{a0}", with: " ") == text)
    }

    @Test(
        "times have tenths while those matter", arguments: [(7.34, "0:07.3"), (59.96, "1:00.0"), (3661.2, "1:01:01")])
    func moments(seconds: Double, text: String) { #expect(Decimals.moment(seconds) == text) }

    @Test("quantiles are exact to a few percent in constant memory")
    func quantiles() {
        var quantiles = Quantiles()
        for index in 1...10_000 { quantiles.add(Double(index) / 1000) }
        for value in [.nan, .infinity, -1] as [Double] { quantiles.add(value) }
        #expect(quantiles.count == 10_000)
        for share in [0.1, 0.5, 0.95] {
            let value = quantiles.value(at: share) ?? 0
            #expect(abs(value / (share * 10) - 1) < 0.06)
        }
        #expect(Quantiles().value(at: 0.5) == nil)
    }

    @Test("quantiles never exceed the least and the greatest value", arguments: [0.098, 0.1, 0.105, 3e9])
    func quantileLimits(value: Double) {
        var quantiles = Quantiles()
        quantiles.add(value)
        for share in [0, 0.5, 1] { #expect(quantiles.value(at: share) == value) }
        quantiles.add(value * 1.01)
        for share in [0, 0.5, 1] {
            #expect((value...value * 1.01).contains(quantiles.value(at: share) ?? 0))
        }
    }
}
