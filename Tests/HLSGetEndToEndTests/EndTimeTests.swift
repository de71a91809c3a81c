import Foundation
import TestSupport
import Testing

@Suite("hlsget --from, --to, --duration", .ownThread, .timeLimit(.minutes(10)))
struct EndTimeTests {
    struct Case: CustomTestStringConvertible {
        var arguments: [String]
        /// The frames in the output, counted from the start of the item at 25 frames per second.
        var frames: Range<Int>
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let cases = [
        Case(arguments: ["--to", "2"], frames: 0..<50),
        Case(arguments: ["--to", "2.5s", "--from", "1"], frames: 25..<63),
        Case(arguments: ["--from", "-2s"], frames: 950..<1000),
        Case(arguments: ["--from", "37", "--to", "-1s"], frames: 925..<975),
        Case(arguments: ["--from", "4", "--duration", "1"], frames: 100..<125),
        Case(arguments: ["--from", "39", "--to", "100"], frames: 975..<1000),
    ]

    @Test("H08: exactly the frames between the times are written", arguments: cases)
    func range(_ example: Case) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["--fast", "--quality", "180p", "-f", "framemd5", "--no-audio"] + example.arguments
                + [SampleMedia.folder + "/master.m3u8"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let hashes = String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces).prefix(8) }
        #expect(hashes.map { String($0) } == Array(try SampleMedia.frameHashes(of: "180p")[example.frames]))
    }

    @Test("G11: a stream without I-frames is not played backwards, which is reported")
    func backwards() async throws {
        let result = try await hlsget("--rate", "-2", "--progress", "none", SampleMedia.folder + "/master.m3u8")
        #expect(result.status == 6)
        #expect(result.errors.contains("backwards"))
    }
}
