import HLSKitPlaylist
import Testing

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

@Suite struct PlaylistWriterTests {
    @Test(
        "an unchanged playlist is written byte for byte",
        arguments: [PlaylistParserTests.media, PlaylistParserTests.multivariant])
    func unchanged(_ source: String) throws {
        for source in [
            source, source + "\r\n# \u{2028} end\n", source.split(separator: "\n").joined(separator: "\r\n"),
        ] {
            #expect(text(try Playlist(parsing: source, url: "").text) == source)
        }
    }

    @Test("a changed segment changes its own lines only")
    func changedSegment() throws {
        var playlist = try MediaPlaylist(parsing: PlaylistParserTests.media, url: "")
        playlist.segments[1].uri = "signed.mp4?t=1"
        playlist.segments[3].duration = .milliseconds(3500)
        let expected = PlaylistParserTests.media
            .replacing("#EXTINF:5.994\nb.mp4", with: "#EXTINF:5.994\nsigned.mp4?t=1")
            .replacing("#EXTINF:4,", with: "#EXTINF:3.5,")
            // The next segment needs an offset because the previous range is now in another resource.
            .replacing("#EXT-X-BYTERANGE:10\n#EXT-X-BITRATE", with: "#EXT-X-BYTERANGE:10@150\n#EXT-X-BITRATE")
        let written = text(playlist.text)
        #expect(written.split(separator: "\n").sorted() == expected.split(separator: "\n").sorted())
        var again = try MediaPlaylist(parsing: playlist.text, url: "")
        #expect(again == playlist)
        again.segments[1].uri = "b.mp4"
        #expect(again.segments[1].duration == .milliseconds(5994))
    }

    @Test("keys, maps and dates stay in force when segments are removed, added or moved")
    func reorderedSegments() throws {
        let read = try MediaPlaylist(parsing: PlaylistParserTests.media, url: "")
        for order in [[1, 2, 3], [3], [2, 0], [3, 2, 1, 0], [0, 1, 1, 2], []] {
            var playlist = read
            playlist.segments = MediaSegments(order.map { read.segments[$0] })
            let again = try MediaPlaylist(parsing: playlist.text, url: "")
            #expect(again.segments.map(\.uri) == order.map { read.segments[$0].uri })
            #expect(again.segments.map(\.keys) == order.map { read.segments[$0].keys })
            #expect(again.segments.map(\.map) == order.map { read.segments[$0].map })
            #expect(again.segments.map(\.byteRange) == order.map { read.segments[$0].byteRange })
            #expect(again.segments.map(\.isGap) == order.map { read.segments[$0].isGap })
            #expect(again.segments.map(\.programDateTime) == order.map { read.segments[$0].programDateTime })
            #expect(again.trailingParts == read.trailingParts && again.preloadHints == read.preloadHints)
            #expect(again.targetDuration == read.targetDuration && again.version == read.version)
        }
    }

