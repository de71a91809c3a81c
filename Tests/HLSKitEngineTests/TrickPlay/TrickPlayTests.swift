import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// There are ten frames, one every 2 s.
@Suite("Choice of I-frames and their durations")
struct TrickPlayTests {
    private static func list(gap: Int? = nil) throws -> PlaylistTracker {
        var text = PlaylistText.numbered(0, count: 10, targetDuration: 2, prefix: "i", isEnded: true)
        if let gap { text.segments[gap].tags.append("#EXT-X-GAP") }
        return PlaylistTracker(
            try text.parsed(), requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
    }

    private static func lane(gap: Int? = nil) throws -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        lane.playlist.attach(try list(gap: gap))
        lane.noteDemuxed()
        return lane
    }

    private static func trick(_ direction: TrickPlay.Direction, from time: Duration) throws -> TrickPlay {
        TrickPlay(direction, from: time, in: try list(), end: .seconds(20), bitRate: nil)
    }

    private static func frame(_ number: Int) -> SegmentID { SegmentID(lane: .main, rawValue: number) }

    private static func flight(_ number: Int) -> SegmentInFlight {
        let id = frame(number)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: 0), start: .seconds(2 * number), duration: .seconds(2), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "i", mediaSequence: number)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: number), job: job, playlistURL: "list")
    }

    struct Run: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var direction = TrickPlay.Direction.forward
        var from: Int
        var rate: Float
        /// The load time of each frame, in milliseconds.
        var loadTime = 0
        /// The loaded frames. `bounds` are the times up to which they are shown, in milliseconds.
        var frames: [Int]
        var bounds: [Int]
    }

    static let runs = [
        Run(
            testDescription: "all of them at 8", from: 3, rate: 8, frames: [1, 2, 3, 4, 5, 6, 7, 8, 9],
            bounds: [4000, 6000, 8000, 10_000, 12_000, 14_000, 16_000, 18_000, 20_000]),
        Run(
            testDescription: "no more in a second than can be told apart", from: 0, rate: 32,
            frames: [0, 2, 4, 6, 8], bounds: [4000, 8000, 12_000, 16_000, 20_000]),
        Run(
            testDescription: "as many as come in time", from: 0, rate: 8, loadTime: 400, frames: [0, 1, 3, 5, 7, 9],
            bounds: [2000, 6000, 10_000, 14_000, 18_000, 20_000]),
        Run(
            testDescription: "backwards to the first", direction: .reverse, from: 7, rate: -8,
            frames: [3, 2, 1, 0], bounds: [4000, 2000, 600, 0]),
        Run(
            testDescription: "backwards, the first of all in any case", direction: .reverse, from: 13, rate: -64,
            frames: [6, 2, 0], bounds: [4000, 600, 0]),
    ]

    @Test("frame spacing follows from the rate and the loading time", arguments: runs)
    func loads(_ test: Run) throws {
        let (lane, list) = (try Self.lane(), try Self.list())
        var trick = try Self.trick(test.direction, from: .seconds(test.from))
        let limit = test.direction == .forward ? Duration.seconds(20) : .zero
        // The playhead does not move, so it passes nothing.
        let facts = TrickPlay.Facts(rate: test.rate, playhead: .seconds(test.from), limit: limit)
        var frames: [Int] = []
        var bounds: [Duration] = []
        while case .load(let index) = trick.step(in: lane, limit: limit, isWanted: true), frames.count < 20 {
            trick.begin(Self.frame(frames.count), at: index, in: list, facts)
            let range = trick.end(Self.frame(frames.count), after: .milliseconds(test.loadTime))
            frames.append(index)
            let shown = test.direction == .forward ? range?.upperBound : range?.lowerBound
            bounds.append(shown ?? .zero)
        }
        #expect(frames == test.frames)
        #expect(bounds == test.bounds.map { .milliseconds($0) })
        #expect(trick.step(in: lane, limit: limit, isWanted: true) == .complete)
    }

    struct Step: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lane: @Sendable (inout MediaLane) -> Void = { _ in }
        var gap: Int?
        var limit = 20
        var from = 0
        var isWanted = true
        var expected: TrickPlay.Step
    }

    static let steps = [
        Step(testDescription: "the first", expected: .load(0)),
        Step(testDescription: "the one that is on", from: 5, expected: .load(2)),
        Step(testDescription: "a gap", gap: 0, expected: .gap(0)),
        Step(testDescription: "there are enough", isWanted: false, expected: .nothing),
        Step(
            testDescription: "nothing can be shown yet",
            lane: { lane in
                let list = lane.tracker
                lane = MediaLane(id: .main, playlistURL: "list")
                if let list { lane.playlist.attach(list) }
            }, isWanted: false, expected: .load(0)),
        Step(testDescription: "the end is reached", limit: 0, expected: .complete),
        Step(
            testDescription: "the end is reached, but not read",
            lane: { lane in
                lane.begin(flight(0), in: TimelineKey(epoch: 0, discontinuity: 0, shift: 0), isCut: false)
                lane.segments.load(frame(0), byteCount: 1)
            }, limit: 0, expected: .nothing),
        Step(
            testDescription: "one is on its way",
            lane: { $0.begin(flight(0), in: TimelineKey(epoch: 0, discontinuity: 0, shift: 0), isCut: false) },
            expected: .nothing),
        Step(testDescription: "the lane is complete", lane: { $0.complete() }, expected: .nothing),
        Step(testDescription: "without a list", lane: { $0.playlist.leave(for: "other") }, expected: .nothing),
    ]

    @Test("the step follows from the lane and the frames", arguments: steps)
    func step(_ test: Step) throws {
        var lane = try Self.lane(gap: test.gap)
        test.lane(&lane)
        let trick = try Self.trick(.forward, from: .seconds(test.from))
        #expect(trick.step(in: lane, limit: .seconds(test.limit), isWanted: test.isWanted) == test.expected)
    }

    @Test("after a move the frame at the position is loaded, and older requests are ignored")
    func moves() throws {
        let (lane, list) = (try Self.lane(), try Self.list())
        var trick = try Self.trick(.forward, from: .zero)
        trick.begin(Self.frame(0), at: 0, in: list, TrickPlay.Facts(rate: 8, limit: .seconds(20)))
        trick.move(to: .seconds(13))
        let range = trick.end(Self.frame(0), after: nil)
        #expect(range == nil)
        #expect(trick.step(in: lane, limit: .seconds(20), isWanted: true) == .load(6))
    }

    @Test("frames stop at the end and at the start, and time stays there")
    func boundaries() throws {
        let (forward, reverse) = (try Self.trick(.forward, from: .zero), try Self.trick(.reverse, from: .seconds(20)))
        let end = forward.limit(forwardEnd: .seconds(12), reverseEnd: .seconds(4))
        let start = reverse.limit(forwardEnd: .seconds(12), reverseEnd: .seconds(4))
        #expect((end, start) == (.seconds(12), .seconds(4)))
        #expect(forward.limit(forwardEnd: nil, reverseEnd: nil) == .seconds(20))
        #expect(reverse.limit(forwardEnd: nil, reverseEnd: nil) == .zero)
        func boundary(_ trick: TrickPlay, at seconds: Int) -> TrickPlay.Boundary? {
            trick.boundary(TrickPlay.Facts(playhead: .seconds(seconds), limit: trick.isReverse ? start : end))
        }
        #expect(boundary(forward, at: 11) == nil)
        #expect(boundary(forward, at: 12) == .end)
        #expect(boundary(reverse, at: 5) == nil)
        #expect(boundary(reverse, at: 4) == .start)
    }

    @Test("the next moment is the end, the end of loaded frames, or the next check")
    func moments() throws {
        let trick = try Self.trick(.forward, from: .zero)
        let timebase = TimebaseState(itemTime: .zero, hostTime: .seconds(10), rate: 4)
        let facts = TrickPlay.Facts(rate: 4, limit: .seconds(20))
        var verdict = ForwardBuffer.Verdict(
            forwardDuration: .seconds(8), isEmpty: false, isFull: false, holdsAllRemaining: true, tracksToLoad: [])
        func moment(isAtBoundary: Bool = false, mayWantMore: Bool = false) -> Duration? {
            trick.nextMoment(
                facts, verdict, timebase, isAtBoundary: isAtBoundary, stallEpsilon: .zero, mayWantMore: mayWantMore,
                at: .seconds(10))
        }
        #expect(moment() == .seconds(15))
        #expect(moment(isAtBoundary: true) == nil)
        #expect(moment(mayWantMore: true) == .milliseconds(10_100))
        verdict.holdsAllRemaining = false
        #expect(moment() == timebase.hostTime(reaching: .seconds(8) + .microseconds(1)))
        verdict.forwardDuration = .zero
        #expect(moment() == .milliseconds(10_001))
        verdict.isEmpty = true
        #expect(moment() == .seconds(15))
    }

    @Test("the best I-frames are chosen that load in time and do not exceed the variant's size")
    func variants() {
        func variant(_ bandwidth: Int, height: Int, codec: String = "avc1") -> VariantStream {
            VariantStream(
                uri: "\(bandwidth)", bandwidth: bandwidth, codecsText: codec,
                resolution: Resolution(width: height, height: height))
        }
        let all = [variant(400, height: 1080), variant(100, height: 360), variant(200, height: 720)]
        func best(at rate: Float, height: Int? = nil, bitsPerSecond: Double) -> String? {
            TrickPlay.IFrameVariants(all, canPlay: nil).best(at: rate, height: height, bitsPerSecond: bitsPerSecond)?
                .uri
        }
        #expect(best(at: 4, bitsPerSecond: 1600) == "400")
        #expect(best(at: -4, bitsPerSecond: 1599) == "200")
        #expect(best(at: 4, height: 400, bitsPerSecond: 1600) == "100")
        #expect(best(at: 4, height: 0, bitsPerSecond: 1600) == "400")
        #expect(best(at: 64, bitsPerSecond: 0) == "100")
        #expect(best(at: 4, height: 90, bitsPerSecond: 1600) == "100")
        func isPlayable(_ variants: TrickPlay.IFrameVariants, isPaced: Bool = true) -> Bool {
            variants.capabilities(isPaced: isPaced).canPlayFastForward
        }
        #expect(isPlayable(TrickPlay.IFrameVariants(all, canPlay: nil)))
        #expect(!isPlayable(TrickPlay.IFrameVariants(all, canPlay: { _ in false })))
        #expect(!isPlayable(TrickPlay.IFrameVariants(all, canPlay: nil), isPaced: false))
    }
}
