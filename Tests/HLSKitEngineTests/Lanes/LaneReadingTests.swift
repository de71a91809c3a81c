import HLSKitMedia
import HLSKitSelection
import Testing

@testable import HLSKitEngine

/// Segments last 4 s, and the lane has delivered media up to 8 s.
@Suite("Reading a lane's media")
struct LaneReadingTests {
    private static func flight(_ number: Int, at start: Duration) -> SegmentInFlight {
        let id = SegmentID(lane: .main, rawValue: number)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: number), start: start, duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s\(number)", mediaSequence: number)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: number), job: job, playlistURL: "list")
    }

    private static func lane(_ starts: Duration..., loadedEnd: Duration? = .seconds(8)) -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        for (index, start) in starts.enumerated() {
            let timeline = TimelineKey(epoch: 0, discontinuity: 0, shift: 0)
            lane.begin(flight(index + 1, at: start), in: timeline, isCut: false)
        }
        lane.setLoadedEnd(loadedEnd)
        return lane
    }

    private static let first = SegmentID(lane: .main, rawValue: 1)

    @Test("media is appended to the loaded range piece by piece")
    func pieces() {
        var lane = Self.lane(.seconds(8))
        let one = lane.read(Self.first, upTo: .seconds(9), from: .zero, at: .zero)
        #expect(one?.gap == nil)
        #expect(one?.media == .seconds(8)..<(.seconds(9)))
        let again = lane.read(Self.first, upTo: .seconds(9), from: .zero, at: .zero)
        #expect(again != nil)
        #expect(again?.media == nil)
        let two = lane.read(Self.first, upTo: .seconds(11), from: .zero, at: .zero)
        #expect(two?.media == .seconds(9)..<(.seconds(11)))
        #expect(lane.demuxedEnd == .seconds(11))
        let other = lane.read(SegmentID(lane: .main, rawValue: 5), upTo: .seconds(11), from: .zero, at: .zero)
        #expect(other == nil)
    }

    @Test("missing media before a piece remains, unless a segment in flight may fill it")
    func gaps() {
        var lane = Self.lane(.seconds(12))
        let reading = lane.read(Self.first, upTo: .seconds(13), from: .zero, at: .zero)
        #expect(reading?.gap == .seconds(8)..<(.seconds(12)))
        var full = Self.lane(.seconds(8), .seconds(12))
        let second = full.read(SegmentID(lane: .main, rawValue: 2), upTo: .seconds(13), from: .zero, at: .zero)
        #expect(second?.gap == nil)
        var start = Self.lane(.seconds(4), loadedEnd: nil)
        let late = start.read(Self.first, upTo: .seconds(5), from: .seconds(1), at: .zero)
        #expect(late?.gap == .seconds(1)..<(.seconds(4)))
    }

    @Test("a fully read segment is removed and leaves the range of its media")
    func end() throws {
        var lane = Self.lane(.seconds(8), .seconds(12))
        #expect(!lane.isDemuxed)
        let ended = lane.endReading(Self.first, at: .zero)
        let flight = try #require(ended)
        #expect(lane.isDemuxed)
        #expect(lane.segments.count == 1)
        let reading = lane.reading(of: flight, (.milliseconds(7_900), .seconds(11)), from: .zero)
        #expect(reading.media == .milliseconds(7_900)..<(.seconds(11)))
        #expect(reading.gap == nil)
        #expect(!reading.isAgain)
        let missing = lane.endReading(Self.first, at: .zero)
        #expect(missing == nil)
    }

    @Test("media that is loaded again does not count twice")
    func again() throws {
        var lane = Self.lane(.seconds(8))
        lane.takeLate([.audio], keepsOthers: true)
        _ = lane.goBackForLate(LateOutputs.Facts(resume: .seconds(20)))
        let ended = lane.endReading(Self.first, at: .zero)
        let flight = try #require(ended)
        #expect(lane.reading(of: flight, (.seconds(8), .seconds(12)), from: .zero).isAgain)
    }

    @Test("missing media after a short segment is reported if the following segment was skipped")
    func holeBehind() {
        let lane = Self.lane(loadedEnd: .seconds(16))
        #expect(lane.gap(after: .seconds(11), upTo: .seconds(12)) == .seconds(11)..<(.seconds(12)))
        #expect(lane.gap(after: .seconds(11), upTo: nil) == nil)
        #expect(lane.gap(after: .seconds(16), upTo: .seconds(20)) == nil)
        #expect(Self.lane(.seconds(8), loadedEnd: .seconds(16)).gap(after: .seconds(11), upTo: .seconds(12)) == nil)
    }

    @Test("a skipped range counts as loaded, and the next segment starts a new sequence")
    func passingOver() {
        var lane = Self.lane(.seconds(8))
        #expect(lane.joint == .follows)
        let gap = lane.skipRange(.seconds(16)..<(.seconds(20)), from: .zero)
        #expect(gap == .seconds(12)..<(.seconds(16)))
        #expect(lane.loadedEnd == .seconds(20))
        #expect(lane.joint == .begins)
        var flight = Self.flight(3, at: .seconds(20))
        #expect(flight.missingRange == .seconds(20)..<(.seconds(24)))
        var window = SegmentWindow()
        window.append(flight)
        window.demux(flight.id, upTo: .seconds(25))
        flight = window[0]
        #expect(flight.missingRange.isEmpty)
    }
}
