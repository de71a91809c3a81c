import HLSPlaylist
import Testing

@testable import HLSKitCore

/// Segments of two seconds, parts of half a second. The last two segments have their parts.
@Suite("Parts in a tracked list")
struct TrackedPartsTests {
    /// Every other part is independent.
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

    private static func tracker(_ list: MediaPlaylist, start: Duration = .zero) -> PlaylistTracker {
        PlaylistTracker(list, requestURL: "list", url: "list", start: start, loadBegan: .zero, now: .zero)
    }

    @Test("the edge is the last part, or the last segment where no part is behind it")
    func edge() throws {
        let whole = Self.tracker(try Self.list())
        #expect(whole.edge == PartPosition(sequence: 13))
        #expect(whole.partEnd == .seconds(8))
        let open = Self.tracker(try Self.list(trailing: 3))
        #expect(open.edge == PartPosition(sequence: 14, part: 2))
        #expect(open.partEnd == .milliseconds(9500))
        #expect(open.end == .seconds(8))
        let empty = Self.tracker(try Self.list(count: 0))
        #expect(empty.edge == nil)
    }

    struct Step: CustomTestStringConvertible, Sendable {
        var name: String
        /// First segment, segments, parts behind them.
        var before: [Int]
        var after: [Int]
        var isEnded = false
        var update: PlaylistTracker.Update
        var edge: PartPosition
        var start = Duration.zero
        var testDescription: String { name }
    }

    static let steps: [Step] = [
        Step(
            name: "one part more", before: [10, 4, 1], after: [10, 4, 2], update: .extended,
            edge: PartPosition(sequence: 14, part: 1)),
        Step(
            name: "the first part", before: [10, 4, 0], after: [10, 4, 1], update: .extended,
            edge: PartPosition(sequence: 14, part: 0)),
        Step(
            name: "a part comes and a segment goes", before: [10, 4, 1], after: [11, 3, 2], update: .extended,
            edge: PartPosition(sequence: 14, part: 1), start: .seconds(2)),
        Step(
            name: "the segment stands", before: [10, 4, 3], after: [11, 4, 0], update: .changed,
            edge: PartPosition(sequence: 14), start: .seconds(2)),
        Step(
            name: "the segment stands, and the next has begun", before: [10, 4, 3], after: [11, 4, 2], update: .changed,
            edge: PartPosition(sequence: 15, part: 1), start: .seconds(2)),
        Step(
            name: "nothing new", before: [10, 4, 2], after: [10, 4, 2], update: .unchanged,
            edge: PartPosition(sequence: 14, part: 1)),
        Step(
            name: "an edge that is a part behind", before: [10, 4, 2], after: [10, 4, 1], update: .older,
            edge: PartPosition(sequence: 14, part: 1)),
        Step(
            name: "an edge that is a segment behind", before: [11, 4, 0], after: [10, 4, 3], update: .older,
            edge: PartPosition(sequence: 14)),
        Step(
            name: "the end in the middle of a segment", before: [10, 4, 2], after: [10, 4, 0], isEnded: true,
            update: .changed, edge: PartPosition(sequence: 14, part: 1)),
    ]

    @Test("C06: a part more is news, and none of what is known of segments changes", arguments: steps)
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

    @Test("parts lie one after another on the timeline, those of the segment that is being made behind all others")
    func places() throws {
        let tracker = Self.tracker(try Self.list(trailing: 2), start: .seconds(100))
        #expect(tracker.parts(at: 1).isEmpty)
        #expect(tracker.parts(at: 3).map(\.start) == [106, 106.5, 107, 107.5].map { .seconds($0) })
        let last = tracker.parts(at: 4)
        #expect(last.map(\.start) == [.seconds(108), .milliseconds(108_500)])
        #expect(last.map(\.part) == [0, 1] && last.map(\.index) == [4, 4] && last.map(\.isEntry) == [true, false])
        #expect(tracker.parts(at: 5).isEmpty && tracker.parts(at: -1).isEmpty)
    }

    struct Entry: CustomTestStringConvertible, Sendable {
        var time: Double
        var gap: Int?
        /// Segment and part; nil where parts do not tell.
        var place: [Int]?
        var testDescription: String { "at \(time), without \(gap.map(String.init) ?? "none")" }
    }

    static let entries: [Entry] = [
        Entry(time: 60, place: [4, 2]), Entry(time: 9, place: [4, 2]), Entry(time: 8.99, place: [4, 0]),
        Entry(time: 8, place: [4, 0]), Entry(time: 7.5, place: [3, 2]), Entry(time: 4, place: [2, 0]),
        Entry(time: 3.9, place: nil), Entry(time: -1, place: nil), Entry(time: 60, gap: 2, place: [4, 0]),
        Entry(time: 7.9, gap: 2, place: [3, 0]),
    ]

    @Test("M01: decoding starts at the newest independent part at or before a time", arguments: entries)
    func newestEntry(_ entry: Entry) throws {
        let tracker = Self.tracker(try Self.list(trailing: 3, gap: entry.gap))
        let place = tracker.newestEntry(at: .seconds(entry.time))
        #expect(place.map { [$0.index, $0.part] } == entry.place)
    }
}
