import HLSKitCore
import Testing

@Suite struct ClosedCaptionCollectorTests {
    private static let track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 30_000)

    /// An access unit of H.264 with one pair of field 1.
    private func sample(_ first: UInt8, _ second: UInt8, pts: Int64, dts: Int64) -> MediaSample {
        let data: [UInt8] = [0xb5, 0, 0x31, 0x47, 0x41, 0x39, 0x34, 3, 0x41, 0xff, 0xfc, first, second, 0xff]
        let bytes = [0, 0, 1, 6, 4, UInt8(data.count)] + data + [0x80, 0, 0, 1, 0x65, 0x88]
        return MediaSample(trackID: 1, pts: pts, dts: dts, isSync: true, data: SampleData(bytes))
    }

    @Test("K03: closed captions of video that passes are on the item's timeline, whatever the order of its pictures")
    func collects() {
        let collector = ClosedCaptionCollector()
        collector.begin([Self.track])
        let words: [[UInt8]] = [
            [0x94, 0x29], [0x94, 0x29], [0x94, 0x70], [0x94, 0x70], [0xc8, 0xe9], [0x80, 0x80], [0x94, 0x2c],
            [0x94, 0x2c],
        ]
        // Of each two pictures the second is decoded first; the item's time is 10 s ahead.
        for index in [1, 0, 3, 2, 5, 4, 7, 6] {
            let pts = Int64(index) * 1001
            collector.write(
                sample(words[index][0], words[index][1], pts: pts, dts: min(pts, pts - 1001)), ofTrackAt: 0,
                at: MediaTime(value: pts + 300_000, timescale: 30_000))
        }
        collector.finish()
        let captions = collector.takeCaptions()
        #expect(captions.map(\.service) == [.cc1])
        #expect(captions.map(\.caption.text) == ["Hi"])
        let range = captions.first?.caption.timeRange
        #expect(range?.start == MediaTime(value: 4 * 1001 + 300_000, timescale: 30_000))
        #expect(range?.end == MediaTime(value: 6 * 1001 + 300_000, timescale: 30_000))
        #expect(collector.takeCaptions().isEmpty)
    }

    @Test("K01: a cue is a caption with its styles and its place")
    func cue() {
        let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
        let cue = LegibleCue(timeRange: range, text: "a b", payload: "a <i>b</i>", identifier: "x")
        #expect(
            cue.caption
                == Caption(
                    "a b", timeRange: range,
                    styles: [Caption.StyleRun(range: 2..<3, style: CaptionStyle(fontStyle: .italic))], identifier: "x"))
    }
}
