import HLSPlaylist
import HLSTime
import Testing

@testable import HLSKitCore

@Suite("P05: what is skipped") struct SkippedRangesTests {
    private func ranges(_ dateRanges: String?, _ segments: String?) throws -> SkippedRanges {
        func tag(_ id: String, _ from: Int, _ more: String) -> String {
            "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:\(from)Z\"\(more)"
        }
        let playlist = try MediaPlaylist(
            parsing: ([
                "#EXTM3U", "#EXT-X-TARGETDURATION:5", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z",
                tag("a", 12, ",DURATION=6"), tag("b", 17, ",DURATION=5"), tag("c", 40, ",PLANNED-DURATION=3"),
                tag("d", 45, ""), tag("e", 30, ",DURATION=0"),
            ] + (0..<10).map { "#EXTINF:5,\n\($0 == 2 || $0 == 7 ? "ad" : "v")/\($0).ts" }).joined(separator: "\n")
                + "\n",
            url: "https://example.com/list")
        let tracker = PlaylistTracker(
            playlist, requestURL: "", url: playlist.url, start: .zero, loadBegan: .zero, now: .zero)
        var reader = DateRangeReader()
        _ = reader.read(tracker)
        return SkippedRanges(
            dateRanges: try dateRanges.map { try DateRangeExpression(parsing: $0) },
            segments: try segments.map { try TextPattern($0) }, of: playlist, groups: reader.groups,
            starts: tracker.segmentStarts)
    }

    @Test(
        "date ranges and segments that are meant are skipped, those that touch as one",
        arguments: [
            (nil, nil, []), ("ad", nil, [12..<22, 40..<43]), ("ID=a", nil, [12..<18]), ("ID=c", nil, [40..<43]),
            ("ID=d", nil, []), ("ID=e", nil, []), ("other", nil, []), (nil, "/ad/", [10..<15, 35..<40]),
            ("ad", "/ad/", [10..<22, 35..<43]), (nil, "[0-9]", [0..<50]), ("ID~^[ab]$ && DURATION!=6", nil, [17..<22]),
        ] as [(String?, String?, [Range<Int>])])
    func found(dateRanges: String?, segments: String?, expected: [Range<Int>]) throws {
        let ranges = try ranges(dateRanges, segments).ranges
        #expect(ranges == expected.map { .seconds($0.lowerBound)..<(.seconds($0.upperBound)) })
    }

    @Test("playing leaves a range at its end, and knows of the next")
    func places() throws {
        let ranges = try ranges("ad", "/ad/")
        for (time, end, next) in [
            (0, nil, 10), (10, 22, 35), (21, 22, 35), (22, nil, 35), (42, 43, nil), (43, nil, nil),
        ] as [(Int, Int?, Int?)] {
            #expect(ranges.end(at: .seconds(time)) == end.map { .seconds($0) })
            #expect(ranges.next(after: .seconds(time)) == next.map { .seconds($0) })
        }
    }
}
