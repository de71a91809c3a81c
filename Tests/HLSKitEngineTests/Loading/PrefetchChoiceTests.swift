import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// The variant has delivered 4 s and loads the next segment. Its audio has delivered nothing and loads its first
/// segment.
@Suite("Choice of the segment to prefetch")
struct PrefetchChoiceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: PrefetchChoice.Facts
        var lanes: @Sendable (inout MediaLanes) -> Void
        var expected: LaneID?

        init(
            _ text: String, _ expected: LaneID?, facts: (inout PrefetchChoice.Facts) -> Void = { _ in },
            lanes: @escaping @Sendable (inout MediaLanes) -> Void = { _ in }
        ) {
            testDescription = text
            self.expected = expected
            self.facts = PrefetchChoice.Facts(wanted: [.video, .audio])
            self.lanes = lanes
            facts(&self.facts)
        }
    }

    static let cases = [
        Case("what is needed first", .audio),
        Case("what is wanted", .main, facts: { $0.wanted = .video }),
        Case("nothing is wanted", nil, facts: { $0.wanted = [] }),
        Case("nothing is measured", nil, facts: { $0.isMeasured = false }),
        Case(
            "playing ends before it", nil,
            facts: {
                $0.wanted = .video
                $0.end = .seconds(8)
            }),
        Case("playing ends before all", nil, facts: { $0.end = .seconds(4) }),
        Case("a list is not here", nil, lanes: { $0[.audio] = MediaLane(id: .audio, playlistURL: "audio") }),
        Case(
            "subtitles may come later", .audio, lanes: { $0[.subtitles] = MediaLane(id: .subtitles, playlistURL: "") }),
        Case(
            "something has to be asked for again", nil,
            lanes: { $0[.audio]?.segments.fail(SegmentID(lane: .audio, rawValue: 1)) }),
        Case("the first frame is awaited", nil, lanes: { $0[.main]?.setLoadedEnd(nil) }),
        Case(
            "nobody waits for it", .audio, facts: { $0.presentsMedia = false },
            lanes: { $0[.main]?.setLoadedEnd(nil) }),
        Case(
            "it is read far enough", .audio,
            lanes: {
                $0[.main]?.setLoadedEnd(nil)
                $0[.main]?.segments.demux(SegmentID(lane: .main, rawValue: 1), upTo: .milliseconds(4_500))
            }),
    ]

    private static func lane(_ id: LaneID, at start: Duration) throws -> MediaLane {
        var lane = MediaLane(id: id, playlistURL: "list")
        lane.playlist.attach(
            PlaylistTracker(
                try PlaylistText.numbered(0, count: 5, isEnded: true).parsed(), requestURL: "list", url: "list",
                start: .zero, loadBegan: .zero, now: .zero))
        let segment = SegmentID(lane: id, rawValue: 1)
        let job = SegmentJob(
            id: segment, request: RequestID(rawValue: 1), start: start, duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: 0)
        let flight = SegmentInFlight(
            id: segment, role: segment, position: SegmentPosition(epoch: 0, sequence: 0), job: job,
            playlistURL: "list")
        lane.begin(flight, in: TimelineKey(epoch: 0, discontinuity: 0, shift: 0), isCut: false)
        _ = lane.segments.request(segment, as: RequestID(rawValue: 1), at: .zero)
        lane.move(to: .time(start + .seconds(4)))
        return lane
    }

    @Test("the lane with the earliest next segment is chosen, unless earlier work is pending", arguments: cases)
    func choose(_ test: Case) throws {
        var lanes = MediaLanes()
        lanes[.main] = try Self.lane(.main, at: .seconds(4))
        lanes[.main]?.extend(to: .seconds(4))
        lanes[.audio] = try Self.lane(.audio, at: .zero)
        test.lanes(&lanes)
        #expect(lanes.nextToPrefetch(test.facts)?.id == test.expected)
    }
}
