import HLSKitPlaylist
import Testing

/// Two variants, audio, subtitles and I-frames, with playlists that each case changes.
private struct Presentation {
    var top = """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",LANGUAGE="en",URI="audio"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="n",LANGUAGE="en",URI="text"
        #EXT-X-STREAM-INF:BANDWIDTH=100000,AVERAGE-BANDWIDTH=100000,CODECS="mp4a.40.2",AUDIO="a",SUBTITLES="s"
        low
        #EXT-X-STREAM-INF:BANDWIDTH=180000,AVERAGE-BANDWIDTH=180000,CODECS="mp4a.40.2",AUDIO="a",SUBTITLES="s"
        high
        #EXT-X-STREAM-INF:BANDWIDTH=190000,AVERAGE-BANDWIDTH=180000,CODECS="mp4a.40.2",AUDIO="a",SUBTITLES="s"
        ./high
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,CODECS="avc1.64001f",RESOLUTION=2x2,URI="frames"

        """
    var files = [
        "audio": Self.media(bytes: 10_000), "text": Self.media(bytes: 0), "low": Self.media(bytes: 40_000),
        "high": Self.media(bytes: 80_000),
        "frames": Self.media(bytes: 100).replacing("TARGETDURATION", with: "I-FRAMES-ONLY\n#EXT-X-TARGETDURATION"),
    ]

    static func media(bytes: Int) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        for index in 0..<3 { text += "#EXTINF:4,\n#EXT-X-BYTERANGE:\(bytes)@\(index * bytes)\nm\n" }
        return text + "#EXT-X-ENDLIST\n"
    }

    mutating func edit(_ file: String, _ old: String, _ new: String) {
        files[file] = files[file]?.replacing(old, with: new)
    }

    func findings() throws -> [LintFinding] {
        var lint = PresentationLint(try MultivariantPlaylist(parsing: top, url: "https://h/top"))
        #expect(lint.references.map(\.url) == ["low", "high", "audio", "text", "frames"].map { "https://h/\($0)" })
        for reference in lint.references {
            guard let url = reference.url, let text = files[String(url.dropFirst("https://h/".count))] else { continue }
            let playlist = try MediaPlaylist(parsing: text, url: url)
            lint.add(MediaPlaylistFacts(playlist, bitRates: SegmentBitRates(of: playlist)), for: reference)
        }
        return lint.findings()
    }
}

