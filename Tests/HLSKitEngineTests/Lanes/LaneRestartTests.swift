import HLSKitPlaylist
import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Restarting lanes")
struct LaneRestartTests {
    struct State: Sendable, Equatable {
        var segmentCount = 1
        var loadedEnd: Duration? = .seconds(20)
        var isComplete = true
        var drainedEnd: Duration? = .seconds(20)
        var isCutAtEnd = true
        var joint = MediaLane.LaneJoint.begins
        var audioEnd: Duration? = .seconds(19)
        var replacement: Int?

        init() {}
        init(_ change: (inout State) -> Void) { change(&self) }

        fileprivate init(_ lane: MediaLane) {
            segmentCount = lane.segments.count
            loadedEnd = lane.loadedEnd
            isComplete = lane.isComplete
            drainedEnd = lane.drainedEnd
            isCutAtEnd = lane.isCutAtEnd
            joint = lane.joint
            audioEnd = lane.audioEnd
            replacement = lane.replacement
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var restart: MediaLane.LaneRestart
        var expected: State
        var testDescription: String { "\(restart)" }

        init(_ restart: MediaLane.LaneRestart, _ change: (inout State) -> Void) {
            self.restart = restart
            expected = State(change)
        }
    }

    private static func jumped(_ state: inout State) {
        state.segmentCount = 0
        state.loadedEnd = .seconds(8)
        state.isComplete = false
        state.drainedEnd = nil
        state.isCutAtEnd = false
        state.audioEnd = nil
    }

    static let cases = [
        Case(.jump(loadedEnd: .seconds(8)), jumped), Case(.earlier(loadedEnd: .seconds(8)), jumped),
        Case(.elsewhere) { $0.joint = .repeats(role: nil) },
        Case(.again(SegmentID(lane: .main, rawValue: 3))) {
            $0.joint = .repeats(role: SegmentID(lane: .main, rawValue: 3))
        },
        Case(.cut(.seconds(12))) {
            $0.joint = .repeats(role: nil)
            $0.loadedEnd = .seconds(12)
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
        },
        Case(.cut(.seconds(30))) {
            $0.joint = .repeats(role: nil)
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
        },
        Case(.replacement(4)) {
            $0.segmentCount = 0
            $0.isComplete = false
            $0.drainedEnd = nil
            $0.isCutAtEnd = false
            $0.replacement = 4
        },
        Case(.late) {
            $0.segmentCount = 0
            $0.isComplete = false
            $0.drainedEnd = nil
        },
        Case(.gap) { _ in },
    ]

    /// Returns a lane that has loaded and presented everything. It has a segment in flight that follows its
    /// predecessor.
    private static func lane() -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        let timeline = TimelineKey(epoch: 0, discontinuity: 0, shift: 0)
        lane.begin(flight(), in: timeline, isCut: true)
        lane.move(to: .time(.seconds(20)))
        lane.extend(to: .seconds(20))
        lane.endAudio(at: .seconds(19))
        lane.complete()
        lane.drain(.seconds(20))
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

    @Test("each restart reason changes only its own state", arguments: cases)
    func change(_ test: Case) {
        for place in [LaneCursor.time(.seconds(8)), nil] {
            var lane = Self.lane()
            let reopens = lane.begin(test.restart, at: place)
            #expect(State(lane) == test.expected)
            #expect(lane.joint.startsNewSequence)
            #expect(lane.cursor == place ?? .time(.seconds(20)))
            #expect(reopens == !test.expected.isComplete)
            #expect(!lane.begin(test.restart, at: nil) || lane.isComplete)
        }
    }

    struct JointCase: Sendable, CustomTestStringConvertible {
        var restart: MediaLane.LaneRestart
        /// The joints after a restart if the joint before was `follows`, `begins` or `repeats`.
        var expected: [MediaLane.LaneJoint]
        var testDescription: String { "\(restart)" }
    }

    private static let role = SegmentID(lane: .main, rawValue: 9)
    private static let other = SegmentID(lane: .main, rawValue: 3)

    static let joints = [
        JointCase(restart: .jump(loadedEnd: .zero), expected: [.begins, .begins, .begins]),
        JointCase(restart: .earlier(loadedEnd: .zero), expected: [.begins, .begins, .begins]),
        JointCase(restart: .replacement(1), expected: [.begins, .begins, .begins]),
        JointCase(restart: .late, expected: [.begins, .begins, .begins]),
        JointCase(
            restart: .elsewhere, expected: [.repeats(role: nil), .repeats(role: nil), .repeats(role: role)]),
        JointCase(
            restart: .cut(.zero), expected: [.repeats(role: nil), .repeats(role: nil), .repeats(role: role)]),
        JointCase(
            restart: .again(other), expected: [.repeats(role: other), .repeats(role: other), .repeats(role: other)]),
        JointCase(restart: .gap, expected: [.begins, .begins, .repeats(role: role)]),
    ]

    @Test("the joint depends on the restart reason and the previous joint", arguments: joints)
    func joint(_ test: JointCase) {
        let before = [MediaLane.LaneJoint.follows, .begins, .repeats(role: Self.role)]
        #expect(before.map { test.restart.joint(after: $0) } == test.expected)
    }

    @Test("a lane moves without being reopened, and drains only when it is complete")
    func phases() {
        var lane = MediaLane(id: .main, playlistURL: "list")
        #expect(lane.phase == .unplaced)
        lane.drain(.seconds(1))
        lane.complete()
        #expect(lane.phase == .complete(next: nil, drainedEnd: nil))
        lane.reopen()
        #expect(lane.phase == .unplaced)
        lane.move(to: .time(.seconds(4)))
        #expect(lane.phase == .loading(.time(.seconds(4))))
        lane.complete()
        lane.drain(.seconds(4))
        lane.complete()
        lane.move(to: .time(.seconds(5)))
        #expect(lane.phase == .complete(next: .time(.seconds(5)), drainedEnd: .seconds(4)))
        lane.reopen()
        #expect(lane.phase == .loading(.time(.seconds(5))))
    }
}
