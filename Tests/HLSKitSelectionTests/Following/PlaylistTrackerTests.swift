import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("Playlist tracker")
struct PlaylistTrackerTests {
    private static func tracker(_ first: PlaylistText, start: Duration = .zero) throws -> PlaylistTracker {
        PlaylistTracker(
            try first.parsed(), requestURL: "https://host/live.m3u8", url: "https://host/live.m3u8", start: start,
            loadBegan: .zero, now: .zero)
    }

    private static func update(
        _ tracker: inout PlaylistTracker, _ text: PlaylistText, began: Duration = .seconds(4)
    ) throws -> PlaylistTracker.Update {
        tracker.update(
            with: try text.parsed(), url: "https://host/live.m3u8", loadBegan: began,
            now: began + .milliseconds(200))
    }

    @Test("R46: the last three segments are at the live edge, also when the stream has just ended")
    func edge() throws {
        var tracker = try Self.tracker(.numbered(0, count: 5))
        #expect((0..<5).filter { tracker.isAtEdge($0) } == [2, 3, 4])
        _ = try Self.update(&tracker, .numbered(0, count: 6, isEnded: true))
        #expect((0..<6).filter { tracker.isAtEdge($0) } == [3, 4, 5])
        let film = try Self.tracker(.numbered(0, count: 5, isEnded: true))
        #expect(!(0..<5).contains { film.isAtEdge($0) })
    }

    // MARK: Cadence

    struct Cadence: CustomTestStringConvertible {
        var name: String
        var first: PlaylistText
        var second: PlaylistText?
        /// The interval from the start of the last load, or `nil` for no reload.
        var interval: Duration?
        var testDescription: String { name }
    }

    static let cadences: [Cadence] = [
        Cadence(name: "first load", first: .numbered(0, count: 4), interval: .seconds(4)),
        Cadence(
            name: "changed", first: .numbered(0, count: 4), second: .numbered(1, count: 4), interval: .seconds(4)),
        Cadence(
            name: "unchanged", first: .numbered(0, count: 4), second: .numbered(0, count: 4), interval: .seconds(2)),
        Cadence(
            name: "older", first: .numbered(1, count: 4), second: .numbered(0, count: 4), interval: .seconds(2)),
        Cadence(name: "ended", first: .numbered(0, count: 4, isEnded: true), interval: nil),
        Cadence(
            name: "ended later", first: .numbered(0, count: 4), second: .numbered(0, count: 4, isEnded: true),
            interval: nil),
        Cadence(
            name: "target 0 of short segments",
            first: PlaylistText(targetDuration: 0, segments: [.init("a", duration: "0.2")]),
            interval: .milliseconds(500)),
        Cadence(
            name: "never more than two in a second",
            first: PlaylistText(targetDuration: 0, segments: [.init("a", duration: "0.2")]),
            second: PlaylistText(targetDuration: 0, segments: [.init("a", duration: "0.2")]),
            interval: .milliseconds(500)),
        Cadence(
            name: "a window of short segments turns over before the target duration",
            first: PlaylistText(
                targetDuration: 10, mediaSequence: 7, segments: (7..<10).map { .init("\($0)", duration: "1") }),
            interval: .milliseconds(1500)),
        Cadence(
            name: "such a window that has not changed",
            first: PlaylistText(
                targetDuration: 10, mediaSequence: 7, segments: (7..<10).map { .init("\($0)", duration: "1") }),
            second: PlaylistText(
                targetDuration: 10, mediaSequence: 7, segments: (7..<10).map { .init("\($0)", duration: "1") }),
            interval: .milliseconds(750)),
        Cadence(
            name: "it slides from the second list on",
            first: PlaylistText(targetDuration: 10, segments: (0..<5).map { .init("\($0)", duration: "1") }),
            second: PlaylistText(
                targetDuration: 10, mediaSequence: 9, segments: (9..<14).map { .init("\($0)", duration: "1") }),
            interval: .milliseconds(2500)),
        Cadence(
            name: "target far beyond the segments",
            first: PlaylistText(targetDuration: 3_600, segments: ["a", .init("b", duration: "5")]),
            interval: .seconds(10)),
        Cadence(
            name: "target far beyond short segments",
            first: PlaylistText(targetDuration: 3_600, segments: [.init("a", duration: "1")]),
            interval: .seconds(6)),
        Cadence(
            name: "no segment yet", first: PlaylistText(targetDuration: 4), second: PlaylistText(targetDuration: 4),
            interval: .seconds(2)),
        Cadence(
            name: "first segments after none", first: PlaylistText(targetDuration: 4), second: .numbered(0, count: 2),
            interval: .seconds(4)),
    ]