@Suite("Findings across playlists") struct PresentationLintTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rule: PlaylistRule
        var severity = PlaylistIssue.Severity.error
        var file: String?
        fileprivate var edit: @Sendable (inout Presentation) -> Void

        fileprivate init(
            _ name: String, _ rule: PlaylistRule, _ severity: PlaylistIssue.Severity = .error, in file: String?,
            edit: @escaping @Sendable (inout Presentation) -> Void
        ) {
            testDescription = name
            self.rule = rule
            self.severity = severity
            self.file = file
            self.edit = edit
        }
    }

    @Test("a consistent presentation has no findings")
    func clean() throws { #expect(try Presentation().findings().isEmpty) }

    @Test(
        "each inconsistent playlist gives one finding",
        arguments: [
            Case("another target duration", .alignedTargetDuration, in: "high") {
                $0.edit("high", "TARGETDURATION:4", "TARGETDURATION:5")
            },
            Case("another type", .alignedType, in: "audio") { $0.edit("audio", "#EXT-X-PLAYLIST-TYPE:VOD\n", "") },
            Case("not complete", .alignedType, .warning, in: "text") { $0.edit("text", "#EXT-X-ENDLIST\n", "") },
            Case("dates here only", .alignedDates, in: "audio") {
                for file in ["low", "high", "text", "frames"] {
                    $0.edit(file, "#EXTINF", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF")
                }
            },
            Case("other dates", .alignedDates, in: "high") {
                for file in $0.files.keys {
                    let second = file == "high" ? "1" : "0"
                    $0.edit(file, ":VOD\n", ":VOD\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:0\(second)Z\n")
                }
            },
            Case("longer", .alignedDuration, in: "high") {
                $0.edit(
                    "high", "#EXT-X-ENDLIST",
                    "#EXTINF:4,\n#EXT-X-BYTERANGE:80000@240000\nm\n#EXTINF:4,\n#EXT-X-BYTERANGE:80000@320000\nm\n#EXT-X-ENDLIST"
                )
            },
            Case("more discontinuities", .alignedDiscontinuities, in: "audio") {
                $0.edit(
                    "audio", "#EXTINF:4,\n#EXT-X-BYTERANGE:10000@10000",
                    "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n#EXT-X-BYTERANGE:10000@10000")
            },
            Case("discontinuities elsewhere", .alignedDiscontinuities, in: "audio") {
                for (file, place) in [("low", 40_000), ("high", 80_000), ("audio", 20_000)] {
                    $0.edit(
                        file, "#EXT-X-BYTERANGE:\(file == "audio" ? 10_000 : place)@\(place)",
                        "#EXT-X-DISCONTINUITY\n#EXT-X-BYTERANGE:\(file == "audio" ? 10_000 : place)@\(place)")
                }
            },
            Case("other numbers", .alignedMediaSequence, .warning, in: "high") {
                $0.edit("high", "#EXT-X-PLAYLIST", "#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-PLAYLIST")
            },
            Case("I-frames that are none", .iFramesOnly, in: "frames") {
                $0.edit("frames", "#EXT-X-I-FRAMES-ONLY\n", "")
            },
            Case("a variant of I-frames", .iFramesOnly, in: "text") {
                $0.edit("text", "#EXT-X-PLAYLIST", "#EXT-X-I-FRAMES-ONLY\n#EXT-X-PLAYLIST")
            },
            Case("a peak above BANDWIDTH", .bandwidth, in: nil) {
                $0.top = $0.top.replacing("BANDWIDTH=190000", with: "BANDWIDTH=150000")
            },
            Case("a peak a little above BANDWIDTH", .bandwidth, .warning, in: nil) {
                $0.top = $0.top.replacing("BANDWIDTH=190000", with: "BANDWIDTH=170000")
            },
            Case("a peak far below BANDWIDTH", .bandwidth, .warning, in: nil) {
                $0.top = $0.top.replacing("BANDWIDTH=190000", with: "BANDWIDTH=900000")
            },
            Case("an average above AVERAGE-BANDWIDTH", .averageBandwidth, in: nil) {
                $0.top = $0.top.replacing(
                    "BANDWIDTH=190000,AVERAGE-BANDWIDTH=180000", with: "BANDWIDTH=190000,AVERAGE-BANDWIDTH=100000")
            },
        ])
    func finds(_ c: Case) throws {
        var presentation = Presentation()
        c.edit(&presentation)
        let findings = try presentation.findings()
        #expect(findings.map(\.issue.rule) == [c.rule], "\(findings)")
        let finding = try #require(findings.first)
        #expect(finding.issue.severity == c.severity && finding.url == c.file.map { "https://h/\($0)" })
        #expect(finding.issue.rule.section != nil && !finding.remedy.isEmpty)
        if c.file == nil { #expect(finding.issue.line == 9) }
    }

    @Test("live playlists loaded one after another may differ by one segment, not by many")
    func live() throws {
        func findings(_ first: Int, _ discontinuity: Int) throws -> [PlaylistRule] {
            var presentation = Presentation()
            for file in presentation.files.keys {
                let number = file == "high" ? first : 100
                presentation.edit(file, "#EXT-X-ENDLIST\n", "")
                presentation.edit(file, "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-MEDIA-SEQUENCE:\(number)")
                presentation.edit(
                    file, "#EXT-X-MEDIA",
                    "#EXT-X-DISCONTINUITY-SEQUENCE:\(file == "high" ? discontinuity : 3)\n#EXT-X-MEDIA")
                presentation.edit(
                    file, "#EXTINF:4,\n#EXT-X-BYTERANGE:80000@160000",
                    "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n#EXT-X-BYTERANGE:80000@160000")
                presentation.edit(
                    file, "#EXTINF:4,\n#EXT-X-BYTERANGE:40000@80000",
                    "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n#EXT-X-BYTERANGE:40000@80000")
                presentation.edit(
                    file, "#EXTINF:4,\n#EXT-X-BYTERANGE:10000@20000",
                    "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n#EXT-X-BYTERANGE:10000@20000")
            }
            return try presentation.findings().map(\.issue.rule).filter { $0 != .bandwidth }
        }
        #expect(try findings(100, 3).isEmpty)
        #expect(try findings(103, 3) == [.alignedMediaSequence])
        #expect(try findings(100, 4) == [.alignedDiscontinuities])
    }

    @Test("the peak bit rate covers segments of about a target duration")
    func peak() throws {
        func rates(_ segments: [(Double, Int?)]) throws -> SegmentBitRates? {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments.map { "#EXTINF:\($0.0),\na\n" }.joined()
            return SegmentBitRates(of: try MediaPlaylist(parsing: text, url: ""), byteCounts: segments.map(\.1))
        }
        // A short last segment is not measured alone. It has 8 Mbit in 1 s, but 12 Mbit in 5 s with its neighbour.
        let short = try rates([(4, 500_000), (4, 500_000), (1, 1_000_000)])
        #expect(short?.peak == 2_400_000 && short?.measuredSegmentCount == 3)
        #expect(short.map { Int($0.average) } == 16_000_000 / 9)
        #expect(try rates([(8, 1_000_000)])?.peak == 1_000_000)
        #expect(try rates([(4, nil), (4, 1_000_000), (4, nil)])?.measuredSegmentCount == 1)
        #expect(try rates([(4, nil)]) == nil && rates([]) == nil && rates([(0, 10)]) == nil)
    }
}
