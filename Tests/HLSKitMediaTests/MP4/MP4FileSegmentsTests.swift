import Testing

@testable import HLSKitMedia

@Suite("A whole MP4 file in segments") struct MP4FileSegmentsTests {
    private struct Seen: Hashable, CustomStringConvertible {
        var pts: Int64
        var dts: Int64
        var isSync: Bool
        var bytes: [UInt8]
        var description: String { "\(pts) \(dts) \(isSync) \(bytes.count)" }
    }

    private static let names = ["progressive", "moov-last", "quicktime-aac.mov", "tagged", "languages"]

    @Test(
        "the segments contain all samples of all tracks once, with their times and bytes",
        arguments: names, [Duration.zero, .milliseconds(300), .seconds(60)])
    func all(_ name: String, target: Duration) throws {
        let file = try MP4Fixture.bytes(name)
        var scanner = MP4HeaderScanner()
        let found = try scanner.append(file[...])
        let header = try found ?? scanner.finish()
        let section = try MP4InitializationSection(parsing: header.bytes[...])
        let segments = try #require(MP4FileSegments(section, target: target))
        if target == .seconds(60) { #expect(segments.starts.count == 1) }
        #expect(segments.starts.first == .zero && segments.end > .zero)
        let combinations = [segments.tracks.map(\.id)] + segments.tracks.map { [$0.id] }
        for ids in combinations {
            let initialization = try MP4InitializationSection(
                parsing: MP4InitializationSection.fragmented(header.bytes, keeping: ids)[...])
            #expect(initialization.isFragmented)
            #expect(initialization.tracks.map(\.id) == ids)
            var given: [Int: [Seen]] = [:]
            for index in segments.starts.indices {
                let fragment = try #require(segments.fragment(index, of: ids, maximumGap: 100))
                let bytes = fragment.head + fragment.ranges.flatMap { file[$0] }
                var demuxer = FragmentedMP4Demuxer(initialization: initialization)
                var events: [DemuxerEvent] = []
                try demuxer.append(bytes[...], to: &events)
                try demuxer.finish(to: &events)
                for case .sample(let sample) in events {
                    let seen = Seen(
                        pts: sample.pts, dts: sample.dts, isSync: sample.isSync,
                        bytes: sample.data.withUnsafeBytes { Array($0) })
                    given[sample.trackID, default: []].append(seen)
                }
            }
            for table in MP4SampleTable(section).tracks
            where ids.contains(table.track.id) && table.track.mediaType != .text {
                let expected = table.samples.filter { $0.byteCount > 0 }.map { sample in
                    Seen(
                        pts: sample.pts, dts: sample.dts, isSync: sample.isSync,
                        bytes: Array(file[sample.offset..<sample.offset + sample.byteCount]))
                }
                #expect(given[table.track.id] == expected, "track \(table.track.id) of \(ids)")
            }
        }
    }

    @Test("a fragmented file is not split into segments")
    func fragmented() throws {
        var scanner = MP4HeaderScanner()
        let file = try MP4Fixture.bytes("indexed")
        let header = try #require(try scanner.append(file[...]))
        #expect(MP4FileSegments(try MP4InitializationSection(parsing: header.bytes[...]), target: .zero) == nil)
    }
}
