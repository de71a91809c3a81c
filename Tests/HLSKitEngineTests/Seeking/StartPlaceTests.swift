import Foundation
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

/// The playlist has ten segments of 4 s.
@Suite("Start position of an item")
struct StartPlaceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var position = StartPosition.automatic
        var tag: StartPoint?
        var isLive = false
        var start: Duration
        var window: Duration?
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "the beginning", start: .zero),
        Case(name: "the distance from the live edge, at a segment", isLive: true, start: .seconds(28)),
        Case(name: "the oldest", position: .oldest, isLive: true, start: .zero),
        Case(name: "a time", position: .time(.seconds(7)), start: .seconds(7), window: .seconds(7)),
        Case(name: "from the end", position: .time(.seconds(-7)), start: .seconds(33), window: .seconds(33)),
        Case(name: "past the end", position: .time(.seconds(70)), start: .seconds(40), window: .seconds(40)),
        Case(name: "a segment", position: .segment(3), start: .seconds(12)),
        Case(name: "a segment that is not listed any more", position: .segment(-1), start: .zero),
        Case(name: "a segment behind the last", position: .segment(.max), start: .seconds(40)),
        Case(
            name: "what is no time counts as nothing said", position: .time(.indefinite),
            tag: StartPoint(timeOffset: .seconds(7)), start: .seconds(4)),
        Case(name: "a tag", tag: StartPoint(timeOffset: .seconds(7)), start: .seconds(4)),
        Case(
            name: "a precise tag", tag: StartPoint(timeOffset: .seconds(7), isPrecise: true), start: .seconds(7),
            window: .seconds(7)),
        Case(
            name: "a tag nearer to the edge than is played", tag: StartPoint(timeOffset: .seconds(-2), isPrecise: true),
            isLive: true, start: .seconds(30), window: .seconds(30)),
    ]

    @Test("the start follows from the preferences, the tag and the edge", arguments: cases)
    func start(_ test: Case) throws {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(0, count: 10, isEnded: !test.isLive).parsed(), requestURL: "list", url: "list",
            start: .zero, loadBegan: .zero, now: .zero)
        var preferences = PlayerItemPreferences()
        preferences.startPosition = test.position
        var place = StartPlace(in: tracker, preferences: preferences, tag: test.tag, liveOffset: .seconds(10))
        #expect(place.start == test.start)
        #expect(place.window == test.window)
        place.move(to: .exact(.seconds(9)))
        #expect(place.start == .seconds(9))
        #expect(place.window == .seconds(9))
        #expect(place.end(.automatic, in: tracker) == nil)
        #expect(place.end(.time(.seconds(-4)), in: tracker) == .seconds(36))
        #expect(place.end(.duration(.seconds(4)), in: tracker) == .seconds(13))
        #expect(place.end(.time(.positiveInfinity), in: tracker) == nil)
        #expect(place.end(.duration(.invalid), in: tracker) == nil)
    }

    /// Returns segments of 4 s. The first one is number 7 and starts at 12:00.
    private static func dated(isEnded: Bool = true, hasDate: Bool = true) throws -> PlaylistTracker {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:7"]
        if hasDate { lines.append("#EXT-X-PROGRAM-DATE-TIME:2026-01-31T12:00:00Z") }
        for index in 0..<5 {
            // A gap of one minute in the dates.
            if index == 3, hasDate { lines.append("#EXT-X-PROGRAM-DATE-TIME:2026-01-31T12:01:12Z") }
            lines += ["#EXTINF:4,", "\(index).ts"]
        }
        if isEnded { lines.append("#EXT-X-ENDLIST") }
        let list = try MediaPlaylist(parsing: Array((lines.joined(separator: "\n") + "\n").utf8), url: "list")
        return PlaylistTracker(list, requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
    }

    private static func date(_ text: String) throws -> Date {
        Date(try #require(PlaylistDate("2026-01-31T\(text)Z")))
    }

    @Test(
        "a date maps to its position, in a discontinuity to the end before it, outside to an estimate",
        arguments: [
            ("12:00:00", 0), ("12:00:05.5", 5.5), ("12:01:12", 12), ("12:01:15", 15), ("11:59:50", -10),
            ("12:00:30", 12), ("12:01:30", 30),
        ])
    func dates(text: String, place: Double) throws {
        let tracker = try Self.dated()
        let date = try Self.date(text)
        #expect(tracker.place(of: date) == .milliseconds(Int64(place * 1000)))
        var preferences = PlayerItemPreferences()
        (preferences.startPosition, preferences.endPosition) = (.date(date), .date(date))
        #expect(!StartPlace.lacksDates(preferences, in: tracker))
        #expect(StartPlace.lacksDates(preferences, in: try Self.dated(hasDate: false)))
        let start = StartPlace(in: tracker, preferences: preferences, tag: nil, liveOffset: .zero)
        #expect(start.start == .milliseconds(Int64(min(max(place, 0), 20) * 1000)) && start.window == start.start)
        #expect(start.end(.date(date), in: tracker) == tracker.place(of: date))
    }

    @Test("segments are found by media sequence number, and the end includes the named segment")
    func segments() throws {
        let (ended, live) = (try Self.dated(), try Self.dated(isEnded: false))
        #expect([6, 7, 9, 11, 12].map { ended.start(ofSegment: $0) } == [0, 0, 8, 16, 20].map { .seconds($0) })
        #expect([6, 7, 9, 11, 12].map { ended.end(ofSegment: $0) } == [0, 4, 12, 20, 20].map { .seconds($0) })
        #expect(live.end(ofSegment: 11) == .seconds(20) && live.end(ofSegment: 12) == nil)
    }
}
