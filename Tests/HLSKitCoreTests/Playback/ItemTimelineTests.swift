import HLSKitEngine
import HLSKitMedia
import Testing

@testable import HLSKitPlayback

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
        // The audio starts 0.7 s earlier than in the playlist.
        let audio = timeline.placement(
            for: 0, lane: .audio, firstPTS: 59_300, track: Self.audio, segmentStart: .zero)
        #expect(video.offset == .seconds(-60))
        #expect(audio.offset == video.offset)
    }

    @Test("audio does not wait if no variant media is in flight")
    func audioAlone() {
        var timeline = ItemTimeline()
        timeline.comingFromVariant = .timelines([1])
        #expect(mayPlace(&timeline, 0, of: .audio))
        #expect(!mayPlace(&timeline, 1, of: .audio))
        timeline.comingFromVariant = .timelines([])
        #expect(mayPlace(&timeline, 1, of: .audio))
    }

    /// Places consecutive segments of one lane and returns their item times. A line is
    /// `START LENGTH FIRST END [TIMELINE]` in seconds. The first two values are from the playlist, the next two from
    /// the media.
    private func places(_ lines: [String], track: MediaTrack = video) -> [Double] {
        var timeline = ItemTimeline()
        return lines.map { line in
            let values = line.split(separator: " ").compactMap { Double($0) }
            let (start, number) = (Duration.seconds(values[0]), values.count > 4 ? Int(values[4]) : 0)
            let placement = timeline.placement(
                for: number, lane: .main, firstPTS: Int64(values[2] * 1000), track: track, segmentStart: start,
                continues: true)
            let offset = placement.offset / .seconds(1)
            timeline.noteEnd(
                of: .main, timeline: number, playlistEnd: start + .seconds(values[1]),
                [.video: .seconds(values[3] + offset)])
            return ((values[2] + offset) * 1000).rounded() / 1000
        }
    }

    @Test(
        "R37: media continues where the previous media ended",
        arguments: [
            // Small errors in playlist durations do not move a discontinuity.
            (["0 2 60 62.04", "2 2 5 7 1"], [0, 2]),
            // Large errors do, so that no frame is repeated and no gap appears.
            (["0 1.9 60 62", "1.9 1.9 5 7 1", "3.8 1.9 5 7 2"], [0, 2, 4]),
            (["0 3 60 62", "3 3 5 7 1", "6 3 5 7 2"], [0, 2, 4]),
            // After a skipped segment, the playlist time applies.
            (["0 1.9 60 62", "3.8 1.9 5 7 1"], [0, 3.8]),
            // A growing drift opens no gap.
            (["0 20 60 70", "20 20 70 80", "40 20 80 90", "60 20 90 100"], [0, 10, 20, 30]),
            // A clock may restart without a discontinuity. A small jump is missing media.
            (["0 2 60 62", "2 2 60 62", "4 2 60 62"], [0, 2, 4]),
            (["0 2 60 62", "2 2 67 69", "4 2 69 71"], [0, 7, 9]),
            (["0 2 60 62", "2 2 9000 9002", "4 2 9002 9004"], [0, 2, 4]),
            // The first clock applies again after a return.
            (["0 2 60 62", "2 2 9000 9002", "4 2 64 66", "6 2 66 68"], [0, 2, 4, 6]),
        ] as [([String], [Double])])
    func joints(lines: [String], expected: [Double]) {
        #expect(places(lines) == expected)
    }

    @Test("media without declared times continues where the previous media ended")
    func relative() {
        var track = Self.video
        track.timestampsAreRelative = true
        #expect(places(["0 2 0 1.96", "2 2 0 1.96", "4 2 0 2"], track: track) == [0, 1.96, 3.92])
        #expect(places(["0 2 0 2", "6 2 0 2"], track: track) == [0, 6])
    }

    @Test("tracks without declared times keep their initial distance")
    func relativeTracks() {
        var timeline = ItemTimeline()
        var (video, audio) = (Self.video, Self.audio)
        video.timestampsAreRelative = true
        audio.timestampsAreRelative = true
        func offset(_ track: MediaTrack, _ first: Int64, _ start: Double, timeline number: Int = 0) -> Duration {
            timeline.placement(
                for: number, lane: .main, firstPTS: first, track: track, segmentStart: .seconds(start)
            ).offset
        }
        #expect(offset(video, 67, 0) == .zero)
        #expect(offset(audio, 0, 0) == .zero)
        timeline.noteEnd(
            of: .main, timeline: 0, playlistEnd: .seconds(2),
            [.video: .milliseconds(2067), .audio: .milliseconds(1990)])
        #expect(offset(video, 67, 2) == .seconds(2))
        #expect(offset(audio, 0, 2) == .milliseconds(1990))
        #expect(offset(video, 67, 2, timeline: 1) == offset(audio, 0, 2, timeline: 1))
    }

    @Test("media hidden by an edit list does not affect the placement")
    func editedMedia() {
        var timeline = ItemTimeline()
        var audio = Self.audio
        audio.shownRange = 0..<1500
        let placement = timeline.placement(for: 0, lane: .main, firstPTS: -600, track: audio, segmentStart: .zero)
        #expect(placement.offset == .zero)
    }

    @Test("after a seek the playlist determines times, not earlier media")
    func seek() {
        var timeline = ItemTimeline()
        let place = { (timeline: inout ItemTimeline, number: Int, start: Double) in
            timeline.placement(
                for: number, lane: .main, firstPTS: 5000, track: Self.video, segmentStart: .seconds(start)
            ).offset
        }
        #expect(place(&timeline, 0, 0) == .seconds(-5))
        timeline.noteEnd(of: .main, timeline: 0, playlistEnd: .seconds(4), [.video: .seconds(7)])
        timeline.flush()
        #expect(place(&timeline, 1, 4) == .seconds(-1))
    }

    @Test("ticks are the inverse of durations", arguments: [1, 1000, 44_100, 90_000, Int32.max])
    func ticks(timescale: Int32) {
        for value in [0, 1, -1, 7, -90_001, 1 << 33, -(1 << 40), 1 << 61] as [Int64] {
            #expect(ItemTimeline.ticks(ItemTimeline.duration(value, timescale), timescale) == value)
        }
    }
}
