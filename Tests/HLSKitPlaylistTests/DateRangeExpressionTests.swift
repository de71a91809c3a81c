import HLSKitPlaylist
import Testing

@Suite("P05: Expressions for date ranges and segments") struct DateRangeExpressionTests {
    private static let ad: DateRange = {
        var range = DateRange(
            id: "ad-7", class: "com.example.ad", startDate: PlaylistDate("2026-01-01T00:00:06Z"),
            duration: .milliseconds(30_500), cue: [.pre, .once],
            otherAttributes: [
                PlaylistAttribute(name: "X-KIND", value: "a b, c", isQuoted: true),
                PlaylistAttribute(name: "X-PRICE", value: "0", isQuoted: false),
            ])
        range.scte35Out = "0xFC30"
        return range
    }()

    @Test(
        "an expression matches by its attributes",
        arguments: [
            ("com.example.ad", true), (" com.example.ad ", true), ("com.example.a", false),
            ("CLASS=com.example.ad", true),
            ("CLASS = com.example.ad", true), ("CLASS=\"com.example.ad\"", true), ("CLASS='com.example.ad'", true),
            ("CLASS!=com.example.ad", false), ("CLASS!=other", true), ("CLASS~example", true),
            ("CLASS~^example", false),
            ("CLASS~^com\\..*\\.ad$", true), ("ID=ad-7", true), ("ID=AD-7", false), ("ID~^ad-[0-9]+$", true),
            ("ID~(?i)^AD", true), ("DURATION=30.5", true), ("DURATION=30.500", true), ("DURATION!=30.5", false),
            ("DURATION=30", false), ("PLANNED-DURATION!=30", true), ("PLANNED-DURATION=30", false),
            ("START-DATE=2026-01-01T01:00:06+01:00", true), ("START-DATE~^2026-01", true), ("END-DATE~.", false),
            ("CUE=PRE,ONCE", true), ("CUE~ONCE", true), ("END-ON-NEXT=YES", false), ("END-ON-NEXT!=YES", true),
            ("SCTE35-OUT~.", true), ("SCTE35-OUT=0xFC30", true), ("SCTE35-IN~.", false), ("SCTE35-CMD!=x", true),
            ("X-KIND=\"a b, c\"", true), ("X-KIND~\"b, c\"", true), ("X-KIND~'a b|x'", true), ("X-PRICE=0", true),
            ("X-NONE=0", false), ("X-NONE!=0", true), ("X-NONE=\"\"", false), ("X-NONE~.*", false),
            ("ID=ad-7&&X-PRICE=0", true), ("ID=ad-7 && X-PRICE=1", false), ("ID=x || X-PRICE=0", true),
            ("ID=x||ID=y", false), ("ID=x && X-PRICE=0 || ID=ad-7", true), ("ID=ad-7 || ID=x && X-PRICE=1", true),
            ("com.example.ad && DURATION!=0", true), ("ID~ad|x", true),
        ])
    func matches(text: String, isMatch: Bool) throws {
        let expression = try DateRangeExpression(parsing: text)
        #expect(expression.matches(Self.ad) == isMatch)
        #expect(expression.description == text)
    }

    @Test(
        "an invalid expression gives its mistake",
        arguments: [
            ("", "attribute is missing"), ("  ", "attribute is missing"), ("=x", "attribute is missing"),
            ("CLASS=", "value is missing"), ("CLASS~", "value is missing"), ("CLASS=x &&", "attribute is missing"),
            ("|| CLASS=x", "attribute is missing"), ("CLASS=x || || ID=y", "attribute is missing"),
            ("CLASS=\"x", "not closed"), ("ID='", "not closed"), ("CLASS=a b", "&& or ||"),
            ("SCTE35-OUT", "SCTE35-OUT~."),
            ("DURATION=long", "number of seconds"), ("DURATION=-1", "number of seconds"), ("START-DATE=today", "date"),
            ("ID~(", "regular expression"), ("ID~\"\"", "matches everything"), ("CLASS=a & ID=b", "&& or ||"),
        ])
    func refuses(text: String, reason: String) {
        #expect { try DateRangeExpression(parsing: text) } throws: { "\($0)".contains(reason) }
    }

    @Test(
        "a pattern finds segments by their attributes and URLs",
        arguments: [
            ("^ads/", true), ("/v/ads/1\\.ts$", true), ("example\\.com", true), ("ADS", false), ("1\\.ts\\?", false),
            ("ads.*[0-9]", true),
        ])
    func segments(text: String, isMatch: Bool) throws {
        let playlist = try MediaPlaylist(
            parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nads/1.ts\n", url: "https://example.com/v/list.m3u8")
        #expect(try TextPattern(text).matches(playlist.segments[0], of: playlist) == isMatch)
    }

    @Test("patterns are equal if their texts are")
    func equality() throws {
        #expect(try TextPattern("a") == TextPattern("a"))
        #expect(try TextPattern("a") != TextPattern("b"))
        #expect(try DateRangeExpression(parsing: "ID~a") == DateRangeExpression(parsing: "ID~a"))
    }
}
