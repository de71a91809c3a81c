import HLSKitCore
import Testing

@Suite struct LegibleCueTests {
    @Test("K01: a cue is a caption with its styles and position")
    func caption() {
        let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
        let cue = LegibleCue(timeRange: range, text: "a b", payload: "a <i>b</i>", identifier: "x")
        #expect(
            cue.caption
                == Caption(
                    "a b", timeRange: range,
                    styles: [Caption.StyleRun(range: 2..<3, style: CaptionStyle(fontStyle: .italic))], identifier: "x"))
    }
}