    @Test("C06: reloads are paced from the start of the last load", arguments: cadences)
    func reloadCadence(_ example: Cadence) throws {
        var tracker = try Self.tracker(example.first)
        var began = Duration.zero
        if let second = example.second {
            began = .seconds(9)
            _ = try Self.update(&tracker, second, began: began)
        }
        #expect(tracker.nextReload == example.interval.map { began + $0 })
    }

    // MARK: Updates

    struct Step: CustomTestStringConvertible {
        var name: String
        var first: PlaylistText
        var second: PlaylistText
        var update: PlaylistTracker.Update
        var starts: [Int]
        var epoch = 0
        var testDescription: String { name }
    }

    static let steps: [Step] = [
        Step(
            name: "a sliding window keeps item times", first: .numbered(10, count: 3), second: .numbered(11, count: 3),
            update: .changed, starts: [4, 8, 12, 16]),
        Step(
            name: "a window that moved by its whole length", first: .numbered(10, count: 3),
            second: .numbered(13, count: 3), update: .changed, starts: [12, 16, 20, 24]),
        Step(
            name: "missed segments take no time", first: .numbered(10, count: 3), second: .numbered(20, count: 2),
            update: .changed, starts: [12, 16, 20]),
        Step(
            name: "an older edge is ignored", first: .numbered(10, count: 3), second: .numbered(8, count: 3),
            update: .older, starts: [0, 4, 8, 12]),
        Step(
            name: "an older edge with a longer list is ignored", first: .numbered(10, count: 3),
            second: .numbered(6, count: 6), update: .older, starts: [0, 4, 8, 12]),
        Step(
            name: "nothing new", first: .numbered(10, count: 3), second: .numbered(10, count: 3), update: .unchanged,
            starts: [0, 4, 8, 12]),
        Step(
            name: "the oldest segment goes and none comes", first: .numbered(10, count: 3),
            second: .numbered(11, count: 2), update: .unchanged, starts: [0, 4, 8, 12]),
        Step(
            name: "a list that shrinks at its end", first: .numbered(10, count: 3), second: .numbered(10, count: 2),
            update: .older, starts: [0, 4, 8, 12]),
        Step(
            name: "a list that empties", first: .numbered(10, count: 3), second: .numbered(10, count: 0),
            update: .older, starts: [0, 4, 8, 12]),
        Step(
            name: "the first segments", first: .numbered(0, count: 0), second: .numbered(0, count: 2),
            update: .changed, starts: [0, 4, 8]),
        Step(
            name: "the end and nothing else", first: .numbered(10, count: 3),
            second: .numbered(10, count: 3, isEnded: true), update: .changed, starts: [0, 4, 8, 12]),
        Step(
            name: "the end of a list that shrank", first: .numbered(10, count: 3),
            second: .numbered(12, count: 1, isEnded: true), update: .changed, starts: [0, 4, 8, 12]),
        Step(
            name: "the end of a list that lost its last", first: .numbered(10, count: 3),
            second: .numbered(10, count: 2, isEnded: true), update: .changed, starts: [0, 4, 8, 12]),
        Step(
            name: "the end of a list that emptied", first: .numbered(10, count: 3),
            second: .numbered(10, count: 0, isEnded: true), update: .changed, starts: [0, 4, 8, 12]),
        Step(
            name: "the end with a last segment", first: .numbered(10, count: 3),
            second: .numbered(11, count: 3, isEnded: true), update: .changed, starts: [4, 8, 12, 16]),
        Step(
            name: "numbers that start anew", first: .numbered(10, count: 3),
            second: .numbered(0, count: 3, prefix: "again"), update: .restarted, starts: [12, 16, 20, 24], epoch: 1),
        Step(
            name: "a list that grows backwards", first: .numbered(10, count: 3), second: .numbered(9, count: 5),
            update: .changed, starts: [-4, 0, 4, 8, 12, 16]),
    ]

    @Test("a reload makes the expected changes", arguments: steps)
    func reload(_ step: Step) throws {
        var tracker = try Self.tracker(step.first)
        #expect(try Self.update(&tracker, step.second) == step.update)
        #expect(tracker.starts == step.starts.map { .seconds($0) })
        #expect(tracker.epoch == step.epoch)
        #expect(tracker.starts.count == tracker.segmentCount + 1)
    }

