import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitSelection

@Suite("Playlist of a lane")
struct LanePlaylistTests {
    private static func tracker(isLive: Bool) throws -> PlaylistTracker {
        let list = try PlaylistText.numbered(0, count: 2, isEnded: !isLive).parsed()
        return PlaylistTracker(list, requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
    }

    @Test("a live playlist waits for a fresh URL and continues there; any other starts again")
    func parking() throws {
        for isLive in [true, false] {
            var follower = LanePlaylist(url: "list")
            follower.park()
            #expect(!follower.isKnown)
            follower.attach(try Self.tracker(isLive: isLive))
            follower.park()
            #expect(follower.tracker == nil)
            #expect((follower.parked != nil) == isLive)
            #expect(follower.isKnown == isLive)
            follower.renew("fresh")
            follower.unpark()
            #expect(follower.parked == nil)
            #expect(follower.tracker?.requestURL == (isLive ? "fresh" : nil))
        }
    }

    @Test("a parked playlist moves with the timeline and is dropped when the lane is redirected")
    func leaving() throws {
        var follower = LanePlaylist(url: "list")
        follower.attach(try Self.tracker(isLive: true))
        follower.shift(by: .seconds(1))
        #expect(follower.tracker?.start == .seconds(1))
        follower.park()
        follower.shift(by: .seconds(1))
        #expect(follower.parked?.start == .seconds(1))
        follower.leave(for: "other")
        #expect(follower.url == "other")
        #expect(!follower.isKnown)
        follower.park(try Self.tracker(isLive: true))
        #expect(follower.parked != nil)
    }

    @Test(
        "the previous playlist is kept for its successor and moves with the timeline", arguments: [false, true])
    func left(isParked: Bool) throws {
        var follower = LanePlaylist(url: "list")
        follower.leave(for: "list")
        #expect(follower.left == nil)
        follower.attach(try Self.tracker(isLive: true))
        if isParked { follower.park() }
        follower.leave(for: "other")
        follower.shift(by: .seconds(3))
        #expect(follower.left?.start == .seconds(3))
        follower.leave(for: "third")
        #expect(follower.left?.start == .seconds(3))
    }

    @Test("segments wait for the first reload after an idle period, not for an abandoned one")
    func requests() {
        var follower = LanePlaylist(url: "list")
        follower.awaitReload()
        follower.request(as: RequestID(rawValue: 1), at: .seconds(3))
        #expect(follower.requestBegan == .seconds(3))
        follower.forgetRequest()
        #expect(follower.request == nil)
        #expect(follower.awaitsReload)
        follower.answer()
        #expect(!follower.awaitsReload)
    }

    @Test("a playlist is reloaded when it may have changed, unless it has ended or is loading")
    func reloads() throws {
        var follower = LanePlaylist(url: "list")
        #expect(follower.reload(playhead: nil) == nil)
        follower.attach(try Self.tracker(isLive: true))
        for playhead in [nil, Duration.zero, .seconds(7)] {
            #expect(follower.reload(playhead: playhead) == .at(.seconds(4)))
        }
        follower.request(as: RequestID(rawValue: 1), at: .zero)
        #expect(follower.reload(playhead: nil) == nil)
        follower.answer()
        follower.attach(try Self.tracker(isLive: false))
        #expect(follower.reload(playhead: nil) == .never)
    }

    @Test("M05: a playlist is reloaded at once if the server supports blocking reloads")
    func held() throws {
        var text = PlaylistText.numbered(0, count: 4)
        text.header = ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"]
        var follower = LanePlaylist(url: "list")
        #expect(follower.directives(mayHold: true, neighbor: nil, at: .zero).0.awaited == nil)
        let tracker = PlaylistTracker(
            try text.parsed(), requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
        follower.attach(tracker)
        #expect(follower.reload(playhead: nil) == .held)
        #expect(follower.reload(playhead: nil, mayHold: false) == .at(.seconds(4)))
        let (directives, heldFor) = follower.directives(mayHold: true, neighbor: nil, at: .zero)
        #expect(heldFor == .seconds(8))
        #expect(directives.awaited == PartPosition(sequence: 4))
        let request = RequestID(rawValue: 1)
        follower.request(as: request, at: .zero, directives)
        #expect(follower.heldRequest == request)
        follower.answer()
        #expect(follower.heldRequest == nil)
        follower.noteList()
        #expect(follower.reload(playhead: nil) == .at(.seconds(4)))
        #expect(follower.directives(mayHold: true, neighbor: nil, at: .zero).0.awaited == nil)
        follower.leave(for: "other")
        follower.attach(tracker)
        #expect(follower.reload(playhead: nil) == .held)
        follower.request(as: request, at: .zero, directives)
        follower.forgetRequest()
        #expect(follower.heldRequest == nil)
    }

    @Test("C10: a playlist's first request uses the rendition report of another, with a short blocking time")
    func reported() throws {
        func list(_ reports: [String], control: String = "CAN-BLOCK-RELOAD=YES") throws -> PlaylistTracker {
            var text = PlaylistText.numbered(0, count: 4)
            text.header = ["#EXT-X-SERVER-CONTROL:" + control]
            let tail = reports.map { "#EXT-X-RENDITION-REPORT:\($0)\n" }.joined()
            let list = try MediaPlaylist(parsing: text.text + tail, url: "https://host/a/live.m3u8")
            return PlaylistTracker(
                list, requestURL: list.url, url: list.url, start: .zero, loadBegan: .zero, now: .zero)
        }
        let report = "URI=\"../b/live.m3u8\",LAST-MSN=7,LAST-PART=2"
        let position = PartPosition(sequence: 7, part: 2)
        var follower = LanePlaylist(url: "https://host/b/live.m3u8?token=1")
        let (directives, heldFor) = follower.directives(mayHold: true, neighbor: try list([report]), at: .zero)
        #expect(directives.awaited == position && directives.delta == nil)
        #expect(heldFor == .seconds(2))
        #expect(follower.directives(mayHold: false, neighbor: try list([report]), at: .zero).0.awaited == nil)
        follower.request(as: RequestID(rawValue: 1), at: .zero, directives)
        follower.answer()
        #expect(follower.noteFailure(.status(400, hasRetryAfter: false)) == true)
        #expect(follower.directives(mayHold: true, neighbor: try list([report]), at: .zero).0.awaited == nil)

        let url = "https://host/b/live.m3u8"
        let token = "URI=\"../b/live.m3u8?token=1\",LAST-MSN=8"
        #expect(try list([report]).reported(of: url) == position)
        #expect(try list([report, token]).reported(of: url + "?token=1") == PartPosition(sequence: 8))
        #expect(try list(["URI=\"../b/live.m3u8\""]).reported(of: url) == PartPosition(sequence: 3))
        #expect(try list([]).reported(of: url) == nil)
        #expect(try list(["URI=\"../c/live.m3u8\",LAST-MSN=7"]).reported(of: url) == nil)
        #expect(try list([report], control: "HOLD-BACK=12").reported(of: url) == nil)
    }
}
