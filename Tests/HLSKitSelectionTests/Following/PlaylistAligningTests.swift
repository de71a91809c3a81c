import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import Testing

@Suite("Aligning a playlist with another")
struct PlaylistAligningTests {
    private struct Case: CustomTestStringConvertible {
        var name: String
        /// The segment numbers, the date and the end flag of the known playlist. `other` describes the other one.
        var known: (Range<Int>, date: String?, ends: Bool)
        var start = Duration.seconds(100)
        var other: (Range<Int>, date: String?, ends: Bool)
        var successor: Duration?
        var expected: Duration
        var testDescription: String { name }
    }

    private static let cases = [
        Case(name: "the same numbers", known: (5..<8, nil, false), other: (5..<8, nil, false), expected: .seconds(100)),
        Case(name: "later numbers", known: (5..<8, nil, false), other: (7..<9, nil, false), expected: .seconds(108)),
        Case(name: "right behind", known: (5..<8, nil, false), other: (8..<9, nil, false), expected: .seconds(112)),
        Case(name: "earlier numbers", known: (5..<8, nil, false), other: (3..<8, nil, false), expected: .seconds(92)),
        Case(
            name: "dates before numbers", known: (5..<8, "10:00:00", false), other: (50..<53, "10:00:03", false),
            expected: .seconds(103)),
        Case(
            name: "dates by which the lists end far apart, and numbers by which they do not",
            known: (5..<8, "10:00:00", false), other: (5..<8, "10:00:11", false), expected: .seconds(100)),
        Case(
            name: "dates of another hour, numbers", known: (5..<8, "10:00:00", false),
            other: (6..<8, "11:00:00", false), expected: .seconds(104)),
        Case(
            name: "dates of another hour, numbers of their own", known: (5..<8, "10:00:00", false),
            other: (50..<52, "11:00:00", false), expected: .seconds(104)),
        Case(
            name: "a list that is somewhat behind by its dates, whatever its numbers say",
            known: (5..<8, "10:00:00", false), other: (5..<8, "09:59:56", false), expected: .seconds(96)),
        Case(
            name: "a list that goes back further", known: (5..<8, "10:00:00", false),
            other: (1..<8, "09:59:44", false), expected: .seconds(84)),
        Case(
            name: "one date says nothing", known: (5..<8, "10:00:00", false), other: (6..<8, nil, false),
            expected: .seconds(104)),
        Case(
            name: "numbers of their own: both end now", known: (5..<8, nil, false), other: (50..<52, nil, false),
            expected: .seconds(104)),
        Case(
            name: "unless it is known better", known: (5..<8, nil, false), other: (50..<52, nil, false),
            successor: .seconds(130), expected: .seconds(130)),
        Case(
            name: "both are whole", known: (0..<3, nil, true), start: .zero, other: (0..<2, nil, true), expected: .zero),
        Case(
            name: "numbers of whole ones say nothing", known: (1..<3, nil, true), start: .zero,
            other: (0..<2, nil, true),
            expected: .zero),
        Case(
            name: "one that has ended, beside a live one", known: (5..<8, nil, false), other: (6..<8, nil, true),
            expected: .seconds(104)),
        Case(
            name: "ended, but laid elsewhere by an earlier run", known: (5..<8, nil, true), other: (6..<8, nil, true),
            expected: .seconds(104)),
    ]

    private static func playlist(_ c: (Range<Int>, date: String?, ends: Bool)) throws -> MediaPlaylist {
        let date = c.date.map { "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T\($0)Z\n" } ?? ""
        let segments = c.0.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(c.0.lowerBound)\n"
        let text = head + date + segments + (c.ends ? "#EXT-X-ENDLIST\n" : "")
        guard case .media(let playlist) = try Playlist(parsing: Array(text.utf8), url: "http://a.example/l.m3u8") else {
            throw HLSError(code: .badPlaylist, cause: "no media playlist")
        }
        return playlist
    }

    @Test("the start follows from dates, numbers, or ends", arguments: cases)
    private func start(_ c: Case) throws {
        let url = "http://a.example/l.m3u8"
        let tracker = PlaylistTracker(
            try Self.playlist(c.known), requestURL: url, url: url, start: c.start, loadBegan: .zero, now: .zero)
        #expect(tracker.start(of: try Self.playlist(c.other), at: .zero, successor: c.successor) == c.expected)
    }
}