    struct Stream: CustomTestStringConvertible {
        var name: String
        var lists: [PlaylistText]
        var testDescription: String { name }
    }

    private static func numbered(
        _ sequence: Int, _ names: [String], discontinuity: Int? = nil, date: String? = nil, targetDuration: Int = 4
    ) -> PlaylistText {
        var text = PlaylistText(
            targetDuration: targetDuration, mediaSequence: sequence, discontinuitySequence: discontinuity)
        text.segments = names.map { PlaylistText.Segment($0) }
        if let date { text.segments[0].tags = ["#EXT-X-PROGRAM-DATE-TIME:\(date)"] }
        return text
    }

    static let farNumbers: [Stream] = [
        Stream(
            name: "discontinuities",
            lists: [
                numbered(100, ["a", "b", "c"], discontinuity: .max - 8),
                numbered(0, ["d", "e", "f"], discontinuity: 0),
                numbered(50, ["g", "h", "i"], discontinuity: .max - 8),
                numbered(51, ["h", "i", "j"], discontinuity: 0),
            ]),
        Stream(
            name: "the last segment at the front of a longer list",
            lists: [
                numbered(.max - 8, ["a", "b", "c"]),
                numbered(0, ["c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]),
                numbered(3, ["f", "g", "h", "i", "j", "k", "l", "m", "n"]),
            ]),
        Stream(
            name: "numbers that become the lowest, and then go on",
            lists: [
                numbered(.max - 8, ["a", "b", "c"]), numbered(0, ["a", "b", "c"]), numbered(7, ["x", "y", "z"]),
                numbered(8, ["y", "z", "u"]),
            ]),
        Stream(
            name: "earlier dates under the lowest numbers",
            lists: [
                numbered(.max - 8, ["a", "b", "c"], date: "2024-01-02T00:00:00Z", targetDuration: 1_000_000),
                numbered(1, ["x", "y", "z"], date: "2023-01-01T00:00:00Z", targetDuration: 1_000_000),
            ]),
    ]

    @Test("no number traps, whatever came before it", arguments: farNumbers)
    func extremes(_ stream: Stream) throws {
        var tracker = try Self.tracker(stream.lists[0])
        for list in stream.lists.dropFirst() {
            _ = tracker.start(ofNeighbor: try list.parsed(), at: .zero)
            _ = try Self.update(&tracker, list)
            #expect(tracker.starts.count == tracker.segmentCount + 1)
            for index in 0..<tracker.segmentCount {
                #expect(tracker.index(of: tracker.position(at: index)) == index)
                #expect(tracker.discontinuity(at: index) == tracker.discontinuity(at: 0))
            }
            var other = try Self.tracker(list)
            other.follow(tracker)
        }
    }

    @Test("a restart is recognised by new names only; changed queries are not new names")
    func queriesAreNoNames() throws {
        var tracker = try Self.tracker(PlaylistText(mediaSequence: 5, segments: ["a.ts?t=1", "b.ts?t=1"]))
        let older = PlaylistText(mediaSequence: 4, segments: ["z.ts?t=2", "a.ts?t=2"])
        #expect(try Self.update(&tracker, older) == .older)
        #expect(tracker.playlist.mediaSequence == 5)
    }

    @Test("after a restart the server's numbers count from there")
    func afterRestart() throws {
        var tracker = try Self.tracker(.numbered(100, count: 3))
        #expect(try Self.update(&tracker, .numbered(0, count: 2, prefix: "n")) == .restarted)
        let position = tracker.position(at: 1)
        #expect(position == SegmentPosition(epoch: 1, sequence: 1))
        #expect(try Self.update(&tracker, .numbered(1, count: 2, prefix: "n")) == .changed)
        #expect(tracker.index(of: position) == 0)
        #expect(tracker.index(of: SegmentPosition(epoch: 0, sequence: 1)) == nil)
        #expect(tracker.start == .seconds(16))
        #expect(tracker.discontinuity(at: 0) != 0)
    }

    @Test("an end tag without new segments is recorded as the end")
    func endIsKept() throws {
        var tracker = try Self.tracker(.numbered(0, count: 2))
        _ = try Self.update(&tracker, .numbered(0, count: 2, isEnded: true))
        #expect(!tracker.isLive)
        #expect(tracker.end == .seconds(8))
    }

    // MARK: Discontinuities

    private static let cut = "#EXT-X-DISCONTINUITY"

    @Test("an ended playlist does not change when loaded again")
    func endedList() throws {
        var tracker = try Self.tracker(.numbered(0, count: 3, isEnded: true))
        #expect(try Self.update(&tracker, .numbered(0, count: 3, isEnded: true)) == .unchanged)
        #expect(tracker.epoch == 0)
        #expect(tracker.starts == [.zero, .seconds(4), .seconds(8), .seconds(12)])
    }

    @Test("a segment keeps its discontinuity number if the header tag is missing")
    func carriedDiscontinuities() throws {
        var tracker = try Self.tracker(
            PlaylistText(segments: ["a", .init("b", tags: [Self.cut]), "c", .init("d", tags: [Self.cut])]))
        #expect((0..<4).map { tracker.discontinuity(at: $0) } == [0, 1, 1, 2])
        let second = PlaylistText(mediaSequence: 2, segments: ["c", .init("d", tags: [Self.cut]), "e"])
        _ = try Self.update(&tracker, second)
        #expect((0..<3).map { tracker.discontinuity(at: $0) } == [1, 2, 2])
        let third = PlaylistText(
            mediaSequence: 3, segments: [.init("d", tags: [Self.cut]), "e", .init("f", tags: [Self.cut])])
        _ = try Self.update(&tracker, third)
        #expect((0..<3).map { tracker.discontinuity(at: $0) } == [2, 2, 3])
        let fourth = PlaylistText(mediaSequence: 4, segments: ["e", .init("f", tags: [Self.cut]), "g"])
        _ = try Self.update(&tracker, fourth)
        #expect((0..<3).map { tracker.discontinuity(at: $0) } == [2, 3, 3])
    }

    @Test(
        "without common segments, discontinuity numbers continue from the last known segment",
        arguments: [(2, [1, 2]), (9, [1, 2])] as [(Int, [Int])])
    func discontinuitiesAcrossHoles(sequence: Int, numbers: [Int]) throws {
        var tracker = try Self.tracker(PlaylistText(segments: ["a", .init("b", tags: [Self.cut])]))
        _ = try Self.update(
            &tracker, PlaylistText(mediaSequence: sequence, segments: ["y", .init("z", tags: [Self.cut])]))
        #expect((0..<2).map { tracker.discontinuity(at: $0) } == numbers)
    }

    @Test("a discontinuity number written by the server is used unchanged")
    func writtenDiscontinuities() throws {
        var tracker = try Self.tracker(
            PlaylistText(discontinuitySequence: 7, segments: ["a", .init("b", tags: [Self.cut])]))
        #expect(tracker.discontinuity(at: 1) == 8)
        _ = try Self.update(
            &tracker, PlaylistText(mediaSequence: 1, discontinuitySequence: 8, segments: ["b", "c"]))
        #expect(tracker.discontinuity(at: 0) == 8)
    }

    // MARK: Reading

    @Test(
        "a time finds the segment that contains it",
        arguments: [(-1.0, 0), (0, 0), (3.9, 0), (4, 1), (11.9, 2), (12, nil), (99, nil)] as [(Double, Int?)])
    func indexOfTime(time: Double, index: Int?) throws {
        let tracker = try Self.tracker(.numbered(3, count: 3))
        #expect(tracker.index(containing: .seconds(time)) == index)
    }

    @Test("an empty live playlist contains no time")
    func emptyLive() throws {
        let tracker = try Self.tracker(PlaylistText(targetDuration: 4), start: .seconds(2))
        #expect(tracker.start == .seconds(2))
        #expect(tracker.end == .seconds(2))
        #expect(tracker.index(containing: .seconds(1)) == nil)
        #expect(tracker.isLive)
    }

    @Test("the hold-back is the server's, or three target durations if it has none")
    func holdBack() throws {
        #expect(try Self.tracker(.numbered(0, count: 5)).holdBack == .seconds(12))
        var text = PlaylistText.numbered(0, count: 5)
        text.header = ["#EXT-X-SERVER-CONTROL:HOLD-BACK=14.5"]
        #expect(try Self.tracker(text).holdBack == .milliseconds(14_500))
    }

    @Test(
        "a live playlist is stale after 10.5 target durations, but not before 60 s",
        arguments: [(1, 60), (2, 60), (4, 60), (10, 105)] as [(Int, Int)])
    func staleLimit(target: Int, limit: Int) throws {
        let tracker = try Self.tracker(.numbered(0, count: 3, targetDuration: target))
        #expect(tracker.staleLimit == .seconds(limit))
    }
}
