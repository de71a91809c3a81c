import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import Testing

@Suite("P05: Skipped ranges") struct SkippedRangesTests {
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
        let rule = try SkipRule(dateRanges: [dateRanges].compactMap(\.self), segmentURIs: [segments].compactMap(\.self))
        var memory = SkipMemory()
        return SkippedRanges(
            rule, of: playlist, groups: reader.groups, starts: tracker.segmentStarts, &memory)
    }

    private func ranges(_ expression: String, _ tags: [String], before markers: [Int: String] = [:]) throws -> [String]
    {
        let lines =
            ["#EXTM3U", "#EXT-X-TARGETDURATION:5", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z"]
            + tags.map { $0.replacing("@", with: "START-DATE=\"2026-01-01T00:00:").replacing("!", with: "Z\"") }
            + (0..<10).map { (markers[$0].map { $0 + "\n" } ?? "") + "#EXTINF:5,\nv\($0).ts" }
        let playlist = try MediaPlaylist(
            parsing: lines.joined(separator: "\n") + "\n", url: "https://example.com/list")
        let tracker = PlaylistTracker(
            playlist, requestURL: "", url: playlist.url, start: .zero, loadBegan: .zero, now: .zero)
        var reader = DateRangeReader()
        _ = reader.read(tracker)
        var memory = SkipMemory()
        return SkippedRanges(
            try SkipRule(dateRanges: [expression]), of: playlist, groups: reader.groups, starts: tracker.segmentStarts,
            &memory
        ).entries.map {
            "\($0.range.lowerBound.seconds)-\($0.range.upperBound.seconds) \($0.dateRangeIDs.joined(separator: ","))"
        }
    }

    @Test(
        "a date range ends as declared or at its splice-in; it stays open only if it announces an end",
        arguments: [
            // A splice-out and a splice-in with one ID, then with two IDs.
            (
                "SCTE35-OUT~.",
                [
                    "#EXT-X-DATERANGE:ID=\"a\",@10!,PLANNED-DURATION=9,SCTE35-OUT=0xFC00",
                    "#EXT-X-DATERANGE:ID=\"a\",END-DATE=\"2026-01-01T00:00:22Z\",SCTE35-IN=0xFC01",
                ], ["10.0-22.0 a"]
            ),
            (
                "SCTE35-OUT~.",
                [
                    "#EXT-X-DATERANGE:ID=\"a\",@10!,PLANNED-DURATION=9,SCTE35-OUT=0xFC00",
                    "#EXT-X-DATERANGE:ID=\"b\",@23!,SCTE35-IN=0xFC01",
                ], ["10.0-23.0 a"]
            ),
            ("SCTE35-OUT~.", ["#EXT-X-DATERANGE:ID=\"a\",@10!,PLANNED-DURATION=9,SCTE35-OUT=0xFC00"], ["10.0-19.0 a"]),
            ("SCTE35-OUT~.", ["#EXT-X-DATERANGE:ID=\"a\",@10!,SCTE35-OUT=0xFC00"], ["10.0-610.0 a"]),
            (
                "ID=a",
                [
                    "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",@10!,END-ON-NEXT=YES",
                    "#EXT-X-DATERANGE:ID=\"b\",CLASS=\"c\",@31!",
                ], ["10.0-31.0 a"]
            ),
            ("ID=a", ["#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",@10!,END-ON-NEXT=YES"], ["10.0-610.0 a"]),
            ("c", ["#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",@10!"], []),
            // Ranges snap to nearby segment boundaries, and a tiny rest between two ranges is skipped too.
            ("c", ["#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",@10.02!,DURATION=9.961"], ["10.0-20.0 a"]),
            ("c", ["#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",@11.3!,DURATION=4.4"], ["11.3-15.7 a"]),
            (
                "c",
                [
                    "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",@11!,DURATION=3",
                    "#EXT-X-DATERANGE:ID=\"b\",CLASS=\"c\",@14.04!,DURATION=3",
                ], ["11.0-17.04 a,b"]
            ),
        ] as [(String, [String], [String])])
    func ends(expression: String, tags: [String], expected: [String]) throws {
        #expect(try ranges(expression, tags) == expected)
    }

    @Test(
        "a marker break ends at its end marker, or after its declared duration",
        arguments: [
            ([2: "#EXT-X-CUE-OUT:12", 4: "#EXT-X-CUE-IN"], ["10.0-20.0 "]), ([2: "#EXT-X-CUE-OUT:12"], ["10.0-22.0 "]),
            ([2: "#EXT-X-CUE-OUT", 4: "#EXT-X-CUE-IN"], ["10.0-20.0 "]), ([2: "#EXT-X-CUE-OUT"], ["10.0-610.0 "]),
            ([0: "#EXT-X-CUE-OUT-CONT:8/18", 2: "#EXT-X-CUE-IN"], ["0.0-10.0 "]),
            ([0: "#EXT-X-CUE-OUT-CONT:8/18", 1: "#EXT-X-CUE-OUT-CONT:13/18"], ["0.0-10.0 "]),
            ([1: "#EXT-X-CUE-IN"], []), ([1: "#EXT-X-CUE-OUT:5", 4: "#EXT-X-CUE-OUT:5"], ["5.0-10.0 ", "20.0-25.0 "]),
            ([2: "#EXT-X-SCTE35:CUE=\"\",CUE-OUT=YES,DURATION=5"], []),
        ] as [([Int: String], [String])])
    func markers(markers: [Int: String], expected: [String]) throws {
        #expect(try ranges("EXT-X-CUE-OUT", [], before: markers) == expected)
    }

    @Test(
        "matching date ranges and segments are skipped, adjacent ones together",
        arguments: [
            (nil, nil, []), ("ad", nil, [12..<22, 40..<43]), ("ID=a", nil, [12..<18]), ("ID=c", nil, [40..<43]),
            ("ID=d", nil, []), ("ID=e", nil, []), ("other", nil, []), (nil, "/ad/", [10..<15, 35..<40]),
            ("ad", "/ad/", [10..<22, 35..<43]), (nil, "[0-9]", [0..<50]), ("ID~^[ab]$ && DURATION!=6", nil, [17..<22]),
        ] as [(String?, String?, [Range<Int>])])
    func found(dateRanges: String?, segments: String?, expected: [Range<Int>]) throws {
        let ranges = try ranges(dateRanges, segments).entries.map(\.range)
        #expect(ranges == expected.map { .seconds($0.lowerBound)..<(.seconds($0.upperBound)) })
    }

    @Test("playback leaves a range at its end and knows the next one")
    func places() throws {
        let ranges = try ranges("ad", "/ad/")
        for (time, end, next) in [
            (0, nil, 10), (10, 22, 35), (21, 22, 35), (22, nil, 35), (42, 43, nil), (43, nil, nil),
        ] as [(Int, Int?, Int?)] {
            #expect(ranges.entry(at: .seconds(time))?.range.upperBound == end.map { .seconds($0) })
            #expect(ranges.next(after: .seconds(time)) == next.map { .seconds($0) })
        }
    }
}
