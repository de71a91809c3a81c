import HLSKitEngine
import HLSKitOutput
import HLSKitPlayback
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@Suite("Date ranges of live streams", .timeLimit(.minutes(10)))
struct DateRangeCollectorTests {
    private static let out = #"#EXT-X-DATERANGE:ID="ad",START-DATE="2026-01-01T00:00:07Z",SCTE35-OUT=0xFC01,X-COM="x""#
    /// More attributes of the same range, which a playlist may declare in another tag.
    private static let back = #"#EXT-X-DATERANGE:ID="ad",DURATION=3,SCTE35-IN=0xFC02"#
    private static let chapter =
        #"#EXT-X-DATERANGE:ID="one",CLASS="chapter",START-DATE="2026-01-01T00:00:04Z",END-ON-NEXT=YES"#
    private static let next =
        #"#EXT-X-DATERANGE:ID="two",CLASS="chapter",START-DATE="2026-01-01T00:00:09.500Z",END-ON-NEXT=YES"#

    /// Returns a live playlist of up to four segments of two seconds, which repeat the eight seconds of the fixture.
    private static func list(at time: Duration) -> [UInt8] {
        let now = Int(time / .seconds(2))
        let end = min(3 + now, 12)
        let first = max(0, end - 4)
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:\(first)"]
        lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, first - 1) / 4)")
        lines.append("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\(first < 5 ? "0" : "")\(first * 2).000Z")
        if now >= 1, now < 7 { lines.append(out) }
        if now >= 3, now < 7 { lines.append(back) }
        if now >= 2 { lines.append(chapter) }
        if now >= 4 { lines.append(next) }
        for index in first..<end {
            if index % 4 == 0, index > 0 { lines.append("#EXT-X-DISCONTINUITY") }
            if index % 4 == 0 || index == first { lines.append("#EXT-X-MAP:URI=\"pictures-init.mp4\"") }
            lines += ["#EXTINF:2,", "pictures-\(index % 4).m4s"]
        }
        if end == 12 { lines.append("#EXT-X-ENDLIST") }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private static func play(_ collector: MetadataCollector) throws -> [MetadataCollector.Update] {
        var files = try CaptionStream.frames()
        files["pictures.m3u8"] = nil
        let bench = try VirtualBench(
            "pictures.m3u8", quality: nil, files: files,
            answer: { name, time in name == "pictures.m3u8" ? list(at: time) : nil })
        bench.item.startPosition = .oldest
        try bench.item.add(collector)
        let stream = collector.updates()
        try bench.play { bench in
            while bench.item.error == nil, bench.time < 23 { try await bench.pass(.milliseconds(100)) }
            #expect(bench.item.error == nil)
        }
        let updates = Recorder<MetadataCollector.Update>()
        try bench.clock.run { for await update in stream { updates.append(update, at: .zero) } }
        return updates.elements
    }

    @Test("K10: ranges are reported as new, modified and removed with each playlist, on the item's timeline")
    func live() throws {
        let updates = try Self.play(MetadataCollector())
        #expect(updates.map { $0.newGroups.map(\.id) } == [["ad"], ["one"], [], ["two"], []])
        #expect(updates.map { $0.modifiedGroups.map(\.id) } == [[], [], ["ad"], ["one"], []])
        #expect(updates.map { $0.removedGroups.map(\.id) } == [[], [], [], [], ["ad"]])
        guard updates.count == 5 else { return }
        func range(_ id: String, _ update: Int) -> [Double?] {
            let range = updates[update].groups.first { $0.id == id }?.timeRange
            return [range?.start.seconds, range.flatMap { $0.duration.isNumeric ? $0.duration.seconds : nil }]
        }
        #expect(range("ad", 0) == [7, nil])
        #expect(range("ad", 2) == [7, 3])
        #expect(range("one", 1) == [4, nil])
        #expect(range("one", 3) == [4, 5.5])
        #expect(range("two", 3) == [9.5, nil])
        let items = updates[2].groups.first { $0.id == "ad" }?.items.map(\.key) ?? []
        #expect(items.count == 3, "\(items)")
        for name in ["X-COM", "SCTE35-OUT", "SCTE35-IN"] { #expect(items.contains(name), "\(items)") }
    }

    @Test("K10: only the requested identifiers and classes are reported")
    func filters() throws {
        let chapters = try Self.play(MetadataCollector(classifyingLabels: ["chapter"]))
        #expect(chapters.map { $0.newGroups.map(\.id) } == [["one"], ["two"]])
        let item = MetadataItem(.hlsMetadata, key: "SCTE35-IN", common: nil, value: .string(""))
        let messages = try Self.play(MetadataCollector(identifiers: [item.identifier]))
        #expect(messages.map { $0.newGroups.map(\.id) } == [["ad"], []])
        #expect(messages.last?.removedGroups.map(\.id) == ["ad"])
    }
}
