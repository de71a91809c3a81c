package import Foundation
package import HLSKitCodec
package import HLSKitMedia
package import HLSKitOutput
import Testing

/// One encoded track of `Tests/Fixtures/media/codec`, with ffmpeg's decoding of it as reference.
package struct PacketFixture {
    struct Malformed: Error {
        let line: String
    }

    package var track: MediaTrack
    package let samples: [MediaSample]
    /// The lines of `NAME.framemd5`.
    package let expected: [String]
    /// Every 97th decoded audio sample.
    package let expectedSamples: [Int]

    package init(_ name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fixtures/media/codec").standardized
        let text = try String(contentsOf: folder.appending(path: "\(name).packets"), encoding: .utf8)
        var track = MediaTrack(id: 0, mediaType: .video, codec: .h264, timescale: 1)
        var samples: [MediaSample] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            switch (fields[0], fields.count) {
            case ("codec", 2): track.codec = MediaCodec(rawValue: fields[1])
            case ("type", 2): track.mediaType = try #require(MediaKind(rawValue: fields[1]))
            case ("timescale", 2): track.timescale = try #require(Int32(fields[1]))
            case ("size", 3): (track.width, track.height) = (try #require(Int(fields[1])), try #require(Int(fields[2])))
            case ("sound", 3):
                (track.sampleRate, track.channelCount) = (try #require(Int(fields[1])), try #require(Int(fields[2])))
            case ("configuration", 2): track.configuration = Array(try #require(Data(base64Encoded: fields[1])))
            case ("packet", 6):
                samples.append(
                    MediaSample(
                        trackID: 0, pts: try #require(Int64(fields[1])), dts: try #require(Int64(fields[2])),
                        duration: try #require(Int64(fields[3])), isSync: fields[4] == "K",
                        data: SampleData(try #require(Data(base64Encoded: fields[5])))))
            default: throw Malformed(line: String(line))
            }
        }
        self.track = track
        self.samples = samples
        let audio = try? String(contentsOf: folder.appending(path: "\(name).samples"), encoding: .utf8)
        expectedSamples = (audio ?? "").split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        expected = try String(contentsOf: folder.appending(path: "\(name).framemd5"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    package var expectedHashes: [String] { Self.hashes(expected) }

    package static func hashes(_ lines: [String]) -> [String] {
        lines.filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    package func frames(threadCount: Int = 1) throws -> [VideoFrame] {
        let decoder = try VideoDecoder(track: track, threadCount: threadCount)
        var frames: [VideoFrame] = []
        for sample in samples { try decoder.decode(sample, to: &frames) }
        try decoder.drain(to: &frames)
        return frames
    }

    package func audio() throws -> [AudioBuffer] {
        let decoder = try AudioDecoder(track: track)
        var buffers: [AudioBuffer] = []
        for sample in samples { try decoder.decode(sample, to: &buffers) }
        try decoder.drain(to: &buffers)
        return buffers
    }
}

package final class TemporaryFolder {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "hlskit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func path(_ name: String) -> String { url.appending(path: name).path }

    package func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

    package func text(_ name: String) throws -> String {
        try String(contentsOf: url.appending(path: name), encoding: .utf8)
    }

    package var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }
}

package func hashes(of frames: [VideoFrame], track: MediaTrack) throws -> [String] {
    let folder = try TemporaryFolder()
    let writer = try FrameHashWriter(file: OutputFile(path: folder.path("hashes")))
    try writer.begin([track])
    for frame in frames { try writer.write(frame, ofTrackAt: 0) }
    try writer.finish()
    guard folder.names == ["hashes"] else { return [] }
    return PacketFixture.hashes(try folder.text("hashes").split(separator: "\n").map(String.init))
}

package final class Notes: @unchecked Sendable {  // `lock` guards `lines`
    private let lock = NSLock()
    private var lines: [String] = []

    package init() {}

    package var all: [String] { lock.withLock { lines } }
    package var collect: WriterNote { { line in self.lock.withLock { self.lines.append(line) } } }
}
