import HLSKitEngine
import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitSelection

@Suite("P01: Events of playlists") struct InterstitialEventTests {
    private func event(_ attributes: String, plan: String = "") throws -> InterstitialEvent? {
        let playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:6
                #EXT-X-DATERANGE:ID="i",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:06Z"\(plan),\(attributes)

                """, url: "https://example.com/x/v.m3u8")
        let range = try #require(playlist.dateRanges.first)
        let group = DateRangeMetadataGroup(dateRange: range, endDate: playlist.endDate(of: range))
        return InterstitialEvent(group, base: playlist.url)
    }

    @Test("a minimal date range has the specification's defaults")
    func defaults() throws {
        let event = try #require(try event(#"X-ASSET-URI="ad.m3u8""#))
        #expect(event.id == "i")
        #expect(event.start == .date(PlaylistDate("2026-01-01T00:00:06Z")!))
        #expect(event.content == .assets([InterstitialAsset(urlString: "https://example.com/x/ad.m3u8")]))
        #expect(event.cue == .noCue && !event.willPlayOnce)
        #expect(event.resumptionOffset.isIndefinite && event.playoutLimit == nil)
        #expect(event.restrictions.isEmpty && event.contentMayVary)
        #expect(event.timelineOccupancy == .singlePoint && !event.supplementsPrimaryContent)
        #expect(event.plannedDuration == nil && event.skipControl == nil && event.userDefinedAttributes.isEmpty)
        #expect(!event.alignsStartWithPrimarySegmentBoundary && !event.alignsResumptionWithPrimarySegmentBoundary)
    }

    @Test("every attribute is read")
    func everything() throws {
        let event = try #require(
            try event(
                #"CUE="POST,ONCE",X-ASSET-LIST="https://a.example/l",X-RESUME-OFFSET=-1.5,X-PLAYOUT-LIMIT=20,"#
                    + #"X-SNAP="OUT,IN",X-RESTRICT="SKIP,JUMP",X-CONTENT-MAY-VARY="NO",X-TIMELINE-OCCUPIES="RANGE","#
                    + #"X-TIMELINE-STYLE="PRIMARY",X-SKIP-CONTROL-OFFSET=3,X-SKIP-CONTROL-LABEL-ID="s",X-OTHER="o""#,
                plan: ",DURATION=30,PLANNED-DURATION=40"))
        #expect(event.content == .assetList("https://a.example/l"))
        #expect(event.cue == .leaveCue && event.willPlayOnce)
        #expect(event.resumptionOffset.duration == .milliseconds(-1500))
        #expect(event.playoutLimit?.duration == .seconds(20))
        #expect(
            event.restrictions == [
                .constrainsSeekingForwardInPrimaryContent, .requiresPlaybackAtPreferredRateForAdvancement,
            ])
        #expect(!event.contentMayVary)
        #expect(event.timelineOccupancy == .fill && event.supplementsPrimaryContent)
        #expect(event.alignsStartWithPrimarySegmentBoundary && event.alignsResumptionWithPrimarySegmentBoundary)
        #expect(event.plannedDuration == .seconds(30))
        #expect(event.skipControl == InterstitialSkipControl(offset: .seconds(3), labelID: "s"))
        #expect(event.userDefinedAttributes.map(\.name) == ["X-OTHER"])
        #expect(event.length(nil) == .seconds(20))
    }

    @Test(
        "its duration is the range's, or the planned one without it, within its limit",
        arguments: [
            (",DURATION=30", "", 30), (",PLANNED-DURATION=40", "", 40), (",END-DATE=\"2026-01-01T00:00:26Z\"", "", 20),
            ("", "", nil), (",DURATION=30", ",X-PLAYOUT-LIMIT=12", 12), (",DURATION=30", ",X-PLAYOUT-LIMIT=50", 30),
            ("", ",X-PLAYOUT-LIMIT=12", nil),
        ] as [(String, String, Double?)])
    func length(plan: String, more: String, expected: Double?) throws {
        let event = try #require(try event(#"X-ASSET-URI="a""# + more, plan: plan))
        #expect(event.length(nil) == expected.map { .seconds($0) })
        if expected != nil { #expect(event.length(.seconds(5)) == .seconds(5)) }
    }

    @Test("an event that lasts until the next of its class has that flag")
    func endOnNext() throws {
        let playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:6
                #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                #EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:06Z",END-ON-NEXT=YES,X-ASSET-URI="a"
                #EXT-X-DATERANGE:ID="b",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:21Z",X-ASSET-URI="b"
                #EXTINF:6,
                0

                """, url: "")
        let tracker = PlaylistTracker(
            playlist, requestURL: "", url: "", start: .zero, loadBegan: .zero, now: .zero)
        var reader = DateRangeReader()
        _ = reader.read(tracker)
        #expect(
            reader.groups.compactMap { InterstitialEvent($0, base: "https://a.example")?.plannedDuration } == [
                .seconds(15)
            ])
    }

    @Test(
        "an event without playable content is ignored",
        arguments: ["X-RESUME-OFFSET=0", #"X-ASSET-URI="""#, #"X-ASSET-LIST="https://h:port/""#])
    func refused(attributes: String) throws {
        #expect(try event(attributes) == nil)
    }

    @Test("a list overrides a single asset")
    func both() throws {
        #expect(try event(#"X-ASSET-URI="a",X-ASSET-LIST="l""#)?.content == .assetList("https://example.com/x/l"))
    }
}
