import HLSKitMedia
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

/// Tests samples of 40 ms, of which every eighth is a key frame.
@Suite("Selecting samples to remux")
struct CopySelectionTests {
    private static func track(_ type: MediaKind) -> MediaTrack {
        MediaTrack(id: 1, mediaType: type, codec: type == .video ? .h264 : .aac, timescale: 1000)
    }

    /// Returns the times of the selected samples in ms. The first sample is at 0.
    private static func copied(
        _ type: MediaKind, from: Int?, until: Int?, count: Int = 25, selection: CopySelection? = nil
    ) -> [Int64] {
        var selection = selection ?? CopySelection()
        let window = PresentationWindow(
            from: from.map { .milliseconds($0) }, until: until.map { .milliseconds($0) })
        selection.begin(track(type), in: window)
        var times: [Int64] = []
        for index in 0..<count {
            let sample = MediaSample(
                trackID: 1, pts: Int64(index * 40), dts: Int64(index * 40), duration: 40,
                isSync: type == .audio || index % 8 == 0, data: SampleData([UInt8(index)]))
            let timing = CopySelection.Timing(
                decoding: .milliseconds(sample.dts), presentation: .milliseconds(sample.pts),
                length: .milliseconds(40))
            guard selection.judge(sample, timing) == .wanted else { continue }
            times += selection.take(sample, timing).map(\.pts)
        }
        return times
    }

    @Test("video begins with the first needed frame's references; audio with the first audible sample")
    func leadIn() {
        let step = { (range: Range<Int>) in range.map { Int64($0 * 40) } }
        #expect(Self.copied(.video, from: 450, until: nil) == step(8..<25))
        #expect(Self.copied(.video, from: 640, until: 720) == step(16..<18))
        #expect(Self.copied(.video, from: nil, until: 90) == step(0..<3))
        #expect(Self.copied(.audio, from: 450, until: 530) == step(11..<14))
        #expect(Self.copied(.audio, from: nil, until: nil) == step(0..<25))
    }

    @Test(
        "frames shown after the end are selected only if an earlier frame depends on them",
        arguments: [
            (80, [0, 120, 40]), (120, [0, 120, 40, 80]), (160, [0, 120, 40, 80]), (200, [0, 120, 40, 80, 240, 160]),
        ]
            as [(Int, [Int64])])
    func pastEnd(until: Int, expected: [Int64]) {
        var selection = CopySelection()
        selection.begin(Self.track(.video), in: PresentationWindow(until: .milliseconds(until)))
        var times: [Int64] = []
        for (index, pts) in ([0, 120, 40, 80, 240, 160, 200] as [Int64]).enumerated() {
            let dts = Int64(index - 1) * 40
            let sample = MediaSample(
                trackID: 1, pts: pts, dts: dts, duration: 40, isSync: index == 0, data: SampleData([UInt8(index)]))
            let timing = CopySelection.Timing(
                decoding: .milliseconds(dts), presentation: .milliseconds(pts), length: .milliseconds(40))
            guard selection.judge(sample, timing) == .wanted else { continue }
            times += selection.take(sample, timing).map(\.pts)
        }
        #expect(times == expected)
    }

    @Test("the audio before the first wanted sample is kept for files that begin with earlier video, but only once")
    func audioLeadIn() {
        var selection = CopySelection()
        func leadIn(from: Int) -> [Int64] {
            selection.begin(Self.track(.audio), in: PresentationWindow(from: .milliseconds(from)))
            for index in 0..<from / 40 + 1 {
                let time = Int64(index) * 40
                let sample = MediaSample(
                    trackID: 1, pts: time, dts: time, duration: 40, isSync: true, data: SampleData([UInt8(index)]))
                let timing = CopySelection.Timing(
                    decoding: .milliseconds(time), presentation: .milliseconds(time), length: .milliseconds(40))
                guard selection.judge(sample, timing) == .wanted else { continue }
                return selection.takeAudioLeadIn().map(\.pts)
            }
            return []
        }
        #expect(leadIn(from: 130) == [0, 40, 80])
        #expect(leadIn(from: 130).isEmpty)
    }

    @Test("an empty window selects no samples", arguments: [MediaKind.video, .audio])
    func empty(type: MediaKind) {
        #expect(Self.copied(type, from: 450, until: 450).isEmpty)
        #expect(Self.copied(type, from: 450, until: 200).isEmpty)
    }

    @Test("a run that repeats copied samples continues after them")
    func overlap() {
        var selection = CopySelection()
        selection.begin(Self.track(.audio), in: PresentationWindow())
        let samples = (0..<10).map { (index: Int) -> MediaSample in
            let time = Int64(index) * 40
            return MediaSample(
                trackID: 1, pts: time, dts: time, duration: 40, isSync: true, data: SampleData([UInt8(index)]))
        }
        func times(_ samples: some Sequence<MediaSample>) -> [Int64] {
            samples.flatMap { sample -> [Int64] in
                let time = Duration.milliseconds(sample.pts)
                let timing = CopySelection.Timing(decoding: time, presentation: time, length: .milliseconds(40))
                guard selection.judge(sample, timing) == .wanted else { return [] }
                return selection.take(sample, timing).map(\.pts)
            }
        }
        #expect(times(samples.prefix(5)) == [0, 40, 80, 120, 160])
        selection.begin(Self.track(.audio), in: PresentationWindow(dropsOverlap: true))
        #expect(times(samples) == [200, 240, 280, 320, 360])
    }
}
