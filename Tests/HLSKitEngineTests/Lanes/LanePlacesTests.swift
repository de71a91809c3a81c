import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// The lane lists ten segments of 4 s from 8 s on.
@Suite("Lane positions")
struct LanePlacesTests {
    private static func lane() throws -> MediaLane {
        var lane = MediaLane(id: .main, playlistURL: "list")
        lane.playlist.attach(
            PlaylistTracker(
                try PlaylistText.numbered(0, count: 10, isEnded: true).parsed(), requestURL: "list", url: "list",
                start: .seconds(8), loadBegan: .zero, now: .zero))
        return lane
    }

    private static func position(_ index: Int) -> LaneCursor {
        .position(SegmentPosition(epoch: 0, sequence: index))
    }

    struct Jump: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var target: Int
        var cursor: LaneCursor
        var loadedEnd: Int
    }

    static let jumps = [
        Jump(testDescription: "into a segment", target: 17, cursor: position(2), loadedEnd: 16),
        Jump(testDescription: "before the list: there is a hole", target: 3, cursor: position(0), loadedEnd: 3),
        Jump(testDescription: "past the list", target: 60, cursor: .sought(.seconds(60)), loadedEnd: 60),
    ]

    @Test("after a jump the segment at the target is loaded", arguments: jumps)
    func jump(_ test: Jump) throws {
        let place = try Self.lane().place(afterJumpTo: .seconds(test.target))
        #expect(place.cursor == test.cursor)
        #expect(place.loadedEnd == .seconds(test.loadedEnd))
        let unlisted = MediaLane(id: .main, playlistURL: "list").place(afterJumpTo: .seconds(test.target))
        #expect(unlisted.cursor == .sought(.seconds(test.target)))
    }

    @Test("an exact jump also loads the previous segment if its media extends past the target")
    func exact() throws {
        var lane = try Self.lane()
        lane.noteRead(SegmentPosition(epoch: 0, sequence: 1), upTo: .milliseconds(16_080))
        func cursor(_ milliseconds: Int, isExact: Bool = true) -> LaneCursor {
            lane.place(afterJumpTo: .milliseconds(milliseconds), isExact: isExact).cursor
        }
        #expect(cursor(16_000) == Self.position(1))
        #expect(cursor(16_079) == Self.position(2) && cursor(16_070) == Self.position(1))
        #expect(cursor(16_000, isExact: false) == Self.position(2))
        // Other boundaries behave the same, and nothing precedes the first one.
        #expect(cursor(32_000) == Self.position(5) && cursor(32_080) == Self.position(6))
        #expect(cursor(8_000) == Self.position(0))
        // Segments that end at the boundary, or whose listed times are wrong, have no effect.
        lane.noteRead(SegmentPosition(epoch: 0, sequence: 1), upTo: .microseconds(16_000_400))
        #expect(cursor(16_000) == Self.position(2))
        lane.noteRead(SegmentPosition(epoch: 0, sequence: 3), upTo: .seconds(24))
        #expect(cursor(16_000) == Self.position(2))
        lane.noteRead(SegmentPosition(epoch: 0, sequence: 1), upTo: .milliseconds(17_100))
        #expect(cursor(16_000) == Self.position(2))
    }

    @Test("a jump to an unlisted time later begins with the segment that contains it")
    func sought() throws {
        var lane = try Self.lane()
        lane.move(to: .sought(.milliseconds(15_950)))
        #expect(lane.nextIndex == 1)
        lane.move(to: .time(.milliseconds(15_950)))
        #expect(lane.nextIndex == 2)
        lane.move(to: .sought(.seconds(3)))
        #expect(lane.nextIndex == 0)
        lane.move(to: .sought(.seconds(60)))
        #expect(lane.nextIndex == nil)
    }

    struct Drop: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var playhead: Int
        var loadedEnd: Int
        var expected: Duration?
    }

    static let drops = [
        Drop(testDescription: "behind the next segment", playhead: 9, loadedEnd: 24, expected: .seconds(16)),
        Drop(testDescription: "before the list", playhead: 0, loadedEnd: 24, expected: .seconds(16)),
        Drop(testDescription: "nothing lies behind it", playhead: 9, loadedEnd: 16, expected: nil),
        Drop(testDescription: "it is the last one", playhead: 41, loadedEnd: 48, expected: nil),
    ]

    @Test("media is dropped from the end of the segment after the playing one", arguments: drops)
    func drop(_ test: Drop) throws {
        var lane = try Self.lane()
        lane.extend(to: .seconds(test.loadedEnd))
        #expect(lane.placeToDropFrom(at: .seconds(test.playhead)) == test.expected)
    }
}

@Suite("Media past the listed end of its segment")
struct MediaBeyondTests {
    /// Returns the overhang of a segment that is listed from 4 to 8 s.
    private func overhang(_ end: Duration) -> MediaLane.SegmentOverhang {
        var overhang = MediaLane.SegmentOverhang()
        overhang.noteRead(upTo: end, listedEnd: .seconds(8))
        return overhang
    }

    @Test("media just past a boundary belongs to the previous segment, as far as that extends")
    func hangsOver() {
        let overhang = overhang(.milliseconds(8080))
        #expect(overhang.reaches(.seconds(12), after: .seconds(12)))
        #expect(overhang.reaches(.milliseconds(12_060), after: .seconds(12)))
        #expect(!overhang.reaches(.milliseconds(12_080), after: .seconds(12)))
    }

    @Test("a segment that ends as listed, or earlier, has no media past its boundary")
    func asListed() {
        for end in [7900, 8000, 8001] {
            #expect(!overhang(.milliseconds(end)).reaches(.seconds(12), after: .seconds(12)), "\(end)")
        }
        #expect(!MediaLane.SegmentOverhang().reaches(.zero, after: .zero))
    }

    @Test("an excess of more than a second means a wrong playlist and is ignored")
    func wrongLists() {
        #expect(overhang(.seconds(9)).reaches(.milliseconds(12_500), after: .seconds(12)))
        #expect(!overhang(.milliseconds(9001)).reaches(.milliseconds(12_500), after: .seconds(12)))
    }

    @Test("only the last segment that was read applies")
    func last() {
        var overhang = overhang(.milliseconds(8080))
        overhang.noteRead(upTo: .seconds(12), listedEnd: .seconds(12))
        #expect(overhang == MediaLane.SegmentOverhang())
    }
}
