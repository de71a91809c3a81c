import HLSPlaylist
import Testing

@testable import HLSKitCore

/// What becomes of a lane that goes on elsewhere, by the reason.
@Suite("Lanes that begin again")
struct LaneRestartTests {
    /// What a decision looks at.
    struct State: Sendable, Equatable {
        var segmentCount = 1
        var loadedEnd: Duration? = .seconds(20)
        var isComplete = true
        var drainedEnd: Duration? = .seconds(20)
        var isCutAtEnd = true
        var dropsOverlap = false
        var role: SegmentID? = SegmentID(lane: .main, rawValue: 7)
        var soundEnd: Duration? = .seconds(19)
        var replacement: Int?

        init() {}
        init(_ change: (inout State) -> Void) { change(&self) }

        fileprivate init(_ lane: MediaLane) {
            segmentCount = lane.segments.count
            loadedEnd = lane.loadedEnd
            isComplete = lane.isComplete
            drainedEnd = lane.drainedEnd
            isCutAtEnd = lane.isCutAtEnd
            dropsOverlap = lane.dropsOverlap
            role = lane.inheritedRole
            soundEnd = lane.soundEnd
            replacement = lane.replacement
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var restart: LaneRestart
        var expected: State
        var testDescription: String { "\(restart)" }

        init(_ restart: LaneRestart, _ change: (inout State) -> Void) {
            self.restart = restart
            expected = State(change)
        }
    }

    static let cases = [
        Case(.jump(loadedEnd: .seconds(8))) {
            $0.segmentCount = 0
            $0.loadedEnd = .seconds(8)
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
            $0.role = nil
            $0.soundEnd = nil
        },
        Case(.elsewhere) { $0.dropsOverlap = true },
        Case(.again(SegmentID(lane: .main, rawValue: 3))) {
            $0.dropsOverlap = true
            $0.role = SegmentID(lane: .main, rawValue: 3)
        },
        Case(.cut(.seconds(12))) {
            $0.dropsOverlap = true
            $0.loadedEnd = .seconds(12)
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
        },
        Case(.cut(.seconds(30))) {
            $0.dropsOverlap = true
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
        },
        Case(.replacement(4)) {
            $0.segmentCount = 0
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
            $0.role = nil
            $0.replacement = 4
        },
        Case(.late) {
            $0.segmentCount = 0
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.role = nil
        },
        Case(.hole) { _ in },
    ]

    private static func lane() -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        let state = State()
        lane.cursor = .time(.seconds(20))
        lane.startsNewSequence = false
        lane.segments = [flight()]
        lane.loadedEnd = state.loadedEnd
        lane.isComplete = state.isComplete
        lane.drainedEnd = state.drainedEnd
        lane.isCutAtEnd = state.isCutAtEnd
        lane.inheritedRole = state.role
        lane.soundEnd = state.soundEnd
        return lane
    }

    private static func flight() -> SegmentInFlight {
        let id = SegmentID(lane: .main, rawValue: 7)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: 1), start: .seconds(16), duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: 4)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: 4), job: job, playlistURL: "list")
    }

    @Test("each reason changes what it must and nothing else", arguments: cases)
    func change(_ test: Case) {
        for place in [LaneCursor.time(.seconds(8)), nil] {
            var lane = Self.lane()
            let reopens = lane.begin(test.restart, at: place)
            #expect(State(lane) == test.expected)
            #expect(lane.startsNewSequence)
            #expect(lane.cursor == place ?? .time(.seconds(20)))
            #expect(reopens == !test.expected.isComplete)
            // What is not complete is not reopened.
            #expect(!lane.begin(test.restart, at: nil) || lane.isComplete)
        }
    }

    @Test("what repeated media is no longer asked about after a jump, a change of rendition and a late output")
    func overlap() {
        for restart in [LaneRestart.jump(loadedEnd: .zero), .replacement(1), .late] {
            var lane = Self.lane()
            lane.begin(.elsewhere, at: nil)
            lane.begin(restart, at: nil)
            #expect(!lane.dropsOverlap)
        }
        var lane = Self.lane()
        lane.begin(.elsewhere, at: nil)
        lane.begin(.hole, at: nil)
        #expect(lane.dropsOverlap)
    }
}
