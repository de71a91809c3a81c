import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitCodec

@Suite("Pixel bytes of frames", .timeLimit(.minutes(10)))
struct VideoFramePixelsTests {
    @Test("J02: a frame's digest is ffmpeg's hash of it", arguments: VideoDecoderTests.streams)
    func digest(name: String) throws {
        let fixture = try PacketFixture(name)
        #expect(try fixture.frames().map { try $0.digest() } == fixture.expectedHashes)
    }

    @Test("the digest covers the bytes without padding", arguments: VideoDecoderTests.streams)
    func bytes(name: String) throws {
        let frame = try #require(PacketFixture(name).frames().first)
        let bytes = frame.pixelBytes()
        let hash = try LibraryDigest(.md5)
        bytes.withUnsafeBytes { hash.update($0) }
        #expect(hash.finish() == (try frame.digest()))
        #expect(bytes.count == frame.withPlanes { $0.reduce(0) { $0 + $1.pictureBytesPerRow * $1.rowCount } })
    }

    @Test("row padding is removed; packed and planar formats are written plane by plane")
    func order() throws {
        let frame = try #require(PacketFixture("h264-avcc").frames().first)
        let narrow = try FrameScaler().convert(frame, width: 5, height: 3, format: frame.pixelFormat)
        let bytes = narrow.pixelBytes()
        #expect(bytes.count == 5 * 3 + 2 * (3 * 2))
        let rows = narrow.withPlanes { planes in
            planes.flatMap { plane in
                (0..<plane.rowCount).flatMap { row in
                    plane.bytes[row * plane.bytesPerRow..<row * plane.bytesPerRow + plane.pictureBytesPerRow]
                }
            }
        }
        #expect(bytes == rows)
        #expect(narrow.withPlanes { $0[0].bytesPerRow } > 5)
        let packed = try FrameConverter(to: .rgba, convertsToRec709: false).convert(frame)
        #expect(packed.pixelBytes().count == frame.width * frame.height * 4)
    }

    @Test("frames with equal pixels have equal digests, regardless of their times")
    func equality() throws {
        let frames = try PacketFixture("h264-avcc").frames()
        let (first, second) = (try #require(frames.first), try #require(frames.last))
        let placed = first.placed(at: MediaTime(value: 9, timescale: 1))
        #expect(try placed.digest() == first.digest())
        #expect(try first.digest() != second.digest())
    }
}
