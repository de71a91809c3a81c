import HLSKitCaptions
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitPlayback

@Suite("Subtitles in MP4", .timeLimit(.minutes(10)))
struct TextTrackTests {
    private static let expected = ["0.5-2.5 Plain words", "3.0-5.5 Slanted and yellow", "6.0-7.5 Two\nlines"]

    private static func lines(_ cues: [LegibleCue]) -> [String] {
        cues.map { "\($0.timeRange.start.seconds)-\($0.timeRange.end.seconds) \($0.text)" }
    }

    private static func sample(_ name: String) throws -> VirtualSample {
        var files = try CaptionStream.frames().merging(CaptionStream.segments(name, count: 2, duration: 4)) { $1 }
        files["main.m3u8"] = CaptionStream.main(
            [#"TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="\#(name).m3u8""#],
            attributes: #",SUBTITLES="s""#)
        return try VirtualSample(
            quality: nil, path: "main.m3u8", files: files,
            prefer: {
                $0.subtitles = try? QualityExpression(parsing: "lang=en", for: .renditions)
            })
    }

    @Test(
        "K03, K01: subtitle samples become cues, and cues split by segments are merged",
        arguments: ["wvtt", "stpp"])
    func plays(_ name: String) throws {
        let sample = try Self.sample(name)
        let output = LegibleOutput()
        let collector = CueCollector()
        try sample.item.add(output)
        try sample.item.add(collector)
        let deliveries = Recorder<LegibleOutput.Delivery>()
        sample.record(output.cues(), in: deliveries)
        try sample.play()
        #expect(Self.lines(sample.reportedCues) == Self.expected)
        #expect(Self.lines(collector.cues) == Self.expected)
        #expect(
            deliveries.elements.map { $0.cues.map(\.text).joined() } == [
                "Plain words", "", "Slanted and yellow", "", "Two\nlines", "",
            ])
        #expect(deliveries.elements.map(\.itemTime.seconds) == [0.5, 2.5, 3, 5.5, 6, 7.5])
        #expect(sample.reportedCues.allSatisfy { $0.language == "en" })
        let caption = try #require(sample.reportedCues.dropFirst().first).caption
        #expect(
            caption.styles == [
                Caption.StyleRun(range: 0..<7, style: CaptionStyle(fontStyle: .italic)),
                Caption.StyleRun(range: 12..<18, style: CaptionStyle(textColor: .yellow)),
            ])
        #expect((caption.region?.origin.y.value ?? 99) < 50)
    }

    @Test("K02: a seek into the middle of a cue shows the rest of it", arguments: ["wvtt", "stpp"])
    func seek(_ name: String) throws {
        let sample = try Self.sample(name)
        sample.item.startPosition = .time(.milliseconds(4500))
        try sample.play()
        #expect(sample.reportedCues.map(\.text) == ["Slanted and yellow", "Two\nlines"])
        #expect(sample.reportedCues.first?.timeRange.end == MediaTime(value: 5500, timescale: 1000))
    }

    private static func read(_ text: String, pts: Int64, duration: Int64) -> ([MediaCue], [String]) {
        let track = MediaTrack(id: 1, mediaType: .text, codec: .ttml, timescale: 1000)
        let sample = MediaSample(
            trackID: 1, pts: pts, dts: pts, duration: duration, isSync: true, data: SampleData(Array(text.utf8)))
        var reader = TextSampleReader()
        var notes: [String] = []
        let cues = reader.read(sample, of: track, notes: &notes)
        return (cues, notes)
    }

    struct Document: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var body: String
        var lines: [String]
    }

    @Test(
        "K03: times in a document are clipped to its sample",
        arguments: [
            Document(
                testDescription: "on the clock of the track", body: #"<p begin="10s" end="12s">a</p>"#,
                lines: ["|10.0-12.0 a"]),
            Document(
                testDescription: "beyond the sample on both sides", body: #"<p begin="1s" end="30s">a</p>"#,
                lines: ["|10.0-14.0| a"]),
            Document(testDescription: "without times", body: "<p>a</p>", lines: ["|10.0-14.0| a"]),
            Document(
                testDescription: "counted from the start of the sample", body: #"<p begin="1s" end="2s">a</p>"#,
                lines: ["11.0-12.0 a"]),
            Document(testDescription: "nothing is shown", body: "", lines: []),
        ])
    func times(_ test: Document) {
        let text = #"<tt xmlns="http://www.w3.org/ns/ttml"><body><div>\#(test.body)</div></body></tt>"#
        let (cues, notes) = Self.read(text, pts: 10_000, duration: 4000)
        let lines = cues.map { cue in
            (cue.isCutAtStart ? "|" : "") + "\(cue.cue.start.seconds)-\(cue.cue.end.seconds)"
                + (cue.isCutAtEnd ? "|" : "") + " \(cue.cue.text)"
        }
        #expect(lines == test.lines)
        #expect(notes.isEmpty)
    }

    @Test("K03: image captions are reported once per segment")
    func images() {
        let track = MediaTrack(id: 1, mediaType: .text, codec: .ttml, timescale: 1000)
        let text = """
            <tt xmlns="http://www.w3.org/ns/ttml" xmlns:smpte="http://www.smpte-ra.org/schemas/2052-1/2010/smpte-tt">
            <body><div smpte:backgroundImage="1.png"/></body></tt>
            """
        var reader = TextSampleReader()
        var notes: [String] = []
        for pts in [0, 1000, 2000] as [Int64] {
            let sample = MediaSample(
                trackID: 1, pts: pts, dts: pts, duration: 1000, isSync: true, data: SampleData(Array(text.utf8)))
            #expect(reader.read(sample, of: track, notes: &notes).isEmpty)
        }
        #expect(notes.count == 1 && notes.first?.contains("IMSC1 Image Profile") == true, "\(notes)")
    }

    @Test("K03: invalid TTML is skipped with a note")
    func damaged() {
        for text in ["", "<tt", "no xml", "<html/>", "<tt><body><div><p>a</p>"] {
            let (cues, notes) = Self.read(text, pts: 0, duration: 1000)
            #expect(cues.isEmpty || notes.isEmpty)
        }
        #expect(!Self.read("<html/>", pts: 0, duration: 1000).1.isEmpty)
    }
}
