import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Abandoning a lane's segments")
struct LaneFailingTests {
    /// Returns a lane with segments of 4 s from 8 s on. The first one is read up to 10 s.
    private static func lane() -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        for number in 1...3 {
            lane.begin(flight(number), in: TimelineKey(epoch: 0, discontinuity: 0, shift: 0), isCut: false)
        }
        lane.segments.demux(SegmentID(lane: .main, rawValue: 1), upTo: .seconds(10))
        lane.extend(to: .seconds(16))
        return lane
    }

    private static func flight(_ number: Int, sequence: Int? = nil) -> SegmentInFlight {
        let id = SegmentID(lane: .main, rawValue: number)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: number), start: .seconds(4 + 4 * number), duration: .seconds(4),
            timeline: 0, window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: number)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: sequence ?? number), job: job,
            playlistURL: "list")
    }

    @Test("abandoning a segment also drops the later ones, the last first")
    func abandoning() {
        var lane = Self.lane()
        let two = lane.abandon(from: SegmentID(lane: .main, rawValue: 2))
        #expect(two?.flights.map(\.id.rawValue) == [3, 2])
        #expect(two?.end == .seconds(12))
        #expect(lane.loadedEnd == .seconds(12))
        let one = lane.abandon(from: SegmentID(lane: .main, rawValue: 1))
        #expect(one?.end == .seconds(10))
        #expect(lane.loadedEnd == .seconds(10))
        let none = lane.abandon(from: SegmentID(lane: .main, rawValue: 1))
        #expect(none == nil)
    }

    @Test("a segment listed too early may come later: the newest, or any if there is no alternative")
    func edge() throws {
        for isLive in [true, false] {
            var lane = Self.lane()
            lane.playlist.attach(
                PlaylistTracker(
                    try PlaylistText.numbered(0, count: 10, isEnded: !isLive).parsed(), requestURL: "list",
                    url: "list", start: .zero, loadBegan: .zero, now: .zero))
            #expect(lane.mayComeLater(Self.flight(1, sequence: 9), hasAlternative: true) == isLive)
            #expect(!lane.mayComeLater(Self.flight(1, sequence: 2), hasAlternative: true))
            #expect(lane.mayComeLater(Self.flight(1, sequence: 2), hasAlternative: false) == isLive)
            #expect(!lane.mayComeLater(Self.flight(1, sequence: 12), hasAlternative: false))
        }
    }

    @Test("a failure of the first needed segment is final; others can be parked")
    func parking() {
        var lane = Self.lane()
        for number in 1...2 {
            _ = lane.segments.request(
                SegmentID(lane: .main, rawValue: number), as: RequestID(rawValue: number), at: .zero)
        }
        let timeOut = LoadingError(code: .timedOut, url: "s", text: "")
        #expect(!lane.mayPark(SegmentID(lane: .main, rawValue: 1), after: timeOut))
        #expect(lane.mayPark(SegmentID(lane: .main, rawValue: 2), after: timeOut))
        #expect(!lane.mayPark(SegmentID(lane: .main, rawValue: 9), after: timeOut))
        let answer = LoadingError(code: .httpStatus, url: "s", status: 404, text: "")
        #expect(!lane.mayPark(SegmentID(lane: .main, rawValue: 2), after: answer))
    }

    @Test("loaded segments are played; the first one not loaded is missing")
    func missing() {
        var item = ItemState(url: "https://host/list", credentialOrigins: [])
        #expect(item.firstMissing(in: .main) == nil)
        var lane = Self.lane()
        lane.segments.load(SegmentID(lane: .main, rawValue: 1), byteCount: 10)
        item.lanes[.main] = lane
        #expect(item.firstMissing(in: .main) == SegmentID(lane: .main, rawValue: 2))
    }
}
