import HLSPlaylist
import Testing

@testable import HLSKitCore

/// Ten segments of four seconds.
@Suite("Where an item begins to play")
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
}
