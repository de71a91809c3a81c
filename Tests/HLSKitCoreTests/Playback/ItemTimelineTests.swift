import HLSMedia
import Testing

@testable import HLSKitCore

@Suite("Item timeline")
struct ItemTimelineTests {
    private static let video = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 1000)
    private static let audio = MediaTrack(id: 2, mediaType: .audio, codec: .aac, timescale: 1000)

    private func mayPlace(_ timeline: inout ItemTimeline, _ number: Int, of lane: LaneID) -> Bool {
        timeline.mayPlace(number, of: lane)
    }

    @Test("separate audio waits for the variant's first sample, whichever arrives first")
    func variantFirst() {
        var timeline = ItemTimeline()
        timeline.comingFromVariant = .unknown
        #expect(!mayPlace(&timeline, 0, of: .audio))
        #expect(timeline.hasWaitingLane)
        timeline.comingFromVariant = .timelines([0])
        #expect(!mayPlace(&timeline, 0, of: .audio))
        #expect(mayPlace(&timeline, 0, of: .main))
        #expect(mayPlace(&timeline, 0, of: .subtitles))
        let video = timeline.placement(
            for: 0, lane: .main, firstPTS: 60_000, track: Self.video, segmentStart: .zero)
        #expect(mayPlace(&timeline, 0, of: .audio))
        // Cut 0.7 s before the playlist says.
        let audio = timeline.placement(
            for: 0, lane: .audio, firstPTS: 59_300, track: Self.audio, segmentStart: .zero)
        #expect(video.offset == .seconds(-60))
        #expect(audio.offset == video.offset)
    }

    @Test("without media of the variant on its way audio does not wait")
    func audioAlone() {
        var timeline = ItemTimeline()
        timeline.comingFromVariant = .timelines([1])
        #expect(mayPlace(&timeline, 0, of: .audio))
        #expect(!mayPlace(&timeline, 1, of: .audio))
        timeline.comingFromVariant = .timelines([])
        #expect(mayPlace(&timeline, 1, of: .audio))
    }
}
