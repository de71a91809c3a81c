import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Live stream")
struct LiveStreamTests {
    private static let window = LiveWindow(
        start: .seconds(100), end: .seconds(124), offset: .seconds(12), target: .seconds(4),
        lastSegmentDuration: .seconds(4))

    private static func skipped(_ range: ClosedRange<Int>) -> SkippedSegments {
        SkippedSegments(
            first: range.lowerBound, last: range.upperBound, mediaDuration: .seconds(4 * range.count), url: "list",
            cause: "the live window moved on")
    }

    // MARK: Distance

    @Test("positions in the window")
    func places() {
        var window = Self.window
        #expect((window.landing, window.edge) == (.seconds(112), .seconds(112)))
        window.offset = .seconds(2)
        #expect((window.landing, window.edge) == (.seconds(122), .seconds(120)))
        window.offset = .seconds(60)
        #expect((window.landing, window.edge) == (.seconds(100), .seconds(64)))
        window.lastSegmentDuration = nil
        #expect(window.edge == nil)
    }

    @Test("a recommendation is reported once")
    func recommends() {
        var live = LiveStream()
        let first = live.news(Self.window, at: .zero)
        #expect(first == .seconds(12))
        let isReported = live.recommend(.seconds(12))
        #expect(!isReported)
        #expect(live.news(Self.window, at: .zero) == nil)
        live.stall(at: .seconds(1))
        #expect(live.news(Self.window, at: .seconds(1)) == .seconds(16))
        #expect(live.news(Self.window, at: .seconds(400)) == nil)
    }

    @Test(
        "the delay of a wait is skipped if it is worth a jump",
        arguments: [
            // The distance before the wait, the playhead, and the time at which playback resumes.
            (12, 110, 112), (12, 112, nil), (60, 90, 100), (nil, 100, nil),
        ] as [(Int?, Int, Int?)])
    func catchesUp(distance: Int?, playhead: Int, target: Int?) {
        var live = LiveStream()
        live.note(.playing, .waitingToPlayAtSpecifiedRate, distance: distance.map { .seconds($0) })
        #expect(!live.hasWaited)
        live.note(.waitingToPlayAtSpecifiedRate, .playing, distance: .zero)
        #expect(live.hasWaited == (distance != nil))
        let place = live.endWait(
            in: Self.window, edge: nil, isPlaying: true, playhead: .seconds(playhead), maxGapJump: .milliseconds(500))
        #expect(place == target.map { .seconds($0) })
        #expect(!live.hasWaited && !live.isDistanceHeld)
    }

    @Test("a wait that ends during a seek causes no jump")
    func seeksMeanwhile() {
        var live = LiveStream()
        live.note(.playing, .waitingToPlayAtSpecifiedRate, distance: .seconds(12))
        live.note(.waitingToPlayAtSpecifiedRate, .playing, distance: nil)
        let place = live.endWait(in: Self.window, edge: nil, isPlaying: false, playhead: .zero, maxGapJump: .zero)
        #expect(place == nil)
    }

    // MARK: Idle players

    @Test("a paused live player idles unless it has work to do")
    func rests() {
        var live = LiveStream()
        var facts = LiveStream.IdleFacts(isPaused: true, isReady: true, isLive: true)
        #expect(live.idleChange(facts) == true)
        for path in [\LiveStream.IdleFacts.isPaced, \.isPaused, \.isReady, \.isLive] {
            facts[keyPath: path] = false
            #expect(live.idleChange(facts) == nil)
            facts[keyPath: path] = true
        }
        for path in [\LiveStream.IdleFacts.loadsWhilePaused, \.isBusy] {
            facts[keyPath: path] = true
            #expect(live.idleChange(facts) == nil)
            facts[keyPath: path] = false
        }
        live.becomeIdle()
        #expect(live.idleChange(facts) == nil)
        facts.isPaused = false
        #expect(live.idleChange(facts) == false)
        live.endIdle()
        #expect(!live.isIdle)
    }

    // MARK: Outside the window

