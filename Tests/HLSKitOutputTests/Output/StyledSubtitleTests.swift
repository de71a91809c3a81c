import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Styled subtitles", .timeLimit(.minutes(10)))
struct StyledSubtitleTests {
    private static let header = """
        WEBVTT
        X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0

        STYLE
        ::cue { background-color: rgba(0,0,0,0.5) }
        ::cue(.loud) { color: red; font-weight: bold }

        REGION
        id:low
        width:40%
        lines:3
        regionanchor:0%,100%
        viewportanchor:10%,90%
        scroll:up


        """

    /// The second cue extends beyond its segment, so the next segment repeats it.
    private static let segments = [
        """
        one
        00:00:00.500 --> 00:00:02.000 region:low align:left
        <v Ann>Hi <c.loud>there</c></v>

        00:00:03.000 --> 00:00:05.000 line:10% position:20%,line-left size:50% align:end
        <i>across</i>


        """,
        """
        00:00:03.000 --> 00:00:05.000 line:10% position:20%,line-left size:50% align:end
        <i>across</i>

        00:00:06.000 --> 00:00:07.000 vertical:rl line:-1
        plain


        """,
    ]

    private static func sample() throws -> VirtualSample {
        var files = try CaptionStream.frames()
        var list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        for (index, text) in segments.enumerated() {
            list += "#EXTINF:4,\ntext-\(index).vtt\n"
            files["text-\(index).vtt"] = Array((header + text).utf8)
        }
        files["text.m3u8"] = Array((list + "#EXT-X-ENDLIST\n").utf8)
        files["main.m3u8"] = CaptionStream.main(
            [#"TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="text.m3u8""#],
            attributes: #",SUBTITLES="s""#)
        return try VirtualSample(
            quality: nil, path: "main.m3u8", files: files,
            prefer: { $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions) })
    }

    @Test("K01, K02: WebVTT style sheets, regions and settings reach the output, each cue once")
    func styles() throws {
        let sample = try Self.sample()
        let output = LegibleOutput()
        let collector = CueCollector()
        try sample.item.add(output)
        try sample.item.add(collector)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        try sample.play()
        let shown = deliveries.elements.flatMap(\.cues)
        #expect(shown.map(\.text) == ["Hi there", "across", "plain"])
        #expect(deliveries.elements.map(\.itemTime.seconds) == [0.5, 2, 3, 5, 6, 7])
        #expect(shown == collector.cues)
        guard shown.count == 3 else { return }
        let half = CaptionColor(red: 0, green: 0, blue: 0, alpha: 128)
        let base = CaptionStyle(backgroundColor: half, voice: "Ann")
        let loud = CaptionStyle(textColor: .red, backgroundColor: half, fontWeight: .bold, voice: "Ann")

        #expect(shown[0].identifier == "one")
        #expect(shown[0].settings.region == "low" && shown[0].settings.alignment == .left)
        #expect(shown[0].payload == "<v Ann>Hi <c.loud>there</c></v>")
        let first = shown[0].caption
        #expect(
            first.styles == [
                Caption.StyleRun(range: 0..<3, style: base), Caption.StyleRun(range: 3..<8, style: loud),
            ])
        #expect(first.region?.identifier == "low" && first.region?.scroll == .rollUp)
        #expect(first.region?.origin == CaptionPoint(x: .percent(10), y: .percent(70)))
        #expect(first.region?.size == CaptionSize(width: .percent(40), height: .cells(3)))
        #expect(first.textAlignment == .left)

        #expect(shown[1].settings.line == .percentage(10) && shown[1].settings.size == 50)
        let second = shown[1].caption
        #expect(second.region?.origin == CaptionPoint(x: .percent(20), y: .percent(10)))
        #expect(second.region?.size.width == .percent(50))
        #expect(second.textAlignment == .end)
        #expect(second.style(at: 0).style.fontStyle == .italic)

        #expect(shown[2].settings.vertical == .growingLeft && shown[2].settings.line == .number(-1))
        #expect(shown[2].caption.region?.writingMode == .topToBottomAndRightToLeft)
        #expect(shown.allSatisfy { $0.language == "en" })
    }
}
