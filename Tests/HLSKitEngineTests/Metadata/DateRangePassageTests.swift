import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

/// The playlist has ten segments of 4 s. The first one starts at 00:00:00 and item time 0.
@Suite("Entering and leaving date ranges")
struct DateRangePassageTests {
    private static func list(_ ranges: [String]) throws -> PlaylistTracker {
        var text = PlaylistText.numbered(0, count: 10)
        text.header = ranges.map { "#EXT-X-DATERANGE:" + $0 }
        text.segments[0].tags = ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z"]
        return PlaylistTracker(
            try text.parsed(), requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
    }

    private static func range(_ id: String, _ start: Double, _ more: String = "") -> String {
        let seconds = start < 10 ? "0\(start)" : "\(start)"
        return "ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:\(seconds)Z\"" + (more.isEmpty ? "" : ",\(more)")
    }

    private static func passage(_ ranges: String...) throws -> DateRangePassage {
        var passage = DateRangePassage()
        #expect(passage.read(try list(ranges)) == [])
        return passage
    }

    private static func text(_ events: [DateRangePassage.Event]) -> [String] {
        events.map { "\($0.phase) \($0.group.id)" }
    }

    struct Run: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var ranges: [String]
        var times: [(Double, [String])]
    }

    static let runs = [
        Run(
            testDescription: "each is entered once, and left", ranges: [range("a", 4, "DURATION=3")],
            times: [(0, []), (3.9, []), (4, ["entered a"]), (6.9, []), (7, ["left a"]), (20, [])]),
        Run(
            testDescription: "without a length only entered", ranges: [range("a", 4, "DURATION=0")],
            times: [(0, []), (4.1, ["entered a"]), (20, [])]),
        Run(
            testDescription: "without an end never left", ranges: [range("a", 4, "PLANNED-DURATION=3")],
            times: [(0, []), (5, ["entered a"]), (40, [])]),
        Run(
            testDescription: "passed over between two looks", ranges: [range("a", 4, "DURATION=1"), range("b", 4.5)],
            times: [(0, []), (20, ["entered a", "entered b", "left a"])]),
        Run(
            testDescription: "up to the next of the class",
            ranges: [range("a", 4, "CLASS=\"c\",END-ON-NEXT=YES"), range("b", 9, "CLASS=\"c\",END-ON-NEXT=YES")],
            times: [(8, ["entered a"]), (9, ["left a", "entered b"]), (40, [])]),
        Run(
            testDescription: "that begin where playing does, or before",
            ranges: [range("a", 4, "DURATION=9"), range("b", 6, "DURATION=0"), range("c", 3, "DURATION=3")],
            times: [(6, ["entered a", "entered b"]), (13, ["left a"])]),
        Run(
            testDescription: "backwards", ranges: [range("a", 4, "DURATION=3"), range("b", 2, "DURATION=0")],
            times: [(20, []), (7, []), (6.9, ["entered a"]), (4, []), (3.9, ["left a"]), (0, ["entered b"])]),
    ]

    @Test("K11: date ranges are reported as the playhead passes them", arguments: runs)
    func passing(_ run: Run) throws {
        var passage = DateRangePassage()
        #expect(passage.read(try Self.list(run.ranges)) == [])
        for (time, expected) in run.times {
            #expect(Self.text(passage.advance(to: .seconds(time))) == expected, "at \(time)")
        }
    }

    @Test("K11: the next moment is the next start or end, or the previous start at a negative rate")
    func moments() throws {
        var passage = try Self.passage(Self.range("a", 4, "DURATION=3"), Self.range("b", 9))
        #expect(DateRangePassage().next(from: .zero, isReverse: false) == nil)
        for (time, next, before) in [(0, 4, nil), (4, 7, 4), (5, 7, 4), (7, 9, 7), (9, nil, 9)] as [(Int, Int?, Int?)] {
            _ = passage.advance(to: .seconds(time))
            #expect(passage.next(from: .seconds(time), isReverse: false) == next.map { .seconds($0) })
            let back = before.map { Duration.seconds($0) - .microseconds(1) }
            #expect(passage.next(from: .seconds(time), isReverse: true) == back)
        }
    }

