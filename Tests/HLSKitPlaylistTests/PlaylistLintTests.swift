import HLSKitPlaylist
import Testing

@Suite struct PlaylistLintTests {
    struct Case: Sendable, CustomStringConvertible {
        var rule: PlaylistRule
        var lines: String
        var description: String { rule.rawValue }
    }

    private static let media = "#EXT-X-TARGETDURATION:4\n"

    @Test(
        "each rule finds its violation",
        arguments: [
            Case(rule: .version, lines: media + "#EXT-X-VERSION:2\n#EXTINF:3.5,\na\n"),
            Case(rule: .version, lines: media + "#EXT-X-VERSION:5\n#EXT-X-MAP:URI=\"m\"\n#EXTINF:3,\na\n"),
            Case(rule: .holdBack, lines: media + "#EXT-X-SERVER-CONTROL:HOLD-BACK=11\n"),
            Case(rule: .holdBack, lines: media + "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=23\n"),
            Case(
                rule: .holdBack,
                lines: media + "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1\n#EXT-X-PART-INF:PART-TARGET=1\n"),
            Case(
                rule: .partTarget,
                lines: media + "#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-PART:DURATION=1.5,URI=\"p\"\n#EXTINF:3,\na\n"),
            Case(rule: .tagPosition, lines: media + "#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:3,\na\n"),
            Case(rule: .date, lines: media + "#EXT-X-DATERANGE:ID=\"i\",START-DATE=\"2024-01-01T00:00:00Z\"\n"),
            Case(rule: .appleCodecs, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,AVERAGE-BANDWIDTH=1\nv\n"),
            Case(rule: .appleAverageBandwidth, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"mp4a.40.2\"\nv\n"),
            Case(rule: .appleResolution, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"avc1.64\"\nv\n"),
            Case(rule: .appleFrameRate, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"avc1.64\"\nv\n"),
            Case(rule: .attributeConflict, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,AVERAGE-BANDWIDTH=3\nv\n"),
            Case(
                rule: .renditionGroup,
                lines:
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n"
            ),
            Case(
                rule: .renditionGroup,
                lines:
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"m\"\n"
            ),
            Case(rule: .unusedGroup, lines: "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n"),
            Case(rule: .appleLanguage, lines: "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n"),
            Case(
                rule: .codecs, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"avc1.64001e\",RESOLUTION=1280x720\nv\n"),
            Case(rule: .codecs, lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"mp4a.40.2\",RESOLUTION=1280x720\nv\n"),
            Case(
                rule: .appleScore,
                lines: "#EXT-X-STREAM-INF:BANDWIDTH=2,SCORE=1\nv\n#EXT-X-STREAM-INF:BANDWIDTH=3\nw\n"),
            Case(
                rule: .appleVideoRange,
                lines:
                    "#EXT-X-STREAM-INF:BANDWIDTH=2,VIDEO-RANGE=PQ\nv\n#EXT-X-STREAM-INF:BANDWIDTH=3,RESOLUTION=2x2\nw\n"
            ),
            Case(rule: .appleIFrameCodecs, lines: "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,URI=\"i\"\n"),
            Case(rule: .appleIFrameResolution, lines: "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,URI=\"i\"\n"),
            Case(rule: .appleSteeringPathway, lines: "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"\n"),
            Case(
                rule: .version,
                lines: "#EXT-X-VERSION:11\n#EXT-X-STREAM-INF:BANDWIDTH=2,REQ-VIDEO-LAYOUT=\"CH-STEREO\"\nv\n"),
            Case(rule: .applePlaylistType, lines: media + "#EXTINF:3,\na\n#EXT-X-ENDLIST\n"),
            Case(rule: .appleLiveWindow, lines: media + "#EXTINF:3,\na\n"),
            Case(rule: .appleLiveDates, lines: media + "#EXTINF:3,\na\n"),
            Case(rule: .appleDiscontinuitySequence, lines: media + "#EXT-X-DISCONTINUITY\n#EXTINF:3,\na\n"),
            Case(
                rule: .applePartHoldBack,
                lines: media + "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=2\n#EXT-X-PART-INF:PART-TARGET=1\n"),
            Case(rule: .holdBack, lines: media + "#EXT-X-PART-INF:PART-TARGET=1\n"),
        ])
    func finds(_ c: Case) throws {
        let findings = try Playlist(parsing: "#EXTM3U\n" + c.lines, url: "").lint()
        #expect(findings.contains { $0.issue.rule == c.rule && !$0.remedy.isEmpty && $0.issue.rule.section != nil })
    }

    @Test("a correct playlist has no findings")
    func clean() throws {
        let media =
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-MAP:URI=\"m\"\n#EXTINF:3.5,\na\n#EXT-X-ENDLIST\n"
        let multivariant = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=2,AVERAGE-BANDWIDTH=1,CODECS="avc1.64001f",RESOLUTION=2x2,FRAME-RATE=25
            v
            """
        #expect(try Playlist(parsing: media, url: "").lint().isEmpty)
        #expect(try Playlist(parsing: multivariant, url: "").lint().isEmpty)
    }

    @Test("parser issues are among the findings, with their line")
    func issues() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:3,\na\n"
        let findings = try Playlist(parsing: text, url: "").lint()
        #expect(findings.map(\.issue.rule) == [.targetDuration] && findings[0].issue.line == 5)
        #expect(findings[0].remedy == PlaylistRule.targetDuration.remedy)
    }

    @Test("findings name the line of the variant, rendition or tag")
    func lines() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",LANGUAGE="en"

            #EXT-X-STREAM-INF:BANDWIDTH=2,AVERAGE-BANDWIDTH=1,CODECS="mp4a.40.2",AUDIO="a"
            v
            #EXT-X-STREAM-INF:BANDWIDTH=2,AVERAGE-BANDWIDTH=3,CODECS="mp4a.40.2"
            w
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",LANGUAGE="en"

            """
        let findings = try Playlist(parsing: text, url: "").lint()
        #expect(findings.map(\.issue.rule) == [.attributeConflict, .renditionGroup])
        #expect(findings.map(\.issue.line) == [6, 8])
        let control = try Playlist(
            parsing:
                "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-TARGETDURATION:4\n#EXT-X-SERVER-CONTROL:HOLD-BACK=11\n",
            url: "")
        #expect(control.lint().map(\.issue.line) == [4])
    }

    @Test(
        "codec levels allow frames up to their size",
        arguments: [
            ("avc1.64001f", 1280, 720, true), ("avc1.64001f", 1920, 1080, false), ("avc1.640028", 1920, 1088, true),
            ("avc1.64002a", 2560, 1440, false), ("avc1.640033", 3840, 2160, true),
            ("hvc1.2.4.L120.B0", 1920, 1080, true),
            ("hvc1.2.4.L120.B0", 2560, 1440, false), ("hev1.1.6.H153", 3840, 2160, true),
            ("av01.0.08M.08", 1920, 1080, true),
            ("av01.0.04M.08", 1920, 1080, false), ("vp09.00.10.08", 9999, 9999, true), ("avc1.6400", 9999, 9999, true),
        ])
    func levels(_ codec: String, _ width: Int, _ height: Int, _ fits: Bool) throws {
        let line = "#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS=\"\(codec)\",RESOLUTION=\(width)x\(height)\nv\n"
        let findings = try Playlist(parsing: "#EXTM3U\n" + line, url: "").lint()
        #expect(findings.contains { $0.issue.rule == .codecs } == !fits)
    }
}
