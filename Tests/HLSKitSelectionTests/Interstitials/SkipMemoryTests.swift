import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import Testing

@Suite("P05: Skipped ranges in a moving window") struct SkipMemoryTests {
    /// Returns the ranges in a live playlist of 5 s segments from number `first` on.
    ///
    /// - Parameters:
    ///   - markers: The markers of the stream by segment.
    ///   - ads: The segments whose names mark them as ads.
    private static func ranges(
        _ rule: SkipRule, first: Int, count: Int = 4, markers: [Int: String] = [:], ads: Set<Int> = [],
        _ memory: inout SkipMemory
    ) throws -> [String] {
        let segments = (first..<(first + count)).map { number in
            (markers[number].map { $0 + "\n" } ?? "") + "#EXTINF:5,\n\(ads.contains(number) ? "ad" : "v")/\(number).ts"
        }
        let lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:5", "#EXT-X-MEDIA-SEQUENCE:\(first)"] + segments
        let playlist = try MediaPlaylist(
            parsing: lines.joined(separator: "\n") + "\n", url: "https://example.com/list")
        let starts = (first...(first + count)).map { Duration.seconds($0 * 5) }
        return SkippedRanges(rule, of: playlist, groups: [], starts: starts, &memory).entries.map {
            "\(Int($0.range.lowerBound.seconds))-\(Int($0.range.upperBound.seconds)) \($0.segmentCount)"
        }
    }

    @Test("a break continues and ends after its start marker has left the window")
    func markers() throws {
        var memory = SkipMemory()
        let rule = try SkipRule(dateRanges: ["EXT-X-CUE-OUT"])
        let markers = [2: "#EXT-X-CUE-OUT", 9: "#EXT-X-CUE-IN"]
        let found = try [0, 2, 4, 7, 12].map {
            try Self.ranges(rule, first: $0, count: $0 == 0 ? 2 : 4, markers: markers, &memory)
        }
        #expect(found == [[], ["10-610 0"], ["10-610 0"], ["10-45 0"], ["10-45 0"]])
    }

    @Test("a break ends after its declared duration, or after ten minutes without an end")
    func ends() throws {
        var memory = SkipMemory()
        let rule = try SkipRule(dateRanges: ["EXT-X-CUE-OUT"])
        let markers = [2: "#EXT-X-CUE-OUT:12", 130: "#EXT-X-CUE-OUT"]
        let found = try [0, 3, 8, 130, 200, 260].map { try Self.ranges(rule, first: $0, markers: markers, &memory) }
        #expect(
            found == [
                ["10-22 0"], ["10-22 0"], ["10-22 0"], ["10-22 0", "650-1250 0"], ["10-22 0", "650-1250 0"],
                ["10-22 0", "650-1250 0"],
            ])
    }

    @Test("a stream joined inside a break is in it until the end marker")
    func joined() throws {
        var memory = SkipMemory()
        let rule = try SkipRule(dateRanges: ["EXT-X-CUE-OUT"])
        let markers = [7: "#EXT-X-CUE-IN", 20: "#EXT-X-CUE-OUT:10", 22: "#EXT-X-CUE-IN"]
        let found = try [5, 5, 6, 7, 12, 18].map { try Self.ranges(rule, first: $0, markers: markers, &memory) }
        #expect(found == Array(repeating: ["25-35 0"], count: 5) + [["25-35 0", "100-110 0"]])
        memory = SkipMemory()
        let late = try [3, 5].map {
            try Self.ranges(rule, first: $0, count: $0 == 3 ? 2 : 4, markers: markers, &memory)
        }
        #expect(late == [[], ["15-35 0"]])
        // Nothing precedes the start of a stream. A marker that ends nothing has no effect.
        memory = SkipMemory()
        #expect(try Self.ranges(rule, first: 0, markers: [2: "#EXT-X-CUE-IN"], &memory) == [])
        memory = SkipMemory()
        let twice = [6: "#EXT-X-CUE-OUT:5", 7: "#EXT-X-CUE-IN", 8: "#EXT-X-CUE-IN"]
        #expect(try Self.ranges(rule, first: 5, markers: twice, &memory) == ["30-35 0"])
    }

    @Test("an end marker names its break", arguments: ["EXT-X-SCTE35", "ID=b7"])
    func names(_ expression: String) throws {
        var memory = SkipMemory()
        let markers = [6: #"#EXT-X-SCTE35:CUE-IN=YES,ID="b7""#]
        #expect(
            try Self.ranges(SkipRule(dateRanges: [expression]), first: 5, markers: markers, &memory) == ["25-30 0"])
    }

    @Test("segments outside the window stay skipped, count once, and few ranges are kept")
    func segments() throws {
        var memory = SkipMemory()
        let rule = try SkipRule(segmentURIs: ["^ad/"])
        let found = try [0, 2, 3, 5, 8].map { try Self.ranges(rule, first: $0, ads: [2, 3, 4, 5, 6, 7], &memory) }
        #expect(found == [["10-20 2"], ["10-30 4"], ["10-35 5"], ["10-40 6"], ["10-40 6"]])
        let every = Set((0..<400).filter { $0 % 2 == 0 })
        for first in 0..<300 { _ = try Self.ranges(rule, first: first, ads: every, &memory) }
        #expect(try Self.ranges(rule, first: 300, ads: every, &memory).count <= 18)
    }
}
