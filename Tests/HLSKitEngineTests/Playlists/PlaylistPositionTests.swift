import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// Segments last 4 s.
@Suite("Playlists on the timeline")
struct ListPlaceTests {
    private static func tracker(_ sequence: Int, count: Int, isEnded: Bool = false) throws -> PlaylistTracker {
        PlaylistTracker(
            try PlaylistText.numbered(sequence, count: count, isEnded: isEnded).parsed(), requestURL: "list",
            url: "list", start: .zero, loadBegan: .zero, now: .zero)
    }

    private static func place(_ text: PlaylistText, relativeTo reference: PlaylistTracker? = nil) throws
        -> PlaylistResponse.PlaylistPosition
    {
        PlaylistResponse.PlaylistPosition(
            of: try text.parsed(), url: "https://host/other", in: MediaLane(id: .audio, playlistURL: "other"),
            known: nil, PlaylistResponse.PlaylistPosition.Facts(reference: reference), at: .seconds(1))
    }

    @Test("the first playlist starts at zero, a joining one where its media sequence says")
    func start() throws {
        let first = try Self.place(.numbered(5, count: 5))
        #expect(first.tracker.start == .zero)
        #expect(first.isNew)
        #expect(first.isNews)
        let joined = try Self.place(.numbered(5, count: 5), relativeTo: try Self.tracker(0, count: 10))
        #expect(joined.tracker.start == .seconds(20))
        #expect(joined.tracker.requestURL == "other")
        #expect(joined.tracker.url == "https://host/other")
    }

    @Test("a playlist without news compared with another changes nothing, unless it has ended")
    func news() throws {
        let reference = try Self.tracker(0, count: 10)
        #expect(try !Self.place(.numbered(5, count: 5), relativeTo: reference).isNews)
        #expect(try Self.place(.numbered(5, count: 6), relativeTo: reference).isNews)
        #expect(try Self.place(.numbered(5, count: 5, isEnded: true), relativeTo: reference).isNews)
    }

    @Test("an ended playlist is reused unchanged")
    func known() throws {
        let known = try Self.tracker(0, count: 3, isEnded: true)
        let lane = MediaLane(id: .main, playlistURL: "list")
        let place = PlaylistResponse.PlaylistPosition(
            of: known.playlist, url: "list", in: lane, known: known, PlaylistResponse.PlaylistPosition.Facts(),
            at: .seconds(9))
        #expect(!place.isNew)
        #expect(place.isNews)
    }

    @Test("a newer playlist reports the lane's next segment")
    func update() throws {
        var lane = MediaLane(id: .main, playlistURL: "list")
        let list = try PlaylistText.numbered(3, count: 10).parsed()
        let none = PlaylistResponse.PlaylistUpdate(
            of: lane, with: list, url: "list", loadBegan: .seconds(4), at: .seconds(4), relativeTo: nil)
        #expect(none == nil)
        lane.playlist.attach(try Self.tracker(0, count: 10))
        lane.move(to: .position(SegmentPosition(epoch: 0, sequence: 2)))
        let newer = PlaylistResponse.PlaylistUpdate(
            of: lane, with: list, url: "list", loadBegan: .seconds(4), at: .seconds(4), relativeTo: nil)
        #expect(newer?.kind == .changed)
        #expect(newer?.isNews == true)
        #expect(newer?.resumeTime == .seconds(8))
        #expect(newer?.tracker.start == .seconds(12))
        let same = PlaylistResponse.PlaylistUpdate(
            of: lane, with: try PlaylistText.numbered(0, count: 10).parsed(), url: "list", loadBegan: .seconds(4),
            at: .seconds(4), relativeTo: nil)
        #expect(same?.isNews == false)
    }

    @Test("lanes start at the item's position, subtitles not before the playhead")
    func lanes() throws {
        for id in [LaneID.audio, .subtitles] {
            for isExact in [false, true] {
                var lane = MediaLane(id: id, playlistURL: "list")
                #expect(!lane.canStart)
                lane.playlist.attach(try Self.tracker(0, count: 10, isEnded: true))
                #expect(lane.canStart)
                lane.start(at: .seconds(6), playhead: .seconds(13), isExact: isExact)
                let time = Duration.seconds(id == .subtitles ? 13 : 6)
                let sequence = id == .subtitles ? 3 : 1
                #expect(
                    lane.cursor
                        == (isExact ? .position(SegmentPosition(epoch: 0, sequence: sequence)) : .time(time)))
                #expect(lane.loadedEnd == (id == .subtitles ? time : nil))
                #expect(!lane.canStart)
            }
        }
    }

    @Test("loaded playlists are identified by the requested URL")
    func knownLists() throws {
        var lists = ItemState.KnownPlaylists()
        let tracker = try Self.tracker(0, count: 3, isEnded: true)
        lists.keep(tracker.playlist, requestURL: "a", url: "https://host/a")
        #expect(lists["a"]?.url == "https://host/a")
        #expect(lists["a"]?.tracker == nil)
        lists.keep(tracker, url: "https://host/list")
        #expect(lists["list"]?.tracker?.segmentCount == 3)
        lists.forget()
        #expect(lists["a"] == nil)
    }
}

@Suite("Responses to playlist requests")
struct PlaylistResponseTests {
    private static func kind(isReload: Bool, leadsTo url: String?, isKnown: Bool) throws -> String {
        var table = RequestTable()
        let id = table.begin(.mediaPlaylist(.main), url: "list", isReload: isReload, at: .zero)
        let request = try #require(table[id])
        let list = try PlaylistText.numbered(0, count: 2).parsed()
        let loaded = LoadedPlaylist(playlist: .media(list), url: "https://host/list", byteCount: 9, warnings: [])
        switch PlaylistResponse(.success(loaded), to: request, leadsTo: url, isKnown: isKnown) {
        case .useless: return "useless"
        case .late: return "late"
        case .first: return "first"
        case .newer: return "newer"
        }
    }

    @Test("a playlist is used by the lane that still requests it, as its first or a newer one")
    func answers() throws {
        #expect(try Self.kind(isReload: false, leadsTo: "list", isKnown: false) == "first")
        #expect(try Self.kind(isReload: true, leadsTo: "list", isKnown: true) == "newer")
        #expect(try Self.kind(isReload: true, leadsTo: "list", isKnown: false) == "first")
        #expect(try Self.kind(isReload: false, leadsTo: "other", isKnown: true) == "late")
        #expect(try Self.kind(isReload: true, leadsTo: nil, isKnown: false) == "late")
    }

    @Test("only an ended playlist is empty for good")
    func empty() throws {
        #expect(try PlaylistText(isEnded: true).parsed().emptiness(at: "list")?.kind == .malformed)
        #expect(try PlaylistText(isEnded: false).parsed().emptiness(at: "list") == nil)
        #expect(try PlaylistText.numbered(0, count: 1, isEnded: true).parsed().emptiness(at: "list") == nil)
    }
}
