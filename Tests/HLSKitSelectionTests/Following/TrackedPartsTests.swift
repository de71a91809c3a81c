import FoundationEssentials
import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitSelection

/// Segments last 2 s, parts 0.5 s. The last two segments have parts.
@Suite("Parts in a tracked playlist")
struct TrackedPartsTests {
    private static func text(first: Int, count: Int, trailing: Int, gap: Int? = nil, isEnded: Bool = false) -> String {
        func parts(_ sequence: Int, _ count: Int) -> [String] {
            (0..<count).map { part in
                "#EXT-X-PART:DURATION=0.5,URI=\"\(sequence).\(part).mp4\""
                    + (part % 2 == 0 ? ",INDEPENDENT=YES" : "") + (part == gap ? ",GAP=YES" : "")
            }
        }
        var text = PlaylistText.numbered(first, count: count, targetDuration: 2)
        text.header = ["#EXT-X-PART-INF:PART-TARGET=0.5"]
        for index in text.segments.indices.suffix(2) { text.segments[index].tags = parts(first + index, 4) }
        let tail = parts(first + count, trailing).map { $0 + "\n" }.joined()
        return text.text + tail + (isEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    private static func list(
        first: Int = 10, count: Int = 4, trailing: Int = 0, gap: Int? = nil, isEnded: Bool = false
    ) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: text(first: first, count: count, trailing: trailing, gap: gap, isEnded: isEnded),
            url: "https://host/live.m3u8")
    }

    private static func tracker(
        _ list: MediaPlaylist, start: Duration = .zero, usesParts: Bool = false
    ) -> PlaylistTracker {
        PlaylistTracker(
            list, requestURL: "list", url: "list", start: start, loadBegan: .zero, now: .zero, usesParts: usesParts)
    }

    @Test("the edge is the last part, or the last segment without later parts")
    func edge() throws {
        let whole = Self.tracker(try Self.list())
        #expect(whole.edge == PartPosition(sequence: 13))
        #expect(whole.end == .seconds(8))
        let open = Self.tracker(try Self.list(trailing: 3))
        #expect(open.edge == PartPosition(sequence: 14, part: 2))
        #expect(open.end == .seconds(8))
        #expect(Self.tracker(try Self.list(trailing: 3), usesParts: true).end == .milliseconds(9500))
        let empty = Self.tracker(try Self.list(count: 0))
        #expect(empty.edge == nil)
    }

    @Test("parts listed as longer than their segment do not extend past it")
    func overstated() throws {
        let text = Self.text(first: 10, count: 4, trailing: 2).replacing("DURATION=0.5,", with: "DURATION=0.7,")
        let tracker = Self.tracker(
            try MediaPlaylist(parsing: text, url: "https://host/live.m3u8"), usesParts: true)
        #expect(tracker.segmentCount == 2 + 8 + 2)
        #expect(tracker.starts == tracker.starts.sorted())
        #expect(tracker.starts[6] == .seconds(6))
        #expect(tracker.end == .milliseconds(9400))
    }

    struct Step: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The first segment, the number of segments, and the number of parts after them.
        var before: [Int]
        var after: [Int]
        var update: PlaylistTracker.Update
        var edge: PartPosition
        var start: Duration
        var isEnded: Bool

