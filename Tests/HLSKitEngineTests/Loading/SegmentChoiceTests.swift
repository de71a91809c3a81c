import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Choice of the next segment")
struct SegmentChoiceTests {
    private static func tracker(_ change: (inout PlaylistText) -> Void = { _ in }) throws -> PlaylistTracker {
        var text = PlaylistText.numbered(7, count: 3, isEnded: true)
        change(&text)
        return PlaylistTracker(
            try text.parsed(), requestURL: "https://host/list", url: "https://host/list", start: .zero,
            loadBegan: .zero, now: .zero)
    }

    private static func facts(in lane: LaneID = .main, isTrick: Bool = false) -> SegmentChoice.Facts {
        SegmentChoice.Facts(
            id: SegmentID(lane: lane, rawValue: 5), timeline: TimelineKey(epoch: 0, discontinuity: 0, shift: 0),
            number: 2, start: .seconds(1), end: .seconds(9), isTrick: isTrick, variantIndex: 3, videoRange: .pq)
    }

    @Test("the segment's job follows from the playlist and the joint")
    func job() throws {
        let tracker = try Self.tracker()
        let choice = try SegmentChoice(1, in: tracker, keys: KeyRules())
        var lane = MediaLane(id: .main, playlistURL: "https://host/list")
        let flight = choice.flight(in: lane, tracker, Self.facts())
        #expect(flight.job.url == "https://host/s8.ts")
        #expect(flight.job.mediaSequence == 8)
        #expect(flight.job.start == .seconds(4))
        #expect(flight.listedEnd == .seconds(8))
        #expect(flight.job.timeline == 2)
        #expect(flight.job.window == PresentationWindow(from: .seconds(1), until: .seconds(9)))
        #expect(flight.job.startsNewSequence)
        #expect(flight.job.videoRange == .pq)
        #expect(flight.variantIndex == 3)
        #expect(flight.role == flight.id)
        lane.begin(flight, in: Self.facts().timeline, isCut: false)
        #expect(!choice.flight(in: lane, tracker, Self.facts()).job.startsNewSequence)
        var other = Self.facts()
        other.timeline.discontinuity = 1
        #expect(choice.flight(in: lane, tracker, other).job.startsNewSequence)
        lane.begin(.again(SegmentID(lane: .main, rawValue: 2)), at: nil)
        let again = choice.flight(in: lane, tracker, Self.facts())
        #expect(again.role == SegmentID(lane: .main, rawValue: 2))
        #expect(again.job.window.dropsOverlap)
    }

    @Test("rendition segments have no variant, and I-frames are not variant media")
    func others() throws {
        let tracker = try Self.tracker()
        let choice = try SegmentChoice(0, in: tracker, keys: KeyRules())
        let audio = choice.flight(in: MediaLane(id: .audio, playlistURL: "a"), tracker, Self.facts(in: .audio))
        #expect(audio.variantIndex == nil)
        #expect(audio.job.videoRange == nil)
        let lane = MediaLane(id: .main, playlistURL: "i")
        let frame = choice.flight(in: lane, tracker, Self.facts(isTrick: true))
        #expect(frame.variantIndex == nil)
        #expect(frame.job.window == PresentationWindow(isStill: true))
        #expect(frame.job.videoRange == .pq)
    }

    @Test("a key system without a key provider is an obstacle")
    func obstacle() throws {
        let tracker = try Self.tracker {
            $0.segments[0].tags = [
                "#EXT-X-KEY:METHOD=AES-128,URI=\"https://host/key\",KEYFORMAT=\"com.example\",KEYFORMATVERSIONS=\"1\""
            ]
        }
        #expect(throws: SegmentChoice.Obstacle.self) { try SegmentChoice(0, in: tracker, keys: KeyRules()) }
        let choice = try SegmentChoice(0, in: tracker, keys: KeyRules(formats: ["com.example"]))
        let flight = choice.flight(in: MediaLane(id: .main, playlistURL: "l"), tracker, Self.facts())
        #expect(flight.job.key?.resource.keyFormat == "com.example")
    }

    @Test("a lane advances past the segment")
    func advance() throws {
        for isEnded in [true, false] {
            var lane = MediaLane(id: .main, playlistURL: "list")
            lane.playlist.attach(try Self.tracker { $0.isEnded = isEnded })
            lane.advance(past: 0)
            #expect(lane.cursor == .position(SegmentPosition(epoch: 0, sequence: 8)))
            lane.advance(past: 2)
            let next = LaneCursor.position(SegmentPosition(epoch: 0, sequence: 10))
            #expect(lane.cursor == (isEnded ? .time(.seconds(12)) : next))
        }
    }
}
