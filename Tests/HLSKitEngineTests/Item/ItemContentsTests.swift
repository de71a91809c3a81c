import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Item contents")
struct ItemContentsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var found: @Sendable (inout ItemState.ItemContents) -> Void
        var hasSkipped = false
        var cause: String?
        var testDescription: String { name }
    }

    private static let loss = HLSError(code: .notFound, cause: "not there")

    static let cases = [
        Case(name: "nothing was asked for", found: { _ in }),
        Case(name: "everything was skipped", found: { _ in }, hasSkipped: true, cause: "every segment is missing"),
        Case(name: "the last one is known", found: { $0.noteLoss(loss) }, hasSkipped: true, cause: "not there"),
        Case(
            name: "some of it could be read",
            found: {
                $0.noteLoss(loss)
                $0.noteMedia()
            }, hasSkipped: true),
        Case(
            name: "no segment named a track",
            found: {
                _ = $0.noteTrackless(url: "a")
                $0.noteMedia()
            }, cause: "nothing in it can be played"),
    ]

    @Test("an item without playable media fails", arguments: cases)
    func missing(_ test: Case) {
        var contents = ItemState.ItemContents()
        test.found(&contents)
        #expect(contents.missingFailure(of: "item", hasSkipped: test.hasSkipped)?.cause == test.cause)
    }

    @Test("the third segment without a track fails the item once, unless tracks were found before")
    func trackless() throws {
        var contents = ItemState.ItemContents()
        #expect(contents.noteTrackless(url: "a") == nil)
        #expect(contents.noteTrackless(url: "b") == nil)
        #expect(contents.noteTrackless(url: "c")?.urlString == "c")
        #expect(contents.noteTrackless(url: "d") == nil)
        var other = ItemState.ItemContents()
        other.note([MediaTrack(id: 1, mediaType: .text, codec: .webVTT, timescale: 90_000)], of: .main)
        for _ in 0..<5 { #expect(other.noteTrackless(url: "a") == nil) }
        #expect(other.tracks[.main]?.count == 1)
    }

    @Test("timeline mappings are numbered in order, and later ones after the timeline is joined")
    func timelines() throws {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(0, count: 2).parsed(), requestURL: "list", url: "list", start: .zero,
            loadBegan: .zero, now: .zero)
        var numbers = ItemState.TimelineNumbers()
        let first = numbers.key(at: 0, in: tracker)
        #expect(first == numbers.key(at: 1, in: tracker))
        #expect(numbers.number(of: first) == 0)
        numbers.closeUp()
        let second = numbers.key(at: 1, in: tracker)
        #expect(second != first)
        #expect(numbers.number(of: second) == 1)
        #expect(numbers.number(of: first) == 0)
    }
}
