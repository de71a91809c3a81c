import HLSPlaylist
import Testing

@testable import HLSKitCore

@Suite("Extent of an item")
struct ItemExtentTests {
    @Test(
        "another end time says what is still to be played",
        arguments: [
            (nil, nil, .stays), (8, 8, .stays), (nil, 8, .nearer), (8, 6, .nearer), (8, 12, .beyond(.seconds(8))),
            (8, nil, .beyond(.seconds(8))),
            // One that lies behind the playhead is there at once.
            (5, 1, .stays), (8, 1, .nearer),
        ] as [(Int?, Int?, ItemExtent.Move)])
    func ends(old: Int?, new: Int?, expected: ItemExtent.Move) throws {
        var extent = try Self.started(at: 0)
        _ = extent.setForwardEnd(old.map { .seconds($0) }, playhead: .zero)
        let move = extent.setForwardEnd(new.map { .seconds($0) }, playhead: .seconds(5))
        #expect(move == expected)
        #expect(extent.forwardEnd == new.map { .seconds(max(5, $0)) })
    }

    @Test("an end time that was set before the start is known is not before it")
    func early() throws {
        var extent = ItemExtent()
        _ = extent.setForwardEnd(.seconds(2), playhead: .seconds(9))
        #expect(extent.forwardEnd == .seconds(2))
        extent.begin(at: try Self.place(at: 4), until: nil)
        #expect((extent.start, extent.startWindow, extent.forwardEnd) == (.seconds(4), .seconds(4), .seconds(4)))
    }

    @Test("what was presented to its end tells the duration, if it was all there is")
    func duration() throws {
        var extent = try Self.started(at: 0)
        #expect(extent.duration(listedEnd: .seconds(20), hasFailed: false) == .seconds(20))
        extent.close(at: .seconds(19))
        #expect(extent.duration(listedEnd: .seconds(20), hasFailed: false) == .seconds(19))
        #expect(extent.duration(listedEnd: .seconds(20), hasFailed: true) == .seconds(20))
        _ = extent.setForwardEnd(.seconds(12), playhead: .zero)
        #expect(extent.duration(listedEnd: .seconds(20), hasFailed: false) == .seconds(20))
        _ = extent.setForwardEnd(nil, playhead: .zero)
        extent.reopen()
        #expect(extent.mediaEnd == nil)
    }

    @Test("loading elsewhere forgets the start and the end of the media")
    func jumps() throws {
        var extent = try Self.started(at: 4)
        extent.close(at: .seconds(19))
        extent.jump(to: .segmentStart(.seconds(8)))
        #expect((extent.start, extent.startWindow, extent.mediaEnd) == (.seconds(4), nil, nil))
    }

    private static func started(at seconds: Int) throws -> ItemExtent {
        var extent = ItemExtent()
        extent.begin(at: try place(at: seconds), until: nil)
        return extent
    }

    private static func place(at seconds: Int) throws -> StartPlace {
        let tracker = PlaylistTracker(
            try PlaylistText.numbered(0, count: 10, isEnded: true).parsed(), requestURL: "list", url: "list",
            start: .zero, loadBegan: .zero, now: .zero)
        var preferences = PlayerItemPreferences()
        preferences.startPosition = .time(.seconds(seconds))
        return StartPlace(in: tracker, preferences: preferences, tag: nil, liveOffset: .zero)
    }
}
