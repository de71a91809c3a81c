import Foundation
import TestSupport
import Testing

@Suite("hlsget captions", .timeLimit(.minutes(2)))
struct CaptionsTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    private func text(_ name: String, in folder: ScratchFolder) throws -> String {
        try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
    }

    @Test("K01: the cues of all segments are saved, each once, at the stream's times")
    func saves() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("captions", "-o", "a.vtt", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        // What the segments hold, in their order, without repetitions.
        var expected: [String] = []
        for index in 0..<SampleMedia.segmentCount {
            let file = try String(contentsOfFile: SampleMedia.folder + "/subtitles-en-\(index).vtt", encoding: .utf8)
            for block in file.components(separatedBy: "\n\n") where block.contains("-->") {
                let lines = block.split(separator: "\n").map(String.init)
                let cue = lines.drop { !$0.contains("-->") }.joined(separator: "\n")
                if !expected.contains(cue) { expected.append(cue) }
            }
        }
        let saved = try text("a.vtt", in: folder).components(separatedBy: "\n\n").dropFirst()
            .map { $0.trimmingCharacters(in: .newlines) }
        #expect(!expected.isEmpty)
        #expect(saved == expected)
    }

    @Test("K04: every format is written, and on standard output", arguments: ["srt", "itt", "scc"])
    func formats(format: String) async throws {
        let folder = try ScratchFolder()
        let file = try await hlsget("captions", "-q", "-o", "a.\(format)", Self.master, in: folder)
        #expect(file.status == 0, "\(file.errors)")
        let direct = try await hlsget("captions", "-q", "-f", format, "--subs", "lang=en", Self.master, in: folder)
        #expect(direct.status == 0, "\(direct.errors)")
        #expect(try text("a.\(format)", in: folder) == String(decoding: direct.output, as: UTF8.self))
        #expect(!direct.output.isEmpty)
    }

    @Test("K01: what there is is listed, and what cannot be done is one line with its exit status")
    func refusals() async throws {
        let folder = try ScratchFolder()
        let list = try await hlsget("captions", "--list", Self.master, in: folder)
        #expect(list.status == 0)
        #expect(String(decoding: list.output, as: UTF8.self).hasPrefix("subtitles           en"))
        for (arguments, status) in [
            (["--subs", "lang=xx", Self.master], 6), (["--service", "CC1", Self.master], 6),
            (["-o", "a.txt", Self.master], 64), (["--service", "CC9", Self.master], 64),
            (["no-such-file.m3u8"], 3),
        ] as [([String], Int32)] {
            let result = try await hlsget(["captions"] + arguments, in: folder)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            if status != 64 { #expect(result.errorLines.count == 1, "\(result.errors)") }
        }
        try folder.write([], to: "taken.vtt")
        let taken = try await hlsget("captions", "-o", "taken.vtt", Self.master, in: folder)
        #expect(taken.status == 9)
    }
}
