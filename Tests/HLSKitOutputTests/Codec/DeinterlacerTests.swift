import HLSKitMedia
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite("Deinterlacing", .timeLimit(.minutes(10)))
struct DeinterlacerTests {
    /// Returns how much the lines differ from their neighbours.
    private static func combing(_ frame: VideoFrame) -> Int {
        frame.withPlanes { planes in
            let plane = planes[0]
            var sum = 0
            for y in 1..<plane.rowCount - 1 {
                for x in 0..<plane.pictureBytesPerRow {
                    func value(_ row: Int) -> Int { Int(plane.bytes[row * plane.bytesPerRow + x]) }
                    sum += abs(2 * value(y) - value(y - 1) - value(y + 1))
                }
            }
            return sum
        }
    }

    private static func frames(_ name: String, count: Int? = nil, deinterlaces: Bool) throws -> [VideoFrame] {
        let fixture = try PacketFixture(name)
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 1)
        decoder.deinterlaces = deinterlaces
        var frames: [VideoFrame] = []
        for sample in fixture.samples.prefix(count ?? .max) { try decoder.decode(sample, to: &frames) }
        try decoder.drain(to: &frames)
        return frames
    }

    @Test(
        "each interlaced frame, even a single one, becomes a whole frame at its time", arguments: [8, 1])
    func whole(count: Int) throws {
        let coded = try Self.frames("h264-interlaced", count: count, deinterlaces: false)
        let whole = try Self.frames("h264-interlaced", count: count, deinterlaces: true)
        #expect(coded.count == count && whole.map(\.pts) == coded.map(\.pts))
        #expect(whole.map(\.duration) == coded.map(\.duration))
        #expect(coded.allSatisfy(\.isInterlaced) && !whole.contains(where: \.isInterlaced))
        for (one, other) in zip(coded, whole) {
            #expect(Self.combing(other) * 2 < Self.combing(one))
            #expect(other.colorTags == one.colorTags && other.sampleAspectRatio == one.sampleAspectRatio)
        }
    }

    @Test("progressive video is unchanged")
    func progressive() throws {
        let fixture = try PacketFixture("h264-annexb")
        let frames = try Self.frames("h264-annexb", deinterlaces: true)
        #expect(try hashes(of: frames, track: fixture.track) == fixture.expectedHashes)
    }

    @Test("after a flush no earlier frame is output")
    func flush() throws {
        let fixture = try PacketFixture("h264-interlaced")
        let decoder = try VideoDecoder(track: fixture.track, threadCount: 1)
        decoder.deinterlaces = true
        var frames: [VideoFrame] = []
        for sample in fixture.samples { try decoder.decode(sample, to: &frames) }
        #expect(!frames.isEmpty && frames.count < 8)
        decoder.flush()
        frames = []
        for sample in fixture.samples { try decoder.decode(sample, to: &frames) }
        try decoder.drain(to: &frames)
        #expect(frames.count == 8)
    }
}
