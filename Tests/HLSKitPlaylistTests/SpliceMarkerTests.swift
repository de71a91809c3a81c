import HLSKitPlaylist
import Testing

@Suite("Break markers in playlists") struct SpliceMarkerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var line: String
        var kind: SpliceMarker.Kind
        var duration: Duration?
        var elapsed: Duration?
        var id: String?
        var scte35: String?
        var testDescription: String { line }

        init(
            _ line: String, _ kind: SpliceMarker.Kind, _ duration: Duration? = nil, elapsed: Duration? = nil,
            id: String? = nil, scte35: String? = nil
        ) {
            (self.line, self.kind, self.duration) = (line, kind, duration)
            (self.elapsed, self.id, self.scte35) = (elapsed, id, scte35)
        }
    }

    static let rows = [
        Row("EXT-X-CUE-OUT", .out),
        Row("EXT-X-CUE-OUT:", .out),
        Row("EXT-X-CUE-OUT:30", .out, .seconds(30)),
        Row("EXT-X-CUE-OUT:30.000", .out, .seconds(30)),
        Row("EXT-X-CUE-OUT: 29.97 ", .out, .milliseconds(29_970)),
        Row("EXT-X-CUE-OUT:0", .out),
        Row("EXT-X-CUE-OUT:-5", .out),
        Row("EXT-X-CUE-OUT:soon", .out),
        Row("EXT-X-CUE-OUT:99999999999999999999999", .out),
        Row("EXT-X-CUE-OUT:DURATION=30", .out, .seconds(30)),
        Row("EXT-X-CUE-OUT:DURATION=\"30.5\",ID=\"a,b\"", .out, .milliseconds(30_500), id: "a,b"),
        Row("EXT-X-CUE-OUT:ID=7, Duration=12,CUE=\"/DA=\"", .out, .seconds(12), id: "7", scte35: "/DA="),
        Row("EXT-X-CUE-OUT-CONT", .continued),
        Row("EXT-X-CUE-OUT-CONT:8/30", .continued, .seconds(30), elapsed: .seconds(8)),
        Row("EXT-X-CUE-OUT-CONT: 8.308/30", .continued, .seconds(30), elapsed: .milliseconds(8308)),
        Row("EXT-X-CUE-OUT-CONT:8/", .continued, elapsed: .seconds(8)),
        Row("EXT-X-CUE-OUT-CONT:4.5", .continued, elapsed: .milliseconds(4500)),
        Row(
            "EXT-X-CUE-OUT-CONT:ElapsedTime=5.939,Duration=201.467,SCTE35=/DAlAAAA/w==", .continued,
            .milliseconds(201_467), elapsed: .milliseconds(5939), scte35: "/DAlAAAA/w=="),
        Row("EXT-X-CUE-IN", .in),
        Row("EXT-X-CUE-IN:12", .in, .seconds(12)),
        Row("EXT-OATCLS-SCTE35:/DAlAAAA/w==", .message, scte35: "/DAlAAAA/w=="),
        Row("EXT-OATCLS-SCTE35", .message),
        Row("EXT-X-ASSET:CAID=0x0000000020FB6501,GENRE=\"CV\"", .asset),
        Row(
            "EXT-X-SCTE35:TYPE=0x34,CUE=\"/DA=\",CUE-OUT=YES,ID=\"9\",DURATION=60.0,ELAPSED=0", .out, .seconds(60),
            elapsed: .zero, id: "9", scte35: "/DA="),
        Row("EXT-X-SCTE35:CUE=\"/DA=\",CUE-OUT=CONT,ELAPSED=8", .continued, elapsed: .seconds(8), scte35: "/DA="),
        Row("EXT-X-SCTE35:CUE=\"/DA=\",CUE-OUT=NO", .in, scte35: "/DA="),
        Row("EXT-X-SCTE35:CUE=\"/DA=\",CUE-IN=YES", .in, scte35: "/DA="),
        Row("EXT-X-SCTE35:CUE=\"/DA=\"", .message, scte35: "/DA="),
        Row("EXT-X-SCTE35:/DAlAAAA/w==", .message, scte35: "/DAlAAAA/w=="),
        Row("EXT-X-SCTE35:0xFC30", .message, scte35: "0xFC30"),
        Row("EXT-X-SCTE35", .message),
    ]

    private static func list(_ lines: String) throws -> MediaPlaylist {
        var options = PlaylistParser.Options()
        options.mode = .strict
        return try MediaPlaylist(
            parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:10\n" + lines, url: "http://h/x.m3u8", options: options)
    }

    @Test("C16: packagers' marker forms are read without an issue", arguments: rows)
    func forms(_ row: Row) throws {
        let playlist = try Self.list("#\(row.line)\n#EXTINF:10,\na\n")
        let marker = try #require(playlist.segments[0].spliceMarkers.first)
        #expect(playlist.segments[0].spliceMarkers.count == 1)
        #expect(row.line.hasPrefix(marker.tag))
        #expect(marker.kind == row.kind)
        #expect(marker.duration == row.duration)
        #expect(marker.elapsed == row.elapsed)
        #expect(marker.id == row.id)
        #expect(marker.scte35 == row.scte35)
    }

    @Test("C16: attributes keep their order, and are found in any case")
    func attributes() throws {
        let playlist = try Self.list("#EXT-X-ASSET:CAID=0x01, X=\"a,b\" ,,NONE,=1,CAID=2,LAST=\n#EXTINF:1,\na\n")
        let marker = try #require(playlist.segments[0].spliceMarkers.first)
        #expect(marker.attributes.map(\.name) == ["CAID", "X", "CAID", "LAST"])
        #expect(marker[attribute: "caid"] == "0x01")
        #expect(marker[attribute: "X"] == "a,b")
        let many = (0..<500).map { "A\($0)=1" }.joined(separator: ",")
        #expect(
            try Self.list("#EXT-X-ASSET:\(many)\n#EXTINF:1,\na\n").segments[0].spliceMarkers[0].attributes.count == 100)
    }

    @Test("C16: markers belong to the following segment, and trailing ones to the upcoming segment")
    func places() throws {
        let text = """
            #EXTINF:4,
            a
            #EXT-OATCLS-SCTE35:/DA=
            #EXT-X-ASSET:CAID=1
            #EXT-X-CUE-OUT:8
            #EXTINF:4,
            b
            #EXT-X-CUE-OUT-CONT:4/8
            #EXTINF:4,
            c
            #EXT-X-CUE-IN
            """
        let playlist = try Self.list(text)
        #expect(
            playlist.segments.map { $0.spliceMarkers.map(\.kind) } == [[], [.message, .asset, .out], [.continued]])
        #expect(playlist.markedSegments == [1, 2, 3])
        #expect(playlist.upcomingSpliceMarkers.map(\.kind) == [.in])
        #expect(try Self.list("#EXTINF:4,\na\n").markedSegments == [])
        var edited = playlist
        edited.segments.removeFirst()
        #expect(edited.markedSegments == [0, 1])
        #expect(edited.upcomingSpliceMarkers == [])
    }

    @Test("C16: markers do not turn a multivariant playlist into a media playlist")
    func multivariant() throws {
        let text = "#EXTM3U\n#EXT-X-CUE-OUT:30\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n#EXT-X-CUE-IN\n"
        #expect(try MultivariantPlaylist(parsing: text, url: "x").variants.count == 1)
    }

    private static func live(_ numbers: Range<Int>, tail: String = "") -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        for number in numbers {
            if number % 5 == 0 { text += "#EXT-X-CUE-OUT:20\n#EXT-X-ASSET:CAID=\(number)\n" }
            if number % 5 == 2 { text += "#EXT-X-CUE-IN\n" }
            text += "#EXTINF:10,\n\(number).ts\n"
        }
        return text + tail
    }

    @Test("C16: a reload that reuses segments has the same markers as a fresh read", arguments: 0..<12)
    func reuse(_ step: Int) throws {
        let old = try MediaPlaylist(parsing: Self.live(3..<20), url: "x")
        let text = Self.live(3 + step..<21 + step, tail: step.isMultiple(of: 2) ? "#EXT-X-CUE-IN\n" : "")
        let fresh = try MediaPlaylist(parsing: text, url: "x")
        let reused = try MediaPlaylist(parsing: Array(text.utf8), url: "x", reusing: old)
        #expect(reused.segments.map(\.spliceMarkers) == fresh.segments.map(\.spliceMarkers))
        #expect(reused.markedSegments == fresh.markedSegments)
        #expect(reused.upcomingSpliceMarkers == fresh.upcomingSpliceMarkers)
        #expect(fresh.segments.contains { !$0.spliceMarkers.isEmpty })
    }

    @Test("C16: markers are written with their segments, and arrive with a delta update")
    func writing() throws {
        let text = Self.live(3..<12, tail: "#EXT-X-CUE-IN\n")
        var playlist = try MediaPlaylist(parsing: text, url: "x")
        #expect(String(decoding: playlist.text, as: UTF8.self) == text)
        playlist.segments.removeFirst(3)
        playlist.mediaSequence += 3
        let written = try MediaPlaylist(parsing: playlist.text, url: "x")
        let tags = written.segments.map { $0.spliceMarkers.map(\.tag) }
        #expect(tags == [[], ["EXT-X-CUE-IN"], [], [], ["EXT-X-CUE-OUT", "EXT-X-ASSET"], []])
        #expect(written.upcomingSpliceMarkers.map(\.kind) == [.in])

        let base = try MediaPlaylist(parsing: Self.live(3..<12), url: "x")
        let delta =
            "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:4\n#EXT-X-SKIP:SKIPPED-SEGMENTS=7\n"
            + "#EXTINF:10,\n11.ts\n#EXT-X-CUE-IN\n#EXTINF:10,\n12.ts\n"
        let merged = try base.merging(update: try MediaPlaylist(parsing: delta, url: "x"))
        let fresh = try MediaPlaylist(parsing: Self.live(4..<13), url: "x")
        #expect(merged.segments.map(\.spliceMarkers) == fresh.segments.map(\.spliceMarkers))
    }
}