    /// Returns the actions if segments 3 and 4 have left the playlist and the policy skips 5 to 7.
    private static func after(
        _ live: inout LiveStream, isPaused: Bool, policy: FellBehindPolicy = .jumpToEdge
    ) throws -> [LiveStream.Action] {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(5, count: 6).parsed(), requestURL: "list", url: "list", start: .seconds(8),
            loadBegan: .zero, now: .zero)
        var lane = MediaLane(id: .main, playlistURL: "list")
        lane.playlist.attach(tracker)
        lane.move(to: .position(SegmentPosition(epoch: tracker.epoch, sequence: 3)))
        let facts = LiveStream.Facts(policy: policy, isEmpty: true, hasPlayed: true)
        let missed = live.missed(by: lane, in: tracker, offset: .seconds(12), facts)
        let known = try #require(missed)
        return live.leaveBehind(known, in: .main, known.skipped(in: tracker, url: "list"), isPaused: isPaused)
    }

    @Test("segments that left the window are counted and reported, including those up to the edge")
    func missed() throws {
        var live = LiveStream()
        let edge = try Self.after(&live, isPaused: false)
        #expect(edge == [.count(Self.skipped(3...7)), .report(Self.skipped(3...7))])
        var other = LiveStream()
        let oldest = try Self.after(&other, isPaused: false, policy: .jumpToOldest)
        #expect(oldest == [.count(Self.skipped(3...4)), .report(Self.skipped(3...4))])
    }

    @Test("a player paused during a loss reports it when it plays, and jumps if the policy says so")
    func leftBehind() throws {
        var live = LiveStream()
        let paused = try Self.after(&live, isPaused: true)
        #expect(paused == [.count(Self.skipped(3...7))])
        #expect(live.isLeftBehind)
        let jump = LiveStream.EdgeJump(skipped: Self.skipped(8...9))
        let played = live.resume(jump, isPaused: true)
        #expect(played == [.count(Self.skipped(8...9)), .report(Self.skipped(3...9)), .seekToEdge])
        #expect(!live.isLeftBehind)
        let later = live.resume(jump, isPaused: false)
        #expect(later.isEmpty)
    }

    @Test("a seek removes the pending jump, but the loss is still reported")
    func moved() throws {
        var live = LiveStream()
        _ = try Self.after(&live, isPaused: true)
        live.moveOn()
        let played = live.resume(LiveStream.EdgeJump(), isPaused: true)
        #expect(played == [.report(Self.skipped(3...7))])
    }

    @Test("a player paused while the window moved is behind until its playlist changes during playback")
    func pauses() throws {
        var live = LiveStream()
        live.pause()
        _ = try Self.after(&live, isPaused: false)
        #expect(live.isLeftBehind)
        live.moveOn()
        live.catchUp()
        _ = try Self.after(&live, isPaused: false)
        #expect(!live.isLeftBehind)
    }

    // MARK: Missed segments

    @Test(
        "a lane's lost segments follow from its position",
        arguments: [
            // The playlist contains segments 5 to 10, from 8 s on.
            (.position(.init(epoch: 0, sequence: 3)), 0, false, [2, 0, 0]),
            (.position(.init(epoch: 0, sequence: 3)), 2, false, [2, 0, 2]),
            (.position(.init(epoch: 0, sequence: 6)), 3, true, [0, 1, 3]),
            (.position(.init(epoch: 0, sequence: 6)), 3, false, nil),
            (.position(.init(epoch: 0, sequence: 5)), 0, false, nil),
            (.position(.init(epoch: 1, sequence: 3)), 0, false, nil),
            (.time(.seconds(0)), 0, false, [2, 0, 0]), (.time(.milliseconds(7_900)), 0, false, nil),
            (.time(.seconds(13)), 3, true, [0, 1, 3]), (nil, 3, true, nil),
        ] as [(LaneCursor?, Int, Bool, [Int]?)])
    func counts(cursor: LaneCursor?, index: Int, isLate: Bool, expected: [Int]?) throws {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(5, count: 6).parsed(), requestURL: "list", url: "list", start: .seconds(8),
            loadBegan: .zero, now: .zero)
        let missed = LiveStream.MissedSegments(
            of: cursor, in: tracker, continuingAt: index, isLate: isLate, maxGapJump: .milliseconds(500))
        #expect(missed.map { [$0.gone, $0.next, $0.index] } == expected)
    }

    @Test("segments before item time 0 are not seekable", arguments: [(8, 8), (0, 0), (-8, 0), (-40, -16)])
    func seekable(start: Int, expected: Int) throws {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(5, count: 6).parsed(), requestURL: "list", url: "list", start: .seconds(start),
            loadBegan: .zero, now: .zero)
        #expect(tracker.seekableStart == .seconds(expected))
    }
}

