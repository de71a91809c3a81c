import HLSKitEngine
import HLSKitMedia
import Testing

@testable import HLSKitPlayback

@Suite("Media read past a break")
struct MediaBehindBreakTests {
    private static func sample(_ time: Int) -> MediaSample {
        MediaSample(
            trackID: 1, pts: Int64(time), dts: Int64(time), duration: 40, isSync: false, data: SampleData([0]))
    }

    private static func copy(_ time: Int) -> HeldCopy {
        let time = Duration.milliseconds(time)
        return HeldCopy(
            sample: sample(0),
            timing: CopySelection.Timing(decoding: time, presentation: time, length: .milliseconds(40)), offset: .zero)
    }

    private static func track(from time: Int) -> SampleStore.Item {
        .track(
            SampleStore.RunStart(
                track: MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 1000),
                window: PresentationWindow(), copied: PresentationWindow(), time: .milliseconds(time)))
    }

    /// Returns copies, samples, and then samples of another track. The times are in milliseconds.
    private static func held() -> MediaAfterBreak {
        var held = MediaAfterBreak()
        for time in [7000, 7040] { held.keep(copy(time)) }
        for time in [7080, 7120] { held.keep(.sample(sample(time * 90), offset: .zero), isCopied: true) }
        held.keep(track(from: 8000))
        for time in [8000, 8040] { held.keep(.sample(sample(time + 1000), offset: .seconds(-1))) }
        return held
    }

    private static func words(_ held: MediaAfterBreak) -> [String] {
        held.copies.map { "c\(Int($0.timing.presentation / .milliseconds(1)))" }
            + held.unread.map { entry in
                switch entry.item {
                case .track: "T"
                case .sample(let sample, _): "\(sample.pts)\(entry.isCopied ? "c" : "")"
                case .skipped: "S"
                case .end: "E"
                }
            }
    }

    @Test("stored media is returned in order, once")
    func order() {
        var held = Self.held()
        #expect(held.hasUnreadTrack)
        #expect(Self.words(held.take()) == ["c7000", "c7040", "637200c", "640800c", "T", "9000", "9040"])
        #expect(Self.words(held.take()).isEmpty)
        #expect(!held.hasUnreadTrack)
    }

    @Test(
        "replaced media is dropped, independent of the track's timescale",
        arguments: [
            (9000, ["c7000", "c7040", "637200c", "640800c", "T", "9000", "9040"], true),
            (8040, ["c7000", "c7040", "637200c", "640800c", "T", "9000"], true),
            // Playlist times are not exact to the sample.
            (8050, ["c7000", "c7040", "637200c", "640800c", "T", "9000"], true),
            (8000, ["c7000", "c7040", "637200c", "640800c"], false),
            (7120, ["c7000", "c7040", "637200c"], false),
            (7040, ["c7000"], false),
            (6000, [], false),
        ])
    func truncated(_ time: Int, _ words: [String], _ hasTrack: Bool) {
        var held = Self.held()
        held.truncate(from: .milliseconds(time), timescale: 90_000)
        #expect(Self.words(held) == words)
        #expect(held.hasUnreadTrack == hasTrack)
    }
}
