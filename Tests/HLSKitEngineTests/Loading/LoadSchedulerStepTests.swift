import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// There are three segments of 4 s each. One is loaded unless a case says otherwise.
@Suite("Next step of a lane")
struct LoadSchedulerStepTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var lane: @Sendable (inout MediaLane) -> Void = { _ in }
        var facts: @Sendable (inout LoadScheduler.Facts) -> Void = { _ in }
        var id = LaneID.main
        var isLive = false
        var gap: Int?
        var expected: LoadScheduler.Step
        var endsLate = false
        var testDescription: String { name }
    }

    private static func flight(_ number: Int) -> SegmentInFlight {
        let id = SegmentID(lane: .main, rawValue: number)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: 0), start: .seconds(4 * number), duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: number)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: number), job: job, playlistURL: "list")
    }

    private static func add(_ number: Int, to lane: inout MediaLane, isLoaded: Bool) {
        lane.begin(flight(number), in: TimelineKey(epoch: 0, discontinuity: 0, shift: 0), isCut: false)
        if isLoaded { lane.segments.load(SegmentID(lane: .main, rawValue: number), byteCount: 1) }
    }

    private static func add(_ count: Int, to lane: inout MediaLane) {
        for number in 1...count { add(number, to: &lane, isLoaded: true) }
    }

    static let cases = [
        Case(name: "the next segment", expected: .load(1, isChosen: true)),
        Case(name: "of a rendition", id: .audio, expected: .load(1, isChosen: false)),
        Case(name: "nothing more is wanted", facts: { $0.isWanted = false }, expected: .nothing),
        Case(
            name: "nothing more is wanted, but the lane is waited for",
            facts: {
                $0.isWanted = false
                $0.isOwed = true
            }, expected: .load(1, isChosen: true)),
        Case(
            name: "nothing more is wanted, but another rendition is",
            lane: { $0.begin(.replacement(1), at: nil) }, facts: { $0.isWanted = false },
            expected: .load(1, isChosen: true)),
        Case(name: "one is on its way", lane: { add(1, to: &$0, isLoaded: false) }, expected: .nothing),
        Case(
            name: "one is on its way, beside it", lane: { add(1, to: &$0, isLoaded: false) },
            facts: { $0.isConcurrent = true }, expected: .load(1, isChosen: true)),
        Case(
            name: "two wait to be read", lane: { add(2, to: &$0) },
            expected: .load(1, isChosen: true)),
        Case(
            name: "three wait to be read", lane: { add(3, to: &$0) },
            expected: .nothing),
        Case(name: "after a rest", lane: { $0.playlist.awaitReload() }, expected: .nothing),
        Case(name: "without a list", lane: { $0.playlist.leave(for: "other") }, expected: .nothing),
        Case(name: "it is complete", lane: { $0.complete() }, expected: .nothing),
        Case(name: "the list is over", lane: { $0.move(to: .time(.seconds(12))) }, expected: .complete),
        Case(
            name: "the list is over, but not read",
            lane: {
                add(2, to: &$0, isLoaded: true)
                $0.move(to: .time(.seconds(12)))
            }, expected: .nothing),
        Case(
            name: "more will be listed", lane: { $0.move(to: .time(.seconds(12))) }, facts: { $0.isLive = true },
            isLive: true, expected: .nothing),
        Case(
            name: "nothing more will be listed", lane: { $0.move(to: .time(.seconds(12))) },
            facts: {
                $0.isLive = true
                $0.isClosed = true
            }, isLive: true, expected: .complete),
        Case(
            name: "a live rendition of a variant that is over",
            lane: {
                $0.move(to: .time(.seconds(12)))
                $0.extend(to: .seconds(12))
            }, facts: { $0.effectiveEnd = .milliseconds(12_100) }, id: .audio, isLive: true, expected: .complete),
        Case(name: "a gap", gap: 1, expected: .gap(1)),
        Case(name: "the end time is reached", facts: { $0.end(at: .seconds(4)) }, expected: .complete),
        Case(
            name: "the next segment begins a little before the end time, which media has reached",
            lane: { $0.setLoadedEnd(.milliseconds(4_010)) },
            facts: {
                $0.end(at: .milliseconds(4_005))
                $0.isWanted = false
            }, expected: .complete),
        Case(
            name: "the next segment begins a little before the end time, which media has not reached",
            lane: { $0.setLoadedEnd(.seconds(4)) }, facts: { $0.end(at: .milliseconds(4_005)) },
            expected: .load(1, isChosen: true)),
        Case(
            name: "sound before the end time is missing", lane: { $0.endAudio(at: .milliseconds(3_900)) },
            facts: { $0.end(at: .seconds(4)) }, expected: .load(1, isChosen: false)),
        Case(
            name: "media ended well before the end time", lane: { $0.setLoadedEnd(.milliseconds(3_500)) },
            facts: { $0.end(at: .seconds(4)) }, expected: .load(1, isChosen: false)),
        Case(
            name: "the end time of a live stream is another matter than its end",
            facts: {
                $0.isLive = true
                $0.effectiveEnd = .seconds(4)
            }, isLive: true, expected: .load(1, isChosen: true)),
        Case(
            name: "what is under way is read before the lane goes back",
            lane: { $0.takeLate([.audio], keepsOthers: true) }, expected: .nothing),
        Case(
            name: "for late outputs, whatever is wanted",
            lane: { $0.loadAudioAgain(until: .seconds(8)) },
            facts: { $0.isWanted = false }, expected: .load(1, isChosen: false)),
        Case(
            name: "late outputs have everything",
            lane: { $0.loadAudioAgain(until: .seconds(4)) },
            expected: .load(1, isChosen: true), endsLate: true),
    ]

    @Test("the step follows from the lane and a few facts", arguments: cases)
    func step(_ test: Case) throws {
        var text = PlaylistText.numbered(0, count: 3, isEnded: !test.isLive)
        if let gap = test.gap { text.segments[gap].tags.append("#EXT-X-GAP") }
        var lane = MediaLane(id: test.id, playlistURL: "list")
        lane.playlist.attach(
            PlaylistTracker(
                try text.parsed(), requestURL: "list", url: "https://host/list", start: .zero, loadBegan: .zero,
                now: .zero))
        lane.move(to: .time(.seconds(4)))
        lane.extend(to: .seconds(4))
        lane.noteDemuxed()
        test.lane(&lane)
        var facts = LoadScheduler.Facts(isWanted: true, effectiveEnd: test.isLive ? nil : .seconds(12))
        test.facts(&facts)
        let answer = LoadScheduler(maxGapJump: .milliseconds(200)).next(of: lane, facts)
        #expect(answer.step == test.expected)
        #expect(answer.endsLate == test.endsLate)
    }

    @Test("a lane without a position, and a lane that never delivered media, start correctly")
    func beginnings() throws {
        var lane = MediaLane(id: .main, playlistURL: "list")
        lane.playlist.attach(
            PlaylistTracker(
                try PlaylistText.numbered(0, count: 3, isEnded: true).parsed(), requestURL: "list", url: "list",
                start: .zero, loadBegan: .zero, now: .zero))
        let scheduler = LoadScheduler()
        #expect(scheduler.next(of: lane, LoadScheduler.Facts(isWanted: true)).step == .nothing)
        lane.move(to: .time(.zero))
        #expect(scheduler.next(of: lane, LoadScheduler.Facts()).step == .load(0, isChosen: true))
        lane.noteDemuxed()
        #expect(scheduler.next(of: lane, LoadScheduler.Facts()).step == .nothing)
    }
}

extension LoadScheduler.Facts {
    fileprivate mutating func end(at time: Duration) {
        forwardEnd = time
        effectiveEnd = time
    }
}

extension MediaLane {
    /// Makes the lane go back for audio outputs that were added late.
    fileprivate mutating func loadAudioAgain(until time: Duration) {
        takeLate([.audio], keepsOthers: true)
        _ = goBackForLate(LateOutputs.Facts(resume: time))
    }
}
