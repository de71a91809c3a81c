import HLSKitPlaylist
import Testing

@Suite struct PlaylistParserTests {
    static let media = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:41
        #EXT-X-DISCONTINUITY-SEQUENCE:3
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="720"
        #EXT-X-KEY:METHOD=AES-128,URI="k1",IV=0xAB
        #EXT-X-PROGRAM-DATE-TIME:2024-02-29T23:59:58.5+01:00
        #EXTINF:6.006,first, with a comma
        a.mp4
        #EXT-X-BYTERANGE:100@50
        #EXTINF:5.994
        b.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-BYTERANGE:10
        #EXT-X-BITRATE:800
        #EXTINF:0.000000001,
        b.mp4
        #EXT-X-KEY:METHOD=NONE
        #EXT-X-GAP
        #EXTINF:4,
        c.mp4
        #EXT-X-PART:DURATION=0.5,URI="d.0.mp4",INDEPENDENT=YES
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="d.1.mp4"
        #EXT-X-UNKNOWN:yes
        # a comment
        """

    static let multivariant = """
        #EXTM3U
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English, dubbed",DEFAULT=YES,AUTOSELECT=YES,URI="a/en.m3u8",CHANNELS="6"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000000,AVERAGE-BANDWIDTH=4,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=1920x1080,AUDIO="a"

        # between
        v/1.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"
        #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="x"
        #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://1",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXT-X-CONTENT-STEERING:SERVER-URI="/steer",PATHWAY-ID="A"
        """

    @Test("a media playlist gives every segment its applicable values")
    func mediaPlaylist() throws {
        let playlist = try MediaPlaylist(parsing: Self.media, url: "https://h/p/x.m3u8")
        #expect(playlist.version == 7 && playlist.targetDuration == .seconds(6))
        let segments = playlist.segments
        #expect(segments.map(\.uri) == ["a.mp4", "b.mp4", "b.mp4", "c.mp4"])
        #expect(segments.map(\.mediaSequence) == [41, 42, 43, 44])
        #expect(segments.map(\.discontinuitySequence) == [3, 3, 4, 4])
        #expect(segments.map(\.hasDiscontinuity) == [false, false, true, false])
        #expect(
            segments.map(\.duration) == [.milliseconds(6006), .milliseconds(5994), .nanoseconds(1), .seconds(4)])
        #expect(segments[0].title == "first, with a comma" && segments[1].title == "")
        #expect(
            segments.map(\.byteRange) == [nil, .init(offset: 50, length: 100), .init(offset: 150, length: 10), nil])
        #expect(segments.map(\.bitRate) == [nil, nil, nil, 800_000])
        #expect(segments.map(\.isGap) == [false, false, false, true])
        #expect(segments[1].keys.map(\.uri) == ["k1"] && segments[3].keys.isEmpty)
        #expect(segments[0].keys.first.map { segments[0].initializationVector(for: $0).last } == 0xAB)
        #expect(segments[2].map?.byteRange == ByteRange(offset: 0, length: 720))
        #expect(segments[0].programDateTime?.description == "2024-02-29T22:59:58.500Z")
        #expect(segments[1].programDateTime == nil)
        #expect(segments[3].derivedProgramDateTime?.description == "2024-02-29T23:00:10.500000001Z")
        #expect(playlist.trailingParts.map(\.uri) == ["d.0.mp4"])
        #expect(playlist.preloadHints.map(\.uri) == ["d.1.mp4"])
        #expect(playlist.resolve("a.mp4") == "https://h/p/a.mp4")
    }

    @Test("a multivariant playlist gives variants, renditions and session tags")
    func multivariantPlaylist() throws {
        let playlist = try MultivariantPlaylist(parsing: Self.multivariant, url: "https://h/x.m3u8")
        let variant = try #require(playlist.variants.first)
        #expect(variant.uri == "v/1.m3u8" && variant.bandwidth == 5_000_000_000 && variant.averageBandwidth == 4)
        #expect(variant.codecs == ["avc1.640028", "mp4a.40.2"] && variant.resolution?.height == 1080)
        let rendition = try #require(playlist.renditions(.audio, groupID: "a").first)
        #expect(rendition.name == "English, dubbed" && rendition.isDefault && rendition.channelCount == 6)
        #expect(playlist.iFrameVariants.map(\.uri) == ["i.m3u8"])
        #expect(playlist.sessionData.map(\.value) == ["x"])
        #expect(playlist.sessionKeys.map(\.method) == [.sampleAES])
        #expect(playlist.contentSteering?.pathwayID == "A")
        #expect(playlist.hasIndependentSegments && playlist.issues.isEmpty)
    }

    @Test("any split of the bytes gives the same playlist", arguments: [media, multivariant])
    func anySplit(_ text: String) throws {
        for text in [text, text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")] {
            let bytes = Array(text.utf8)
            let whole = try Playlist(parsing: bytes, url: "https://h/x.m3u8")
            for split in 0...bytes.count {
                var parser = PlaylistParser(url: "https://h/x.m3u8")
                try parser.append(bytes[..<split])
                try parser.append(bytes[split...])
                #expect(try parser.finish() == whole)
            }
            var parser = PlaylistParser(url: "https://h/x.m3u8")
            for byte in bytes { try parser.append([byte]) }
            let single = try parser.finish()
            #expect(single == whole && single.issues == whole.issues)
        }
    }

    @Test("complete lines are read before the rest arrives")
    func incremental() throws {
        var parser = PlaylistParser(url: "https://h/x.m3u8")
        try parser.append(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.t".utf8))
        #expect(parser.kind == .media && parser.segments.map(\.uri) == ["a.ts"])
        try parser.append(Array("s\n".utf8))
        #expect(parser.segments.map(\.uri) == ["a.ts", "b.ts"])
        parser = PlaylistParser(url: "https://h/x.m3u8")
        try parser.append(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n#EXT-X-ST".utf8))
        #expect(parser.kind == .multivariant && parser.variants.map(\.uri) == ["a.m3u8"])
    }

    @Test("other data is refused early, with its type and first characters")
    func notAPlaylist() throws {
        var options = PlaylistParser.Options()
        options.contentType = "text/html"
        var parser = PlaylistParser(url: "https://h/x.m3u8", options: options)
        let error = #expect(throws: PlaylistError.self) {
            try parser.append(Array("<!DOCTYPE html>\n<html>".utf8))
        }
        #expect(error?.code == .notAPlaylist)
        #expect(error?.text == "not an HLS playlist (text/html, a web page): no #EXTM3U")
    }

    @Test(
        "content of another kind is named in the error",
        arguments: [
            (
                "<html><script>src: 'https:\\/\\/a.example\\/x\\/master.m3u8?t=1&u=2'</script>",
                "a web page; it names https://a.example/x/master.m3u8?t=1&u=2"
            ),
            ("\n<!DOCTYPE HTML>\n<p>.m3u8", "a web page"),
            ("<?xml version=\"1.0\"?>\n<MPD xmlns=\"x\">", "a DASH manifest"),
            ("[playlist]\nFile1=http://a/b", "a PLS list, which names streams in lines File1=URL"),
            ("{\"error\":\"geo blocked\"}", "JSON"), ("\u{1F}", "empty"),
            ("0000ftypisom", "MP4 media"), ("hello", "starts with hello"),
        ])
    func foreignContent(text: String, words: String) {
        let error = #expect(throws: PlaylistError.self) {
            try Playlist(parsing: Array(text.utf8), url: "http://h/x.m3u8")
        }
        #expect(error?.text == "not an HLS playlist (\(words)): no #EXTM3U")
    }
}