@Suite("Distance from the live edge")
struct LiveOffsetTests {
    private static func recommendation(
        _ offset: LiveStream.LiveOffset, configured: Int = 12, window: Int = 60, at now: Int
    ) -> Duration {
        offset.recommendation(
            configured: .seconds(configured), target: .seconds(4), window: .seconds(window), at: .seconds(now))
    }

    @Test(
        "each recent stall moves the recommendation back by a target duration, within the window",
        arguments: [
            ([], 10, 60, 12), ([0], 10, 60, 16), ([0, 5], 10, 60, 20), ([0, 5, 9], 10, 21, 21),
            ([0, 5], 10, 8, 12),
            // The first stall is five minutes old.
            ([0, 5], 300, 60, 16), ([0, 5], 305, 60, 12),
        ] as [([Int], Int, Int, Int)])
    func recommends(stalls: [Int], now: Int, window: Int, expected: Int) {
        var offset = LiveStream.LiveOffset()
        for stall in stalls { offset.stall(at: .seconds(stall)) }
        #expect(Self.recommendation(offset, window: window, at: now) == .seconds(expected))
    }

    @Test("a changed recommendation is reported to the app, but not the first one")
    func reports() {
        var offset = LiveStream.LiveOffset()
        #expect(offset.isNews(.seconds(12)))
        #expect(offset.recommend(.seconds(12)) == false)
        #expect(!offset.isNews(.seconds(12)))
        #expect(offset.isNews(.seconds(16)))
        #expect(offset.recommend(.seconds(16)) == true)
    }

    @Test("the distance before a wait is restored once, if there was one")
    func keeps() {
        var offset = LiveStream.LiveOffset()
        #expect(!offset.isHeld && !offset.hasWaited)
        offset.hold(.seconds(12))
        offset.hold(.seconds(20))
        #expect(offset.isHeld && !offset.hasWaited)
        offset.resume()
        #expect(offset.hasWaited)
        #expect(offset.take() == .seconds(20))
        #expect(!offset.isHeld && !offset.hasWaited)
        #expect(offset.take() == nil)
    }
}

@Suite("Losses of the live window")
struct WindowLossTests {
    private static func missed(_ range: ClosedRange<Int>, url: String = "a") -> SkippedSegments {
        SkippedSegments(
            first: range.lowerBound, last: range.upperBound, mediaDuration: .seconds(4 * range.count), url: url,
            cause: "the live window moved on")
    }

    @Test("adjacent losses are merged into one report; a gap or another URL starts a new one")
    func holding() {
        var loss = LiveStream.WindowLoss()
        #expect(loss.hold(Self.missed(1...2)) == nil)
        #expect(loss.hold(Self.missed(3...3)) == nil)
        #expect(loss.hold(Self.missed(5...5)) == Self.missed(1...3))
        #expect(loss.hold(Self.missed(6...6, url: "b")) == Self.missed(5...5))
        #expect(loss.take() == Self.missed(6...6, url: "b"))
        #expect(loss.take() == nil)
    }

    @Test("only a paused player is left behind, until it plays or is moved")
    func leftBehind() {
        var loss = LiveStream.WindowLoss()
        loss.leaveBehind(isPaused: false)
        #expect(!loss.isLeftBehind)
        loss.rest()
        loss.leaveBehind(isPaused: false)
        #expect(loss.isLeftBehind)
        loss.moveOn()
        loss.endIdle()
        loss.leaveBehind(isPaused: false)
        #expect(!loss.isLeftBehind)
        loss.leaveBehind(isPaused: true)
        #expect(loss.isLeftBehind)
    }

    @Test("after a jump to the edge, a lane is late until it has media")
    func late() {
        var loss = LiveStream.WindowLoss()
        loss.jumpToEdge()
        #expect(loss.isLate)
        loss.noteMedia()
        #expect(!loss.isLate)
    }
}
