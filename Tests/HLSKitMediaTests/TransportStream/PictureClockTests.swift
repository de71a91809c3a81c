import Testing

@testable import HLSKitMedia

@Suite struct PictureClockTests {
    struct Packing: Sendable, CustomTestStringConvertible {
        var fixture: String
        var count: Int
        var testDescription: String { "\(count) pictures of \(fixture) in a packet" }
    }

    private static let packings = ["ts-h264-aac.ts", "ts-hevc-eac3.ts", "ts-wrap.ts"].flatMap { name in
        [2, 3, 7].map { Packing(fixture: name, count: $0) }
    }

    @Test("frames without timestamps are shown in their order", arguments: packings)
    func realStreams(_ packing: Packing) throws {
        let fixture = MediaFixture(name: packing.fixture)
        let original = fixture.trace(try fixture.bytes)
        let track = try #require(original.tracks.first { $0.mediaType == .video })
        let frames = original.samples(of: track.id)
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: track.codec == .hevc ? 0x24 : 0x1b)])
        for start in stride(from: 0, to: frames.count, by: packing.count) {
            let group = frames[start..<min(start + packing.count, frames.count)]
            let first = try #require(group.first)
            writer.add(
                .init(
                    pid: 256, pts: first.pts & 0x1_ffff_ffff, dts: first.dts & 0x1_ffff_ffff,
                    payload: group.flatMap(\.bytes)))
        }
        let found = DemuxerTrace(TransportStreamDemuxer(), writer.bytes).samples(of: 256)
        #expect(frames.contains { $0.pts != $0.dts }, "the pictures are out of order")
        #expect(found.map { $0.dts & 0x1_ffff_ffff } == frames.map { $0.dts & 0x1_ffff_ffff })
        #expect(found.map { $0.pts & 0x1_ffff_ffff } == frames.map { $0.pts & 0x1_ffff_ffff })
    }

    private static let frame = VideoUsabilityInfo.FrameDuration(value: 1, timescale: 30)

    /// A row of frames. `P4` is a frame with the order count 4 (of eight bits), and `I0` is one that restarts the
    /// count. The number after `@` is the display time in frames.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var frames: String
        var times: [Int]
        var isHEVC = false
        var hasFrameDuration = true
    }

    private static let rows = [
        Row(testDescription: "none between", frames: "I0@1 P8@5 B4@3", times: [1, 5, 3]),
        Row(testDescription: "steps of two", frames: "I0@1 P8 B4 B2 B6", times: [1, 5, 3, 3, 4]),
        Row(testDescription: "steps of one", frames: "I0@2 P4 B2 B1 B3", times: [2, 6, 4, 3, 5], isHEVC: true),
        Row(testDescription: "steps that times show", frames: "I0@2 P4@6 B2 B1 B3", times: [2, 6, 4, 3, 5]),
        Row(testDescription: "an odd step shows that it is one", frames: "I0@3 P3 B1 B2", times: [3, 6, 4, 5]),
        Row(
            testDescription: "counting restarts behind all before", frames: "I0@2 P4 B2 I0 P4 B2",
            times: [2, 4, 3, 5, 7, 6]),
        Row(
            testDescription: "counting restarts behind all before, those too that told their time",
            frames: "I0@2 P6@5 B2@3 B4 I0 P2", times: [2, 5, 3, 4, 6, 7]),
        Row(testDescription: "times go back", frames: "I0@900 P2@1 I0 P2", times: [900, 1, 2, 3]),
        Row(testDescription: "the count wraps", frames: "P254@2 P2 B0 P4", times: [2, 4, 3, 5]),
        Row(testDescription: "no order is told", frames: "P@1 P P P", times: [1, 2, 3, 4]),
        Row(
            testDescription: "no duration of frames", frames: "I0@1 P2@2 P6 B4", times: [1, 2, 4, 3],
            hasFrameDuration: false),
    ]

    @Test("a frame's time follows from its position in display order", arguments: rows)
    func order(_ row: Row) throws {
        var clock = PictureClock(isHEVC: row.isHEVC)
        var times: [Int] = []
        for (index, word) in row.frames.split(separator: " ").enumerated() {
            let parts = word.split(separator: "@")
            let count = Int(parts[0].dropFirst())
            let order = count.map { PictureOrder(count: $0, bitCount: 8, restarts: parts[0].first == "I") }
            let stamp = parts.count > 1 ? Int64(parts[1]).map { ($0 * 3000, Int64?.some(Int64(index) * 3000)) } : nil
            let signaled = clock.time(signaled: stamp, order: order, frame: row.hasFrameDuration ? Self.frame : nil)
            let time = try #require(signaled)
            #expect(time.dts == Int64(index) * 3000)
            times.append(Int(time.pts / 3000))
        }
        #expect(times == row.times)
    }

    @Test("no frame is decoded after it is shown, and hostile counts do no harm")
    func bounds() {
        var clock = PictureClock(isHEVC: false)
        #expect(clock.time(signaled: nil, order: nil, frame: nil) == nil)
        for count in [0, 65_535, 1, 32_768, 32_767, 3] {
            let order = PictureOrder(count: count, bitCount: 16, restarts: count == 3)
            let signaled: (pts: Int64, dts: Int64?)? = count == 0 ? ((1 << 33) - 1, -1 << 33) : nil
            guard let time = clock.time(signaled: signaled, order: order, frame: Self.frame) else {
                Issue.record("no time")
                return
            }
            #expect(count == 0 || time.pts >= time.dts)
        }
    }
}