        /// - Parameter edge: The numbers of the segment and the part.
        init(
            _ name: String, _ before: [Int], _ after: [Int], _ update: PlaylistTracker.Update, _ edge: [Int],
            from start: Duration = .zero, isEnded: Bool = false
        ) {
            testDescription = name
            (self.before, self.after, self.update, self.start, self.isEnded) = (before, after, update, start, isEnded)
            self.edge = PartPosition(sequence: edge[0], part: edge.count > 1 ? edge[1] : nil)
        }
    }

    static let steps = [
        Step("one part more", [10, 4, 1], [10, 4, 2], .extended, [14, 1]),
        Step("the first part", [10, 4, 0], [10, 4, 1], .extended, [14, 0]),
        Step("a part comes and a segment goes", [10, 4, 1], [11, 3, 2], .extended, [14, 1], from: .seconds(2)),
        Step("the segment stands", [10, 4, 3], [11, 4, 0], .changed, [14], from: .seconds(2)),
        Step(
            "the segment stands, and the next has begun", [10, 4, 3], [11, 4, 2], .changed, [15, 1], from: .seconds(2)),
        Step("nothing new", [10, 4, 2], [10, 4, 2], .unchanged, [14, 1]),
        Step("an edge that is a part behind", [10, 4, 2], [10, 4, 1], .older, [14, 1]),
        Step("an edge that is a segment behind", [11, 4, 0], [10, 4, 3], .older, [14]),
        Step("the end in the middle of a segment", [10, 4, 2], [10, 4, 0], .changed, [14, 1], isEnded: true),
    ]

    @Test("C06: another part is news, and known segments do not change", arguments: steps)
    func updates(_ step: Step) throws {
        func list(_ numbers: [Int], isEnded: Bool = false) throws -> MediaPlaylist {
            try Self.list(first: numbers[0], count: numbers[1], trailing: numbers[2], isEnded: isEnded)
        }
        var tracker = Self.tracker(try list(step.before))
        let position = tracker.position(at: 3)
        let place = tracker.start(ofSegment: position.sequence)
        let update = tracker.update(
            with: try list(step.after, isEnded: step.isEnded), url: "list", loadBegan: .seconds(1), now: .seconds(1))
        #expect(update == step.update)
        #expect(tracker.edge == step.edge)
        #expect(tracker.isLive != step.isEnded)
        #expect(tracker.start == step.start)
        #expect(tracker.starts.count == tracker.segmentCount + 1)
        #expect(tracker.start(ofSegment: position.sequence) == place)
        #expect(tracker.index(of: position).map { tracker.starts[$0] } == place)
    }

    // MARK: Parts instead of segments

    @Test("parts replace their segments, each with its number and time")
    func pieces() throws {
        let tracker = Self.tracker(try Self.list(trailing: 2), start: .seconds(100), usesParts: true)
        // Two whole segments, two more with four parts each, and two parts of the unfinished segment.
        #expect(tracker.segmentCount == 12)
        #expect(tracker.starts.first == .seconds(100) && tracker.end == .seconds(109))
        #expect((0..<12).map { tracker.position(at: $0).sequence } == [10, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14])
        #expect((0..<12).map { tracker.position(at: $0).part } == [nil, nil, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
        #expect((0..<12).map { tracker.playlist.segments[$0].mediaSequence } == (0..<12).map { tracker.number(at: $0) })
        #expect(tracker.playlist.segments[11].uri == "14.1.mp4")
        #expect(tracker.starts[7] == .milliseconds(106_500) && tracker.duration(at: 7) == .milliseconds(500))
        #expect(
            (0..<12).map { tracker.isEntry($0) }
                == [true, true, true, false, true, false, true, false, true, false, true, false])
        for index in 0..<12 { #expect(tracker.index(of: tracker.position(at: index)) == index) }
        #expect(tracker.written.segments.count == 4)
        #expect(tracker.start(ofSegment: 13) == .seconds(106) && tracker.end(ofSegment: 13) == .seconds(108))
        #expect(tracker.index(ofSequence: 9) == 0 && tracker.index(ofSequence: 13) == 6)
        #expect(tracker.index(ofSequence: 14) == 10 && tracker.index(ofSequence: 99) == 12)
    }

    struct Place: CustomTestStringConvertible, Sendable {
        var sequence: Int
        var part: Int?
        var index: Int?
        var testDescription: String { "\(sequence).\(part.map(String.init) ?? "whole")" }
    }

    static let places: [Place] = [
        Place(sequence: 9, index: nil), Place(sequence: 10, index: 0), Place(sequence: 11, part: 2, index: 1),
        Place(sequence: 12, index: 2), Place(sequence: 12, part: 3, index: 5), Place(sequence: 12, part: 4, index: 6),
        Place(sequence: 13, part: 9, index: 10), Place(sequence: 14, part: 1, index: 11),
        Place(sequence: 14, part: 2, index: nil), Place(sequence: 15, index: nil), Place(sequence: .max, index: nil),
    ]

    @Test("after a segment's last part comes the next segment, or an unlisted one", arguments: places)
    func piece(_ place: Place) throws {
        let tracker = Self.tracker(try Self.list(trailing: 2), usesParts: true)
        #expect(tracker.index(of: SegmentPosition(epoch: 0, sequence: place.sequence, part: place.part)) == place.index)
    }

    @Test("a lane advances part by part, or by segment if only that is listed")
    func lane() throws {
        var lane = MediaLane(id: .main, playlistURL: "list")
        var tracker = Self.tracker(try Self.list(trailing: 1), usesParts: true)
        lane.playlist.attach(tracker)
        lane.move(to: .position(SegmentPosition(epoch: 0, sequence: 13, part: 3)))
        #expect(lane.nextIndex == 9)
        lane.advance(past: 9)
        #expect(lane.nextIndex == 10 && lane.resumeTime(in: tracker) == .seconds(8))
        lane.advance(past: 10)
        #expect(lane.nextIndex == nil && lane.resumeTime(in: tracker) == .milliseconds(8500))
        let update = tracker.update(
            with: try Self.list(trailing: 2), url: "list", loadBegan: .seconds(1), now: .seconds(1))
        #expect(update == .extended)
        lane.playlist.attach(tracker)
        #expect(lane.nextIndex == 11 && !lane.repeatsParts(at: 11))
        // Without parts, the lane loads the whole segment once it is finished.
        tracker.use(parts: false)
        lane.playlist.attach(tracker)
        #expect(lane.nextIndex == nil)
        _ = tracker.update(with: try Self.list(first: 11), url: "list", loadBegan: .seconds(2), now: .seconds(2))
        lane.playlist.attach(tracker)
        #expect(lane.nextIndex == 3)
        #expect(lane.repeatsParts(at: 3))
    }

    @Test("segments with an incomplete list of parts stay whole")
    func incomplete() throws {
        var text = Self.text(first: 10, count: 4, trailing: 2)
        text = text.replacing("#EXT-X-PART:DURATION=0.5,URI=\"13.3.mp4\"\n", with: "")
        let list = try MediaPlaylist(parsing: text, url: "https://host/live.m3u8")
        let tracker = Self.tracker(list, usesParts: true)
        #expect((0..<tracker.segmentCount).map { tracker.position(at: $0).part } == [nil, nil, nil, nil, 0, 1])
        #expect(tracker.starts.count == 7)
    }

    struct Entry: CustomTestStringConvertible, Sendable {
        var time: Double
        var gap: Int?
        var place: SegmentPosition?
        var testDescription: String { "at \(time), without \(gap.map(String.init) ?? "none")" }
    }

    private static func place(_ sequence: Int, _ part: Int?) -> SegmentPosition {
        SegmentPosition(epoch: 0, sequence: sequence, part: part)
    }

    static let entries: [Entry] = [
        Entry(time: 60, place: nil), Entry(time: 9.4, place: place(14, 2)), Entry(time: 8.99, place: place(14, 0)),
        Entry(time: 8, place: place(14, 0)), Entry(time: 7.5, place: place(13, 2)), Entry(time: 4, place: place(12, 0)),
        Entry(time: 3.9, place: place(11, nil)), Entry(time: -1, place: place(10, nil)),
        Entry(time: 9.4, gap: 2, place: place(14, 0)), Entry(time: 7.9, gap: 2, place: place(13, 0)),
    ]

    @Test("M01: playback of parts starts exactly at the distance from the edge")
    func start() throws {
        let tracker = Self.tracker(try Self.list(trailing: 3), usesParts: true)
        let place = StartPlace(in: tracker, preferences: .init(), tag: nil, liveOffset: .milliseconds(1600))
        #expect(place.start == .milliseconds(7900) && place.window == .milliseconds(7900))
        var lane = MediaLane(id: .main, playlistURL: "list")
        lane.playlist.attach(tracker)
        lane.start(at: place.start, playhead: place.start, isExact: true)
        #expect(lane.nextIndex.map { tracker.position(at: $0) } == Self.place(13, 2))
        #expect(place.partStart == lane.nextIndex.map { tracker.starts[$0] })
        let whole = StartPlace(
            in: Self.tracker(try Self.list(trailing: 3)), preferences: .init(), tag: nil, liveOffset: .seconds(3))
        #expect(whole.start == .seconds(4) && whole.window == nil && whole.partStart == nil)
    }

    @Test("M01: decoding starts at the newest independent part at or before a time", arguments: entries)
    func newestEntry(_ entry: Entry) throws {
        let tracker = Self.tracker(try Self.list(trailing: 3, gap: entry.gap), usesParts: true)
        #expect(tracker.entryIndex(containing: .seconds(entry.time)).map { tracker.position(at: $0) } == entry.place)
    }

    @Test("segments with failed parts become whole, with all earlier ones; later parts stay")
    func whole() throws {
        var tracker = Self.tracker(try Self.list(trailing: 2), usesParts: true)
        let part = SegmentPosition(epoch: 0, sequence: 12, part: 3)
        #expect(tracker.listsWhole(part))
        #expect(!tracker.listsWhole(SegmentPosition(epoch: 0, sequence: 14, part: 0)))
        #expect(!tracker.listsWhole(SegmentPosition(epoch: 1, sequence: 12, part: 0)))
        #expect(!tracker.listsWhole(SegmentPosition(epoch: 0, sequence: 12)))
        #expect(!tracker.listsWhole(SegmentPosition(epoch: 0, sequence: .max, part: 0)))
        tracker.loadWhole(12)
        #expect(tracker.index(of: part) == 2 && tracker.position(at: 2).part == nil)
        #expect(tracker.duration(at: 2) == .seconds(2) && tracker.end == .seconds(9))
        #expect(tracker.position(at: 3) == SegmentPosition(epoch: 0, sequence: 13, part: 0))
        let update = tracker.update(
            with: try Self.list(trailing: 3), url: "list", loadBegan: .seconds(1), now: .seconds(1))
        #expect(update == .extended && tracker.index(of: part) == 2 && tracker.position(at: 2).part == nil)
        tracker.loadWhole(.max)
        #expect(tracker.position(at: 3).part == nil)
        #expect(tracker.position(at: 4) == SegmentPosition(epoch: 0, sequence: 14, part: 0))
    }

    @Test("without independent parts, decoding starts at segments; otherwise at declared parts")
    func starts() throws {
        func entries(_ change: (inout [MediaSegment]) -> Void, tag: Bool = false) throws -> [Int] {
            var list = try Self.list()
            var segments = Array(list.segments)
            change(&segments)
            list.segments = MediaSegments(segments)
            list.hasIndependentSegments = tag
            let tracker = Self.tracker(list, usesParts: true)
            return (2..<10).filter { tracker.isEntry($0) }
        }
        func hide(_ segments: inout [MediaSegment], from first: Int) {
            for index in segments.indices.dropFirst(first) {
                let parts = segments[index].parts.map { PartialSegment(uri: $0.uri, duration: $0.duration) }
                segments[index].parts = parts[...]
            }
        }
        #expect(try entries { hide(&$0, from: 0) } == [2, 6])
        #expect(try entries { hide(&$0, from: 3) } == [2, 4])
        #expect(try entries({ hide(&$0, from: 3) }, tag: true) == [2, 4, 6])
        #expect(try entries { $0[2].parts[0].isIndependent = false } == [2, 4, 6, 8])
    }

    @Test("M02: a stall adds three parts to the recommendation with parts, otherwise a target duration")
    func recommendation() throws {
        for usesParts in [true, false] {
            let window = LiveWindow(Self.tracker(try Self.list(trailing: 2), usesParts: usesParts), offset: .seconds(2))
            #expect(window.target == (usesParts ? .milliseconds(1500) : .seconds(2)))
        }
    }
}
