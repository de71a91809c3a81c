import Testing

@testable import HLSKitEngine

/// The player was 1.5 s behind the edge and should be 6 s behind it.
@Suite("Ordinary distance from the live edge")
struct OrdinaryDistanceTests {
    private static let facts = FallbackHoldBack.Facts(
        isWaiting: true, distance: .seconds(2), ordinary: .seconds(6), targetDuration: .seconds(2))

    private static func declined() -> FallbackHoldBack {
        var distance = FallbackHoldBack()
        distance.note(byParts: true, .main)
        distance.note(byParts: false, .main)
        return distance
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var notes: [(Bool, LaneID)]
        var isDue: Bool
    }

    static let cases = [
        Case(testDescription: "ordinary from the beginning", notes: [(false, .main), (false, .audio)], isDue: false),
        Case(testDescription: "by parts", notes: [(true, .main), (true, .audio)], isDue: false),
        Case(testDescription: "by parts no longer", notes: [(true, .main), (false, .main)], isDue: true),
        Case(testDescription: "and again", notes: [(true, .main), (false, .main), (true, .main)], isDue: false),
        Case(testDescription: "audio in segments", notes: [(true, .main), (false, .audio)], isDue: true),
        Case(testDescription: "the other way round", notes: [(false, .audio), (true, .main)], isDue: true),
    ]

    @Test("the distance is due if a lane played partial segments and one no longer can", arguments: cases)
    func due(_ test: Case) {
        var distance = FallbackHoldBack()
        for (byParts, lane) in test.notes {
            #expect(distance.isNews(byParts: byParts, lane))
            distance.note(byParts: byParts, lane)
            #expect(!distance.isNews(byParts: byParts, lane))
        }
        #expect(distance.isDue == test.isDue)
    }

    @Test("waiting continues until the distance is reached, however long that takes")
    func waits() {
        var distance = Self.declined()
        #expect(!distance.prolongs(Self.facts, at: .seconds(10)))
        distance.wait(from: .seconds(10))
        #expect(distance.prolongs(Self.facts, at: .seconds(10)))
        #expect(distance.prolongs(Self.facts, at: .milliseconds(17_900)))
        #expect(!distance.prolongs(Self.facts, at: .seconds(18)))
        var facts = Self.facts
        facts.isWaiting = false
        #expect(!distance.prolongs(facts, at: .seconds(10)))
        facts = Self.facts
        facts.distance = .seconds(6)
        #expect(!distance.prolongs(facts, at: .seconds(10)) && distance.isReached(facts))
        distance.end()
        #expect(!distance.prolongs(Self.facts, at: .seconds(10)) && !distance.isDue)
        distance.note(byParts: false, .main)
        #expect(!distance.isDue)
        distance.wait(from: nil)
        #expect(!Self.declined().isReached(Self.facts))
    }
}
