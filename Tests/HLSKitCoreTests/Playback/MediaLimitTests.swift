import HLSKitMedia
import Testing

@testable import HLSKitPlayback

@Suite("P02: Remuxing up to a break")
struct MediaLimitTests {
    /// Returns frames of 40 ms in groups of eight, decoded as I P B B P B B P and shown two frames later.
    private static func samples() -> [MediaSample] {
        let shown: [Int64] = [0, 3, 1, 2, 6, 4, 5, 7]
        return (0..<16).map { (number: Int) -> MediaSample in
            let place: Int64 = Int64(number / 8 * 8) + shown[number % 8] + 2
            return MediaSample(
                trackID: 1, pts: place * 3600, dts: Int64(number) * 3600, duration: 3600, isSync: number % 8 == 0,
                data: SampleData([UInt8(number)]))
        }
    }

    private static func copies(
        _ type: MediaKind, until: Duration?, timescale: Int32 = 90_000
    ) -> [(number: Int, pts: Int64)] {
        let track = MediaTrack(id: 1, mediaType: type, codec: .h264, timescale: timescale)
        var limit = MediaLimit(until: until)
        return samples().enumerated().compactMap { number, sample in
            let timing = CopySelection.Timing(
                decoding: ItemTimeline.duration(sample.dts, timescale),
                presentation: ItemTimeline.duration(sample.pts, timescale), length: .milliseconds(40))
            guard limit.takes(sample, timing, isVideo: type == .video) else { return nil }
            return (number, limit.place(sample, of: track, offset: .zero).pts)
        }
    }

    @Test("frames after the limit are kept only as references, and never shown after it")
    func hidden() {
        // The frames at positions 0 to 5 are shown before 0.32 s, because reordering delays them by two frames.
        let copies = Self.copies(.video, until: .milliseconds(320))
        #expect(copies.map(\.number) == Array(0..<8))
        let end: Int64 = 28_800
        #expect(copies.allSatisfy { $0.pts < end })
        #expect(copies.filter { [4, 7].contains($0.number) }.map(\.pts) == [end - 16, end - 15])
        let others = copies.filter { ![4, 7].contains($0.number) }
        #expect(others.map { $0.pts / 3600 } == [2, 5, 3, 4, 6, 7])
    }

    @Test("audio and frames before the limit keep their times; without a limit all do")
    func kept() {
        #expect(Self.copies(.video, until: nil).map(\.pts) == Self.samples().map(\.pts))
        let audio = Self.copies(.audio, until: .milliseconds(320))
        #expect(audio.map(\.pts) == Array(Self.samples().map(\.pts)[..<8]))
        #expect(Self.copies(.video, until: .milliseconds(120)).map(\.number) == [0, 1, 2])
    }

    @Test("no frame is shown before it is decoded, and coarse timescales change nothing")
    func room() {
        let copies = Self.copies(.video, until: .milliseconds(120))
        #expect(copies.map(\.pts) == [7200, 10_784, 10_785])
        #expect(
            Self.copies(.video, until: .seconds(200), timescale: 144).map(\.pts)
                == Array(Self.samples().map(\.pts)[..<8]))
    }
}
