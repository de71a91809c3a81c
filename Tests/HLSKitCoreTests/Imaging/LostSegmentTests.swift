import HLSKitImaging
import HLSKitLoading
import HLSKitTime
import TestSupport
import Testing

@Suite("Images near lost segments", .timeLimit(.minutes(10)))
struct LostSegmentTests {
    private static let playlist = SampleImages.base + "list.m3u8"

    /// Creates a generator of the 180p variant in ten files of 4 s, some of which are missing or damaged.
    private static func generator(without lost: Set<Int>, damaged: Set<Int> = []) throws -> ImageGenerator {
        let rendition = try SampleMedia.rendition("video-180p")
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4\"\n"
        var table = [SampleImages.base + "init.mp4": rendition.initializationSection]
        for (index, segment) in rendition.segments.enumerated() {
            text += "#EXTINF:4,\n\(index).m4s\n"
            if damaged.contains(index) {
                table[SampleImages.base + "\(index).m4s"] = [UInt8](repeating: 0x55, count: segment.count)
            } else if !lost.contains(index) {
                table[SampleImages.base + "\(index).m4s"] = segment
            }
        }
        table[playlist] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        return SampleImages.generator(TableTransport(table), url: playlist)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var lost: Set<Int>
        var damaged: Set<Int> = []
        /// The tolerance in seconds, or `nil` for no limit.
        var before: Double?
        var after: Double?
        var times: [Double]
        var actual: [Double?]
        var testDescription: String { "\(lost)\(damaged), \(before ?? -1) before, \(after ?? -1) after" }
    }

    static let cases = [
        // Without a limit, the nearest start of another segment is used.
        Case(lost: [2], times: [1, 8.5, 11, 13], actual: [0, 12, 12, 12]),
        Case(lost: [2, 3], times: [9, 14, 21], actual: [4, 16, 20]),
        Case(lost: [0], times: [1, 5], actual: [4, 4]),
        Case(lost: [9], times: [37, 39], actual: [32, 32]),
        Case(lost: [], damaged: [2], times: [1, 8.5, 11], actual: [0, 12, 12]),
        Case(lost: [2], before: 5, after: 0, times: [8.5, 11, 17], actual: [4, nil, 16]),
        Case(lost: [2], before: 0, after: 2, times: [8.5, 11], actual: [nil, 12]),
        Case(lost: [2], before: 0, after: 0, times: [1, 8.5, 13], actual: [1, nil, 13]),
    ]

    @Test(
        "L01: a time in a lost segment gets the nearest frame within its tolerance; other times are exact",
        arguments: cases)
    func nearest(_ test: Case) async throws {
        let generator = try Self.generator(without: test.lost, damaged: test.damaged)
        func tolerance(_ seconds: Double?) -> MediaTime {
            seconds.map { MediaTime(seconds: $0, preferredTimescale: 1000) } ?? .positiveInfinity
        }
        generator.requestedTimeToleranceBefore = tolerance(test.before)
        generator.requestedTimeToleranceAfter = tolerance(test.after)
        let times = test.times.map { MediaTime(seconds: $0, preferredTimescale: 1000) }
        let results = await generator.collect(times)
        #expect(results.map { $0.actual?.seconds } == test.actual)
        #expect(results.count { $0.error != nil } == test.actual.count { $0 == nil })
    }

    @Test("L02: the first segment of a transport stream, the reference for times, may be missing")
    func firstOfTransportStream() async throws {
        let segment = try SampleImages.fixture("ts-h264-aac.ts")
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + (0..<3).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
            + "#EXT-X-ENDLIST\n"
        var table = [Self.playlist: Array(text.utf8)]
        for index in 1..<3 { table[SampleImages.base + "\(index).ts"] = segment }
        let generator = SampleImages.generator(TableTransport(table), url: Self.playlist)
        generator.setExact()
        let results = await generator.collect([MediaTime(value: 1, timescale: 10), MediaTime(value: 11, timescale: 10)])
        #expect(results[0].error?.code == .notFound)
        #expect(results[1].image != nil)
    }

    @Test("L02: a released generator frees all that it loaded")
    func release() async throws {
        let segment = try SampleImages.fixture("ts-h264-aac.ts")
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts\n#EXTINF:1,\n1.ts\n#EXT-X-ENDLIST\n"
        let table = [
            Self.playlist: Array(text.utf8), SampleImages.base + "0.ts": segment, SampleImages.base + "1.ts": segment,
        ]
        weak var transport: TableTransport?
        do {
            let origin = TableTransport(table)
            transport = origin
            let generator = SampleImages.generator(origin, url: Self.playlist)
            generator.setExact()
            let results = await generator.collect([MediaTime(value: 11, timescale: 10)])
            #expect(results[0].image != nil)
        }
        // The last work of the generator ends on another thread.
        for _ in 0..<6000 where transport != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(transport == nil)
    }
}
