import HLSKitMedia
import Testing

@testable import HLSKitPlayback

@Suite struct ShownMediaTests {
    private static func sample(_ pts: Int64, _ duration: Int64 = 10) -> MediaSample {
        MediaSample(trackID: 1, pts: pts, dts: pts, duration: duration, isSync: true, data: SampleData([1]))
    }

    @Test("without a range all media is shown")
    func all() {
        let shown = ShownMedia()
        #expect(shown.shows(frameAt: -5))
        #expect(shown.part(ofAudioAt: -5, frameCount: 7, sampleRate: 48_000, timescale: 1000) == 0..<7)
        #expect(shown.copies(Self.sample(-100), of: .audio))
        #expect(shown.extent(of: Self.sample(-100)).map { [$0.pts, $0.duration] } == [-100, 10])
    }

    @Test("frames are shown from the range's start to before its end")
    func frames() {
        let shown = ShownMedia(0..<100)
        #expect([-1, 0, 99, 100].map { shown.shows(frameAt: $0) } == [false, true, true, false])
    }

    struct Audio: CustomTestStringConvertible, Sendable {
        var testDescription: String { "at \(pts)" }
        var pts: Int64
        var part: Range<Int>
    }

    @Test(
        "audio is cut at the sample, whatever the timescale",
        arguments: [
            Audio(pts: -20, part: 480..<480), Audio(pts: -10, part: 480..<480), Audio(pts: -5, part: 240..<480),
            Audio(pts: 0, part: 0..<480), Audio(pts: 95, part: 0..<240), Audio(pts: 100, part: 0..<0),
            Audio(pts: .min, part: 480..<480), Audio(pts: .max, part: 0..<0),
        ])
    func audio(_ audio: Audio) {
        let part = ShownMedia(0..<100).part(ofAudioAt: audio.pts, frameCount: 480, sampleRate: 48_000, timescale: 1000)
        #expect(part == audio.part)
    }

    @Test("remuxed video keeps the shown frames' references, audio does not; both stop at the end")
    func copies() {
        let shown = ShownMedia(0..<100)
        #expect(
            [-20, -5, 0, 99, 100].map { shown.copies(Self.sample($0), of: .audio) } == [false, true, true, true, false])
        #expect(
            [-20, -5, 0, 99, 100].map { shown.copies(Self.sample($0), of: .video) } == [true, true, true, true, false])
    }

    @Test("only the shown part of a sample contributes to the extent of the media")
    func extents() {
        let shown = ShownMedia(0..<100)
        #expect(shown.extent(of: Self.sample(-20)) == nil)
        #expect(shown.extent(of: Self.sample(-5)).map { [$0.pts, $0.duration] } == [0, 5])
        #expect(shown.extent(of: Self.sample(95)).map { [$0.pts, $0.duration] } == [95, 5])
        #expect(shown.extent(of: Self.sample(100)) == nil)
        #expect(ShownMedia(0..<Int64.max).extent(of: Self.sample(95)).map { [$0.pts, $0.duration] } == [95, 10])
    }
}
