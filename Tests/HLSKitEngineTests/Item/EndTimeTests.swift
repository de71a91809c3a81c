import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("End times")
struct EndTimeTests {
    private static func end(at time: Duration?) -> EndTime {
        var end = EndTime()
        end.start(at: .zero, end: time)
        return end
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var old: Duration?
        var new: Duration?
        var moved: EndTime.Change?
        var time: Duration?
    }

    static let cases = [
        Case(testDescription: "the first one", new: .seconds(20), moved: .init(), time: .seconds(20)),
        Case(testDescription: "the same", old: .seconds(20), new: .seconds(20)),
        Case(testDescription: "none as before"),
        Case(testDescription: "nearer", old: .seconds(20), new: .seconds(15), moved: .init(), time: .seconds(15)),
        Case(
            testDescription: "behind the playhead", old: .seconds(20), new: .seconds(5), moved: .init(),
            time: .seconds(10)),
        Case(
            testDescription: "later", old: .seconds(20), new: .seconds(25),
            moved: .init(reopensFrom: .seconds(20)), time: .seconds(25)),
        Case(testDescription: "taken back", old: .seconds(20), moved: .init(reopensFrom: .seconds(20))),
    ]

    @Test("moving the end time reloads the segments it had cut off (playhead at 10 s)", arguments: cases)
    func move(_ test: Case) {
        let moved = Self.end(at: test.old).moved(to: test.new, playhead: .seconds(10))
        #expect(moved?.change == test.moved)
        #expect(moved?.end.time == test.time)
    }

    @Test("before the start is known, any end time is accepted; it is then clamped to the start")
    func start() {
        let moved = EndTime().moved(to: .seconds(3), playhead: nil)
        var end = moved?.end ?? EndTime()
        #expect(end.time == .seconds(3))
        end.start(at: .seconds(5), end: nil)
        #expect(end.time == .seconds(5))
        end.start(at: .seconds(5), end: .seconds(9))
        #expect(end.time == .seconds(9))
    }

    // MARK: Lanes

    /// Returns a lane with media up to 8 s and two more segments of 4 s.
    private static func lane() -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        for number in 1...2 {
            let id = SegmentID(lane: .main, rawValue: number)
            let job = SegmentJob(
                id: id, request: RequestID(rawValue: number), start: .seconds(4 + 4 * number), duration: .seconds(4),
                timeline: 0, window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: number)
            let flight = SegmentInFlight(
                id: id, role: id, position: SegmentPosition(epoch: 0, sequence: number), job: job,
                playlistURL: "list")
            lane.begin(flight, in: TimelineKey(epoch: 0, discontinuity: 0, shift: 0), isCut: false)
        }
        lane.move(to: .time(.seconds(16)))
        lane.extend(to: .seconds(8))
        return lane
    }

    @Test("setting an end time truncates a lane; removing it reopens the lane there")
    func cutting() {
        var lane = Self.lane()
        let open = lane.resume(after: .seconds(10))
        #expect(open == nil)
        let pastEnd = lane.cut(at: .seconds(10))
        #expect(pastEnd.map(\.id.rawValue) == [2, 1])
        #expect(lane.segments.isEmpty)
        #expect(lane.isCutAtEnd)
        #expect(lane.loadedEnd == .seconds(10))
        lane.complete()
        let reopening = lane.resume(after: .seconds(9))
        #expect(reopening?.isCut == true)
        #expect(reopening?.wasComplete == true)
        #expect(lane.loadedEnd == .seconds(9))
        #expect(lane.cursor == .time(.seconds(9)))
        #expect(!lane.isComplete)
        #expect(!lane.isCutAtEnd)
    }

    @Test("segments before the end time are kept")
    func keeping() {
        var lane = Self.lane()
        lane.cutAtEnd()
        let reopening = lane.resume(after: .seconds(12))
        #expect(reopening?.pastEnd.map(\.id.rawValue) == [2])
        #expect(reopening?.wasComplete == false)
        #expect(lane.segments.map(\.id.rawValue) == [1])
    }

    @Test("outputs without media since the last seek do not influence the drained end")
    func draining() {
        for (end, landing, expected): (Duration?, Duration?, Duration) in [
            (.seconds(7), nil, .seconds(7)), (.seconds(7), .seconds(5), .seconds(7)),
            (.seconds(4), .seconds(5), .seconds(8)), (nil, nil, .seconds(8)),
        ] {
            var lane = Self.lane()
            lane.complete()
            lane.drain(presentedUpTo: end, since: landing, from: .zero)
            #expect(lane.drainedEnd == expected)
        }
    }
}
