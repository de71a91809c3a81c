import HLSKitPlaylist
import Testing

private let url = "https://h.example/a/b/x.m3u8?user=7"

private func media(_ lines: String) throws -> MediaPlaylist {
    try MediaPlaylist(parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:10\n" + lines, url: url)
}

private func multivariant(_ lines: String) throws -> MultivariantPlaylist {
    try MultivariantPlaylist(parsing: "#EXTM3U\n" + lines, url: url)
}

/// The IDs come from Tests/FEATURES.md.
@Suite("Playlist features") struct FeatureTests {
    @Test("C01: a URL leads to variants, renditions, media playlists and their segments")
    func c01() throws {
        let top = try multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",URI="../en/a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="a"
            low/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,AUDIO="a"
            //cdn.example/high/v.m3u8

            """)
        let urls =
            top.variants.compactMap { top.resolve($0.uri) } + top.renditions.compactMap { top.resolve($0.uri ?? "") }
        #expect(
            urls == [
                "https://h.example/a/b/low/v.m3u8", "https://cdn.example/high/v.m3u8", "https://h.example/a/en/a.m3u8",
            ])
        let low = try MediaPlaylist(
            parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n?n=2\n", url: urls[0])
        #expect(
            low.segments.map { low.resolve($0.uri) } == [
                "https://h.example/a/b/low/1.ts", "https://h.example/a/b/low/v.m3u8?n=2",
            ])
    }

    @Test("C03: every attribute of a variant is read, unknown ones are kept")
    func c03() throws {
        let line = """
            BANDWIDTH=8000000,AVERAGE-BANDWIDTH=6000000,CODECS="hvc1.2.4.L153.B0,ec-3",\
            SUPPLEMENTAL-CODECS="dvh1.08.07/db4h",RESOLUTION=3840x2160,FRAME-RATE=59.940,HDCP-LEVEL=TYPE-1,\
            VIDEO-RANGE=PQ,REQ-VIDEO-LAYOUT="CH-STEREO",SCORE=7.5,STABLE-VARIANT-ID="uhd",PATHWAY-ID="CDN-B",\
            ALLOWED-CPC="com.example.drm:A/B",NAME="UHD",X-OURS="kept"
            """
        let variant = try multivariant("#EXT-X-STREAM-INF:\(line)\nv\n").variants[0]
        #expect(variant.bandwidth == 8_000_000 && variant.averageBandwidth == 6_000_000)
        #expect(variant.codecs == ["hvc1.2.4.L153.B0", "ec-3"] && variant.supplementalCodecs == "dvh1.08.07/db4h")
        #expect(variant.resolution == Resolution(width: 3840, height: 2160) && variant.frameRate == 59.94)
        #expect(variant.hdcpLevel == .type1 && variant.videoRange == .pq && variant.requiredVideoLayout == "CH-STEREO")
        #expect(variant.score == 7.5 && variant.stableVariantID == "uhd" && variant.pathwayID == "CDN-B")
        #expect(variant.allowedCPC == "com.example.drm:A/B" && variant.name == "UHD")
        #expect(variant.otherAttributes == [PlaylistAttribute(name: "X-OURS", value: "kept", isQuoted: true)])
    }

    @Test("C04: renditions of every type are read with every attribute")
    func c04() throws {
        let playlist = try multivariant(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",ASSOC-LANGUAGE="gsw",DEFAULT=YES,\
            AUTOSELECT=YES,CHANNELS="6",CHARACTERISTICS="public.accessibility.describes-video",\
            STABLE-RENDITION-ID="de51",URI="de.m3u8"
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Tribune",URI="t.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",FORCED=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",LANGUAGE="en",INSTREAM-ID="CC1"

            """)
        #expect(playlist.renditions.map(\.type) == [.audio, .video, .subtitles, .closedCaptions])
        let audio = playlist.renditions[0]
        #expect(audio.language == "de" && audio.assocLanguage == "gsw" && audio.isDefault && audio.isAutoselect)
        #expect(audio.channelCount == 6 && audio.characteristics == ["public.accessibility.describes-video"])
        #expect(audio.stableRenditionID == "de51" && audio.name == "Deutsch" && audio.uri == "de.m3u8")
        #expect(playlist.renditions[2].isForced && playlist.renditions[3].instreamID == "CC1")
        #expect(playlist.renditions(.subtitles, groupID: "s").map(\.name) == ["English"] && playlist.issues.isEmpty)
    }

    @Test("C05: VOD, EVENT and live are distinguished, and an end turns live into VOD")
    func c05() throws {
        let vod = try media("#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:9.5,\na\n#EXTINF:0.5,\nb\n#EXT-X-ENDLIST\n")
        #expect(vod.playlistType == .vod && vod.hasEndList && vod.duration == .seconds(10))
        let event = try media("#EXT-X-PLAYLIST-TYPE:EVENT\n#EXTINF:9,\na\n")
        #expect(event.playlistType == .event && !event.hasEndList)
        let live = "#EXT-X-MEDIA-SEQUENCE:5\n#EXTINF:9,\na\n"
        let before = try media(live)
        let after = try MediaPlaylist(
            parsing: Array(("#EXTM3U\n#EXT-X-TARGETDURATION:10\n" + live + "#EXT-X-ENDLIST\n").utf8), url: url,
            reusing: before)
        #expect(before.playlistType == nil && !before.hasEndList && after.hasEndList)
        #expect(after.segments == before.segments)
    }

    @Test("C07: discontinuities are numbered, may change the map, and align renditions")
    func c07() throws {
        let playlist = try media(
            """
            #EXT-X-DISCONTINUITY-SEQUENCE:3
            #EXT-X-MAP:URI="m1"
            #EXTINF:9,
            a
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="m2"
            #EXTINF:9,
            ad
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="m1"
            #EXTINF:9,
            b

            """)
        #expect(playlist.segments.map(\.discontinuitySequence) == [3, 4, 5])
        #expect(playlist.segments.map { $0.map?.uri } == ["m1", "m2", "m1"])
    }

    @Test("C08: maps, byte ranges, gaps and bit rates are read; variables are replaced before resolving")
    func c08() throws {
        var options = PlaylistParser.Options()
        options.importedVariables = ["cdn": "https://cdn.example"]
        let playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:10
                #EXT-X-DEFINE:NAME="dir",VALUE="x/y"
                #EXT-X-DEFINE:IMPORT="cdn"
                #EXT-X-DEFINE:QUERYPARAM="user"
                #EXT-X-MAP:URI="{$dir}/init.mp4",BYTERANGE="600@0"
                #EXT-X-BITRATE:1500
                #EXTINF:9,
                #EXT-X-BYTERANGE:1000@600
                {$dir}/a.mp4
                #EXT-X-BYTERANGE:500
                #EXTINF:9,
                {$dir}/a.mp4
                #EXT-X-GAP
                #EXTINF:9,
                {$cdn}/b.mp4?u={$user}

                """, url: url, options: options)
        #expect(
            playlist.segments.map { playlist.resolve($0.uri) } == [
                "https://h.example/a/b/x/y/a.mp4", "https://h.example/a/b/x/y/a.mp4", "https://cdn.example/b.mp4?u=7",
            ])
        #expect(playlist.segments.map { $0.byteRange?.offset } == [600, 1600, nil])
        #expect(playlist.segments.map(\.isGap) == [false, false, true])
        #expect(playlist.segments.map(\.bitRate) == [nil, nil, 1_500_000])
        #expect(playlist.segments[2].map?.uri == "x/y/init.mp4" && playlist.segments[2].map?.byteRange?.length == 600)
    }

    @Test("C09: a start is read, from the beginning or the end, precise or not")
    func c09() throws {
        let start = try media("#EXT-X-START:TIME-OFFSET=-12.5,PRECISE=YES\n#EXTINF:9,\na\n").start
        #expect(start?.timeOffset == .milliseconds(-12_500) && start?.isPrecise == true)
        #expect(
            try multivariant("#EXT-X-START:TIME-OFFSET=3\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n").start?.isPrecise == false
        )
    }

    @Test("C10: a delta update and rendition reports are read")
    func c10() throws {
        let old = try media("#EXT-X-MEDIA-SEQUENCE:5\n#EXTINF:9,\na\n#EXTINF:9,\nb\n")
        let update = try media(
            """
            #EXT-X-MEDIA-SEQUENCE:6
            #EXT-X-SKIP:SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES="x\ty"
            #EXTINF:9,
            c
            #EXT-X-RENDITION-REPORT:URI="../v2.m3u8"

            """)
        let merged = try old.merging(update: update)
        #expect(merged.segments.map(\.uri) == ["b", "c"] && merged.segments.map(\.mediaSequence) == [6, 7])
        #expect(update.skip?.recentlyRemovedDateRanges == ["x", "y"])
        #expect(merged.renditionReports.map(\.lastMediaSequence) == [7])
    }

    @Test("C11: session data, session keys and independent segments are read")
    func c11() throws {
        let playlist = try multivariant(
            """
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-SESSION-DATA:DATA-ID="com.example.title",VALUE="Der Film",LANGUAGE="de"
            #EXT-X-SESSION-DATA:DATA-ID="com.example.title",VALUE="The film",LANGUAGE="en"
            #EXT-X-SESSION-DATA:DATA-ID="com.example.cast",URI="cast.json",FORMAT=JSON
            #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v

            """)
        #expect(playlist.hasIndependentSegments)
        #expect(playlist.sessionData.map(\.language) == ["de", "en", nil])
        #expect(playlist.sessionData[2].uri == "cast.json" && playlist.sessionKeys.map(\.method) == [.sampleAES])
    }

    @Test("C12: I-frame variants and their playlists are read")
    func c12() throws {
        let top = try multivariant(
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9,CODECS=\"mjpg\",RESOLUTION=2x2,URI=\"i.m3u8\"\n")
        #expect(top.iFrameVariants.map(\.uri) == ["i.m3u8"] && top.iFrameVariants[0].codecs == ["mjpg"])
        #expect(!top.lint().contains { $0.issue.rule == .codecs })
        let frames = try media(
            "#EXT-X-I-FRAMES-ONLY\n#EXT-X-BYTERANGE:9@0\n#EXTINF:2,\nv.mp4\n#EXTINF:2,\n#EXT-X-BYTERANGE:8@50\nv.mp4\n")
        #expect(frames.isIFramesOnly && frames.segments.map { $0.byteRange?.offset } == [0, 50])
    }

    @Test("C13: variants that differ only in their host stay separate, in text order")
    func c13() throws {
        let line = "#EXT-X-STREAM-INF:BANDWIDTH=5,CODECS=\"avc1.64001f\""
        let playlist = try multivariant("\(line)\nhttps://one.example/v\n\(line)\nhttps://two.example/v\n")
        #expect(playlist.variants.map(\.uri) == ["https://one.example/v", "https://two.example/v"])
    }

    @Test("C14: lenient reading reports, strict reading stops with the line, and lint explains the fix")
    func c14() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:nonsense,\na.ts\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n"
        let lenient = try MediaPlaylist(parsing: text, url: url)
        #expect(lenient.segments.map(\.uri) == ["a.ts", "b.ts"])
        #expect(lenient.issues.map(\.line) == [3])
        let error = #expect(throws: PlaylistError.self) {
            try MediaPlaylist(parsing: text, url: url, options: .init(mode: .strict))
        }
        #expect(error?.line == 3)
        #expect(lenient.lint().contains { $0.issue.line == 3 && !$0.remedy.isEmpty })
    }

    @Test("C15: hostile playlists exceed a named limit or are read in bounds; see also LimitsTests")
    func c15() throws {
        let line = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n" + String(repeating: "a", count: 70_000) + "\n"
        let error = #expect(throws: PlaylistError.self) { try MediaPlaylist(parsing: line, url: url) }
        #expect(error?.code == .limitExceeded && error?.text.contains("maximumLineByteCount = 65536") == true)
        // The parser accepts any URI because it never opens one.
        let file = try media("#EXTINF:9,\nfile:///etc/passwd\n#EXT-X-SKIP:SKIPPED-SEGMENTS=9000000000\n")
        #expect(file.resolve(file.segments[0].uri) == "file:///etc/passwd")
    }
}
