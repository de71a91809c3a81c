import Foundation
import HLSKitCore
import HLSKitTime
import TestSupport
import Testing

@Suite("Playing a media file without a playlist", .timeLimit(.minutes(10)), .enabled(if: TestOrigin.isInstalled))
struct MediaFileTests {
    struct File: Sendable, CustomTestStringConvertible {
        var name: String
        var frameCount: Int
        var audio: Double
        var testDescription: String { name }
    }

    @Test(
        "A15: all frames and audio play, with the header first or last, from a server or a file",
        arguments: [
            File(name: "mp4/progressive.mp4", frameCount: 25, audio: 0.49),
            File(name: "mp4/moov-last.mp4", frameCount: 25, audio: 0.49),
            File(name: "mp4/avc-aac.mp4", frameCount: 25, audio: 0.49),
            File(name: "mp4/indexed.mp4", frameCount: 25, audio: 0.49),
            File(name: "ts-h264-aac.ts", frameCount: 30, audio: 0.9),
            File(name: "packed.aac", frameCount: 0, audio: 0.4),
            File(name: "packed.mp3", frameCount: 0, audio: 0.4),
        ], [false, true])
    func plays(_ file: File, isLocal: Bool) async throws {
        let path = "\(SampleMedia.fixtures)/media/\(file.name)"
        let origin = try SampleOrigin.shared()
        let name = "files/" + file.name
        if !isLocal { try origin.root.write(Array(try Data(contentsOf: URL(fileURLWithPath: path))), to: name) }
        let writer = CapturingWriter()
        let play = try await Play.toEnd(
            try PlayerItem(isLocal ? "file://\(path)" : "\(origin.plain)/\(name)", to: writer), .unpaced())
        #expect(play.error == nil)
        #expect(play.didPlayToEnd)
        #expect(writer.frames.count == file.frameCount)
        #expect(writer.frames.map(\.time) == writer.frames.map(\.time).sorted())
        let length = writer.sounds.last.map { $0.time + $0.length } ?? .zero
        #expect(length >= .seconds(file.audio), "\(length)")
        #expect(play.state.duration.isNumeric)
    }

    @Test("the order of header and media does not change the shown frames")
    func sameFrames() async throws {
        var hashes: [[String]] = []
        for name in ["progressive", "moov-last"] {
            let writer = CapturingWriter()
            let url = "file://\(SampleMedia.fixtures)/media/mp4/\(name).mp4"
            _ = try await Play.toEnd(try PlayerItem(url, to: writer), .unpaced())
            hashes.append(writer.frames.map(\.hash))
        }
        #expect(hashes[0] == hashes[1])
    }

    @Test("a file that begins like MP4 without media fails as media, not as a playlist")
    func broken() async throws {
        let folder = try ScratchFolder()
        let path = try folder.write([0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 0], to: "broken.mp4")
        let play = try await Play.toEnd(try PlayerItem("file://\(path)", to: CapturingWriter()), .unpaced())
        #expect(play.error?.code == .badMedia)
    }
}
