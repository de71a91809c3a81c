import HLSKitPlaylist
import Testing

@Suite("Interstitials") struct InterstitialTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var attributes: String
        var holds: @Sendable (Interstitial) -> Bool
        var testDescription: String { attributes }

        init(_ attributes: String, _ holds: @escaping @Sendable (Interstitial) -> Bool) {
            self.attributes = attributes
            self.holds = holds
        }
    }

    private static func playlist(_ attributes: String, class: String = DateRange.interstitialClass) throws
        -> MediaPlaylist
    {
        try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:6
                #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                #EXT-X-DATERANGE:ID="i",CLASS="\(`class`)",START-DATE="2026-01-01T00:00:06Z",\(attributes)
                #EXTINF:6,
                a
                #EXTINF:6,
                b
                #EXT-X-ENDLIST

                """, url: "https://example.com/v.m3u8")
    }

    static let rows: [Row] = [
        Row(#"X-ASSET-URI="a""#) { interstitial in
            interstitial.assetURI == "a" && interstitial.assetList == nil && interstitial.resumeOffset == nil
                && interstitial.playoutLimit == nil && !interstitial.snapsOut && !interstitial.snapsIn
                && !interstitial.restrictsSkip && !interstitial.restrictsJump && interstitial.contentMayVary
                && interstitial.timelineOccupies == .point && interstitial.timelineStyle == .highlight
                && interstitial.skipControlOffset == nil && interstitial.skipControlDuration == nil
                && interstitial.skipControlLabelID == nil
        },
        Row(#"X-ASSET-LIST="l?a=b,c""#) { $0.assetList == "l?a=b,c" && $0.assetURI == nil },
        Row("X-RESUME-OFFSET=0") { $0.resumeOffset == .zero },
        Row("X-RESUME-OFFSET=12.5") { $0.resumeOffset == .milliseconds(12_500) },
        Row("X-RESUME-OFFSET=-3.25") { $0.resumeOffset == .milliseconds(-3250) },
        Row(#"X-RESUME-OFFSET="30""#) { $0.resumeOffset == .seconds(30) },
        Row("X-RESUME-OFFSET=soon") { $0.resumeOffset == nil },
        Row("X-RESUME-OFFSET=99999999999999999999999") { $0.resumeOffset == nil },
        Row("X-PLAYOUT-LIMIT=15.000000001") { $0.playoutLimit == .nanoseconds(15_000_000_001) },
        Row("X-PLAYOUT-LIMIT=0") { $0.playoutLimit == .zero },
        Row("X-PLAYOUT-LIMIT=-1") { $0.playoutLimit == nil },
        Row(#"X-SNAP="OUT""#) { $0.snapsOut && !$0.snapsIn },
        Row(#"X-SNAP="IN""#) { !$0.snapsOut && $0.snapsIn },
        Row(#"X-SNAP="IN, OUT""#) { $0.snapsOut && $0.snapsIn },
        Row(#"X-SNAP="out""#) { !$0.snapsOut && !$0.snapsIn },
        Row(#"X-RESTRICT="SKIP""#) { $0.restrictsSkip && !$0.restrictsJump },
        Row(#"X-RESTRICT="JUMP""#) { !$0.restrictsSkip && $0.restrictsJump },
        Row(#"X-RESTRICT="JUMP,OTHER,SKIP""#) { $0.restrictsSkip && $0.restrictsJump },
        Row(#"X-CONTENT-MAY-VARY="NO""#) { !$0.contentMayVary },
        Row(#"X-CONTENT-MAY-VARY="no""#) { $0.contentMayVary },
        Row(#"X-TIMELINE-OCCUPIES="RANGE",X-TIMELINE-STYLE="PRIMARY""#) {
            $0.timelineOccupies == .range && $0.timelineStyle == .primary
        },
        Row(#"X-TIMELINE-OCCUPIES="AREA",X-TIMELINE-STYLE="LOUD""#) {
            $0.timelineOccupies == .point && $0.timelineStyle == .highlight
        },
        Row(#"X-SKIP-CONTROL-OFFSET=5,X-SKIP-CONTROL-DURATION=10.5,X-SKIP-CONTROL-LABEL-ID="skip""#) {
            $0.skipControlOffset == .seconds(5) && $0.skipControlDuration == .milliseconds(10_500)
                && $0.skipControlLabelID == "skip"
        },
        Row(#"X-SKIP-CONTROL-OFFSET=-5,X-SKIP-CONTROL-DURATION=x,X-SKIP-CONTROL-LABEL-ID="skip""#) {
            $0.skipControlOffset == nil && $0.skipControlDuration == nil && $0.skipControlLabelID == "skip"
        },
    ]

    @Test("each attribute is read, and unreadable ones count as absent", arguments: rows)
    func reads(_ row: Row) throws {
        let interstitial = try #require(try Self.playlist(row.attributes).dateRanges.first?.interstitial)
        #expect(row.holds(interstitial), "\(interstitial)")
    }

    @Test("a date range of another class, or without one, is not an interstitial")
    func otherClass() throws {
        #expect(try Self.playlist(#"X-ASSET-URI="a""#, class: "com.example.ad").dateRanges.first?.interstitial == nil)
        #expect(DateRange(id: "i", startDate: nil).interstitial == nil)
    }

    @Test("several tags with one ID are merged, and the first of two values wins")
    func merged() throws {
        let playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:6
                #EXT-X-DATERANGE:ID="i",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:06Z",\
                PLANNED-DURATION=25,X-ASSET-LIST="l"
                #EXTINF:6,
                a
                #EXT-X-DATERANGE:ID="i",END-DATE="2026-01-01T00:00:30.500Z",X-PLAYOUT-LIMIT=24.5,X-ASSET-LIST="m"

                """, url: "")
        let range = try #require(playlist.dateRanges.first)
        #expect(playlist.dateRanges.count == 1)
        #expect(range.interstitial?.assetList == "l")
        #expect(range.interstitial?.playoutLimit == .milliseconds(24_500))
        #expect(range.plannedDuration == .seconds(25))
        #expect(playlist.issues.contains { $0.rule == .dateRange })
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var attributes: String
        var text: String
        var isError = true
        var `class` = DateRange.interstitialClass
        var testDescription: String { attributes }
    }

    @Test(
        "lint finds an interstitial's mistakes in their line",
        arguments: [
            Fault(attributes: "X-RESUME-OFFSET=0", text: "nothing to play"),
            Fault(attributes: #"X-ASSET-URI="https://a.example/a",X-ASSET-LIST="l""#, text: "both"),
            Fault(attributes: #"X-ASSET-URI="a.m3u8""#, text: "not absolute", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-RESUME-OFFSET=x"#, text: "X-RESUME-OFFSET that is not a number"),
            Fault(attributes: #"X-ASSET-LIST="l",X-PLAYOUT-LIMIT=-1"#, text: "not a number from 0 on"),
            Fault(attributes: #"X-ASSET-LIST="l",X-SKIP-CONTROL-OFFSET=x"#, text: "X-SKIP-CONTROL-OFFSET"),
            Fault(attributes: #"X-ASSET-LIST="l",X-SKIP-CONTROL-DURATION=-2"#, text: "X-SKIP-CONTROL-DURATION"),
            Fault(attributes: #"X-ASSET-LIST="l",X-RESUME-OFFSET="1""#, text: "in quotes", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-PLAYOUT-LIMIT=0"#, text: "nothing plays", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-SNAP="AROUND""#, text: "X-SNAP", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-RESTRICT="SKIP,ALL""#, text: "X-RESTRICT", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-CONTENT-MAY-VARY="MAYBE""#, text: "MAY-VARY", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-TIMELINE-OCCUPIES="AREA""#, text: "OCCUPIES", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",X-TIMELINE-STYLE="LOUD""#, text: "STYLE", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l",CUE="LATER""#, text: "CUE", isError: false),
            Fault(attributes: #"X-ASSET-LIST="l""#, text: "another class", isError: false, class: "ad"),
        ])
    func lints(_ fault: Fault) throws {
        let findings = try Self.playlist(fault.attributes, class: fault.class).lint().map(\.issue)
            .filter { $0.rule == .interstitial }
        #expect(findings.count == 1)
        #expect(findings.first?.description.contains(fault.text) == true, "\(findings)")
        #expect(findings.first?.severity == (fault.isError ? .error : .warning))
        #expect(findings.first?.line == 4)
    }

    @Test(
        "an unreachable interstitial is found, unless a cue plays it or the playlist grows",
        arguments: [
            ("2026-01-01T00:00:12.500Z", "", true, true), ("2025-12-31T23:59:59Z", "", true, true),
            ("2026-01-01T00:00:12Z", "", true, false), ("2026-01-01T00:00:00Z", "", true, false),
            ("2027-01-01T00:00:00Z", #",CUE="POST""#, true, false),
            ("2027-01-01T00:00:00Z", #",CUE="PRE,ONCE""#, true, false), ("2027-01-01T00:00:00Z", "", false, false),
        ])
    func unreached(date: String, cue: String, isOver: Bool, isFound: Bool) throws {
        let playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:6
                #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                #EXTINF:6,
                a
                #EXTINF:6,
                b
                #EXT-X-DATERANGE:ID="i",CLASS="com.apple.hls.interstitial",START-DATE="\(date)",X-ASSET-LIST="l"\(cue)
                \(isOver ? "#EXT-X-ENDLIST" : "")

                """, url: "")
        let findings = playlist.lint().filter { $0.issue.rule == .interstitial }
        #expect(findings.isEmpty != isFound, "\(findings)")
        #expect(findings.allSatisfy { $0.issue.line == 8 })
    }

    @Test("a correct interstitial has no findings")
    func clean() throws {
        let playlist = try Self.playlist(
            #"DURATION=6,CUE="ONCE",X-ASSET-URI="https://a.example/a",X-RESUME-OFFSET=-1.5,X-PLAYOUT-LIMIT=6,"#
                + #"X-SNAP="OUT,IN",X-RESTRICT="SKIP,JUMP",X-CONTENT-MAY-VARY="NO",X-TIMELINE-OCCUPIES="RANGE","#
                + #"X-TIMELINE-STYLE="PRIMARY",X-SKIP-CONTROL-OFFSET=1,X-SKIP-CONTROL-DURATION=2,X-OTHER="x""#)
        #expect(playlist.lint().filter { $0.issue.rule == .interstitial }.isEmpty)
    }
}