    @Test("the keys of segments are listed in order, and once for segments in a row")
    func keySets() throws {
        var segments = try MediaPlaylist(parsing: PlaylistParserTests.media, url: "").segments
        #expect(segments.keySets == [try #require(segments.first).keys, []])
        segments.append(try #require(segments.first))
        #expect(segments.keySets == [segments[0].keys, [], segments[0].keys])
        let clear = try MediaPlaylist(parsing: "#EXTM3U\n#EXTINF:4,\na\n#EXTINF:4,\nb\n", url: "").segments
        #expect(clear.keySets == [[]] && MediaSegments().keySets.isEmpty)
    }

    @Test("a renumbered segment keeps its implicit IV")
    func implicitIV() throws {
        var playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:258
                #EXT-X-KEY:METHOD=AES-128,URI="k"
                #EXTINF:2,
                a
                #EXTINF:2,
                b
                """, url: "")
        playlist.segments.removeFirst()
        playlist.mediaSequence = 7
        let segment = try #require(try MediaPlaylist(parsing: playlist.text, url: "").segments.first)
        #expect(segment.mediaSequence == 7 && segment.keys.first?.iv == [UInt8](repeating: 0, count: 14) + [1, 3])
    }

    @Test("a playlist made in code is read back as the same value")
    func handMade() throws {
        let key = EncryptionKey(method: .aes128, uri: "k", iv: [UInt8](repeating: 9, count: 16))
        let map = MediaInitializationSection(uri: "i.mp4", byteRange: ByteRange(offset: 1, length: 2))
        var playlist = MediaPlaylist(
            url: "https://h/", targetDuration: .seconds(4),
            segments: [
                MediaSegment(uri: "0", duration: .milliseconds(3999), title: "t, u", map: map),
                MediaSegment(
                    uri: "1", duration: .seconds(4), byteRange: .init(offset: 7, length: 8), keys: [key], map: map),
                MediaSegment(
                    uri: "2", duration: .seconds(4), map: map, hasDiscontinuity: true, isGap: true, bitRate: 5000,
                    programDateTime: PlaylistDate("2024-01-01T00:00:00Z"),
                    parts: [PartialSegment(uri: "p", duration: .seconds(1), isIndependent: true)]),
            ])
        playlist.version = 9
        playlist.hasEndList = true
        playlist.playlistType = .vod
        playlist.partTarget = .seconds(1)
        playlist.start = StartPoint(timeOffset: .milliseconds(-1500), isPrecise: true)
        playlist.serverControl = ServerControl(
            canSkipUntil: .seconds(24), partHoldBack: .seconds(3), canBlockReload: true)
        playlist.dateRanges = [
            DateRange(
                id: "d", startDate: PlaylistDate("2024-01-01T00:00:01.25Z"), duration: .seconds(3), cue: [.pre, .once])
        ]
        playlist.definitions = [VariableDefinition(name: "n", value: "v")]
        let again = try MediaPlaylist(parsing: playlist.text, url: "https://h/")
        #expect(again.issues.isEmpty)
        #expect(again.segments.map(\.uri) == ["0", "1", "2"])
        #expect(again.segments.map(\.keys) == playlist.segments.map(\.keys))
        #expect(again.segments.map(\.map) == playlist.segments.map(\.map))
        #expect(again.segments.map(\.duration) == playlist.segments.map(\.duration))
        #expect(again.segments.map(\.bitRate) == [nil, nil, 5000])
        #expect(again.segments[2].parts == playlist.segments[2].parts && again.segments[2].isGap)
        #expect(again.dateRanges == playlist.dateRanges && again.serverControl == playlist.serverControl)
        #expect(again.start == playlist.start && again.hasEndList && again.playlistType == .vod)
        #expect(again.definitions == playlist.definitions && again.partTarget == .seconds(1) && again.version == 9)
        #expect(try MediaPlaylist(parsing: again.text, url: "https://h/") == again)
    }

    @Test("playlist tags are changed, added and removed in place")
    func playlistTags() throws {
        let range = DateRange(id: "new", startDate: PlaylistDate("2024-01-01T00:00:00Z"))
        var playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                # head
                #EXT-X-TARGETDURATION:4
                #EXT-X-VERSION:3
                #EXT-X-DATERANGE:ID="a",START-DATE="2024-01-01T00:00:00Z",X-A=1
                #EXTINF:4,
                #EXT-X-CUE-OUT:30
                a.ts
                #EXT-X-DATERANGE:ID="b",START-DATE="2024-01-01T00:00:00Z"
                #EXTINF:4,
                b.ts
                """, url: "")
        playlist.version = nil
        playlist.playlistType = .vod
        playlist.hasEndList = true
        playlist.dateRanges[0].duration = .seconds(1)
        playlist.dateRanges.append(range)
        playlist.segments.removeLast()
        #expect(
            text(playlist.text) == """
                #EXTM3U
                #EXT-X-PLAYLIST-TYPE:VOD
                # head
                #EXT-X-TARGETDURATION:4
                #EXT-X-DATERANGE:ID="a",START-DATE="2024-01-01T00:00:00.000Z",DURATION=1,X-A=1
                #EXTINF:4,
                #EXT-X-CUE-OUT:30
                a.ts
                #EXT-X-DATERANGE:ID="b",START-DATE="2024-01-01T00:00:00Z"
                #EXT-X-DATERANGE:ID="new",START-DATE="2024-01-01T00:00:00.000Z"
                #EXT-X-ENDLIST

                """)
    }

    @Test("entries moved before their variable's definition are written with its value")
    func definitions() throws {
        let source = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1
            1.m3u8
            #EXT-X-DEFINE:NAME="a",VALUE="x"
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="{$a}"
            {$a}/2.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3
            {$a}/3.m3u8

            """
        var playlist = try MultivariantPlaylist(parsing: source, url: "")
        playlist.variants.swapAt(0, 1)
        #expect(
            text(playlist.text) == """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="x"
                x/2.m3u8
                #EXT-X-DEFINE:NAME="a",VALUE="x"
                #EXT-X-STREAM-INF:BANDWIDTH=1
                1.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=3
                {$a}/3.m3u8

                """)
    }

    @Test("variants are dropped, reordered, added and signed, and all other lines stay")
    func variants() throws {
        let source = """
            #EXTM3U
            ## first
            #EXT-X-STREAM-INF:BANDWIDTH=3,CODECS="a",X-NEW=1
            3.m3u8
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n"

            #EXT-X-STREAM-INF:BANDWIDTH=1
            # between
            1.m3u8
            #EXT-X-STREAM-INF:RESOLUTION=2x2,BANDWIDTH=2
            2.m3u8
            #EXT-X-UNKNOWN:1

            """
        let read = try MultivariantPlaylist(parsing: source, url: "")
        var sorted = read
        sorted.variants.sort { $0.bandwidth < $1.bandwidth }
        #expect(
            text(sorted.text) == """
                #EXTM3U
                ## first
                #EXT-X-STREAM-INF:BANDWIDTH=1
                1.m3u8
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n"

                #EXT-X-STREAM-INF:RESOLUTION=2x2,BANDWIDTH=2
                # between
                2.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=3,CODECS="a",X-NEW=1
                3.m3u8
                #EXT-X-UNKNOWN:1

                """)
        #expect(try MultivariantPlaylist(parsing: sorted.text, url: "") == sorted)
        var signed = read
        for index in signed.variants.indices { signed.variants[index].uri += "?token=x" }
        #expect(text(signed.text) == source.replacing(".m3u8", with: ".m3u8?token=x"))
        var edited = read
        edited.variants.removeFirst(2)
        edited.variants.append(
            VariantStream(uri: "9.m3u8", bandwidth: 9, resolution: .init(width: 3, height: 4), frameRate: 29.97))
        edited.variants.append(
            VariantStream(uri: "8.m3u8", bandwidth: 8, audio: "a", closedCaptions: ClosedCaptions.none))
        edited.variants.append(VariantStream(uri: "7.m3u8", bandwidth: 7))
        edited.renditions.append(Rendition(type: .audio, groupID: "a", name: "m", uri: "u", isDefault: true))
        edited.hasIndependentSegments = true
        edited.contentSteering = ContentSteering(serverURI: "/s", pathwayID: "p")
        #expect(try MultivariantPlaylist(parsing: edited.text, url: "") == edited)
        var empty = read
        empty.variants = []
        #expect(try MultivariantPlaylist(parsing: empty.text, url: "") == empty)
    }
}