    @Test("K11: after a seek, ranges are reported again, except those that still contain the playhead")
    func jumps() throws {
        var passage = try Self.passage(Self.range("a", 4, "DURATION=3"), Self.range("b", 12, "DURATION=1"))
        #expect(Self.text(passage.advance(to: .seconds(5))) == ["entered a"])
        passage.jump()
        #expect(Self.text(passage.advance(to: .seconds(6))) == [])
        passage.jump()
        #expect(Self.text(passage.advance(to: .seconds(20))) == ["left a"])
        passage.jump()
        #expect(Self.text(passage.advance(to: .seconds(6))) == ["entered a"])
        #expect(Self.text(passage.advance(to: .seconds(20))) == ["left a", "entered b", "left b"])
    }

    @Test("K11: changes to a range in a newer playlist are reported while the playhead is in it")
    func updates() throws {
        var passage = try Self.passage(Self.range("a", 4, "SCTE35-OUT=0xFC"), Self.range("b", 30))
        #expect(Self.text(passage.advance(to: .seconds(5))) == ["entered a"])
        #expect(passage.read(try Self.list([Self.range("a", 4, "SCTE35-OUT=0xFC"), Self.range("b", 30)])) == [])
        let ended = [Self.range("a", 4, "SCTE35-OUT=0xFC,SCTE35-IN=0xFD,DURATION=4"), Self.range("b", 30, "X-A=\"1\"")]
        let events = passage.read(try Self.list(ended))
        #expect(Self.text(events) == ["updated a"])
        #expect(events.first?.group.dateRange.scte35In == "0xFD")
        #expect(Self.text(passage.advance(to: .seconds(7))) == [])
        #expect(Self.text(passage.advance(to: .seconds(8))) == ["left a"])
        #expect(passage.read(try Self.list([Self.range("b", 30, "X-A=\"1\"")])) == [])
        #expect(Self.text(passage.advance(to: .seconds(30))) == ["entered b"])
    }

    @Test("K11: an end that the playhead has already passed is reported at once")
    func lateEnd() throws {
        var passage = try Self.passage(Self.range("a", 4))
        #expect(Self.text(passage.advance(to: .seconds(10))) == ["entered a"])
        #expect(Self.text(passage.read(try Self.list([Self.range("a", 4, "DURATION=2")]))) == ["updated a"])
        #expect(Self.text(passage.advance(to: .seconds(10))) == ["left a"])
    }

    @Test("K11: a deleted range is reported as removed, and an older playlist does not bring it back")
    func removal() throws {
        let (a, b) = (Self.range("a", 4), Self.range("b", 30))
        var passage = try Self.passage(a, b)
        #expect(Self.text(passage.advance(to: .seconds(10))) == ["entered a"])
        #expect(Self.text(passage.read(try Self.list([]))) == ["removed a"])
        #expect(passage.isEmpty)
        #expect(passage.read(try Self.list([a, b])) == [])
        #expect(Self.text(passage.advance(to: .seconds(11))) == [])
        #expect(passage.read(try Self.list([a])) == [])
        #expect(Self.text(passage.advance(to: .seconds(40))) == [])
    }

    @Test("K11: a range listed after its media was played is reported late; one before the start position is not")
    func late() throws {
        var passage = DateRangePassage()
        #expect(passage.read(try Self.list([Self.range("z", 39)])) == [])
        #expect(passage.advance(to: .seconds(8)) == [])
        #expect(passage.advance(to: .seconds(10)) == [])
        let late = [
            Self.range("a", 9, "DURATION=0"), Self.range("b", 7, "DURATION=0"), Self.range("c", 9, "DURATION=9"),
        ]
        #expect(passage.read(try Self.list(late)) == [])
        #expect(Self.text(passage.advance(to: .seconds(10))) == ["entered a", "entered c"])
    }

    @Test("K11: far dates and thousands of ranges are handled")
    func odd() throws {
        var passage = DateRangePassage()
        let many = (0..<3000).map { "ID=\"\($0)\",START-DATE=\"2026-01-01T00:00:10Z\",DURATION=1" }
        let far = [
            "ID=\"f\",START-DATE=\"9999-01-01T00:00:00Z\"", "ID=\"g\",START-DATE=\"0001-01-01T00:00:00Z\",DURATION=1",
        ]
        #expect(passage.read(try Self.list(many + far)) == [])
        #expect(passage.advance(to: .seconds(9)).isEmpty)
        #expect(passage.advance(to: .seconds(10)).count == 3000)
        #expect(passage.advance(to: .seconds(12)).count == 3000)
    }
}
