import HLSPlaylist
import Testing

@Suite struct PlaylistLintTests {
    struct Case: Sendable, CustomStringConvertible {
        var rule: PlaylistRule
        var lines: String
        var description: String { rule.rawValue }
    }

    private static let media = "#EXT-X-TARGETDURATION:4\n"

    @Test(
        "each rule finds what breaks it",
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
                rule: .attributeConflict,
                lines:
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"\n"
            ),
        ])
    func finds(_ c: Case) throws {
        let findings = try Playlist(parsing: "#EXTM3U\n" + c.lines, url: "").lint()
        #expect(findings.contains { $0.issue.rule == c.rule && $0.remedy != nil })
    }

    @Test("a good playlist has no findings")
    func clean() throws {
        let media =
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"m\"\n#EXTINF:3.5,\na\n#EXT-X-ENDLIST\n"
        let multivariant = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=2,AVERAGE-BANDWIDTH=1,CODECS="avc1.64001f",RESOLUTION=2x2,FRAME-RATE=25
            v
            """
        #expect(try Playlist(parsing: media, url: "").lint().isEmpty)
        #expect(try Playlist(parsing: multivariant, url: "").lint().isEmpty)
    }

    @Test("what reading finds is among the findings, with its line")
    func issues() throws {
        let findings = try Playlist(parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:3,\na\n", url: "").lint()
        #expect(findings.map(\.issue.rule) == [.targetDuration] && findings[0].issue.line == 4)
    }
}
