import Foundation
import HLSGetKit
import HLSKitCaptions
import HLSKitCore
import TestSupport
import Testing

@testable import hlsget

@Suite("hlsget captions", .ownThread, .timeLimit(.minutes(10)))
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

    @Test("K04: every format is written, also to standard output", arguments: ["srt", "itt", "scc"])
    func formats(format: String) async throws {
        let folder = try ScratchFolder()
        let file = try await hlsget("captions", "-q", "-o", "a.\(format)", Self.master, in: folder)
        #expect(file.status == 0, "\(file.errors)")
        let direct = try await hlsget("captions", "-q", "-f", format, "--subs", "lang=en", Self.master, in: folder)
        #expect(direct.status == 0, "\(direct.errors)")
        #expect(try text("a.\(format)", in: folder) == String(decoding: direct.output, as: UTF8.self))
        #expect(!direct.output.isEmpty)
    }

    @Test("K04: iTunes Timed Text has the subtitles' language, and time codes in video frames")
    func timeCodes() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("captions", "-q", "-f", "itt", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let content = try CaptionFileReader(format: .iTunesTimedText).read(result.output)
        #expect(content.language == "en")
        #expect(String(decoding: result.output, as: UTF8.self).contains(#"ttp:frameRate="25""#))
        // The sample's cues begin exactly at every 50th frame.
        #expect(content.captions.map(\.timeRange.start) == (0..<20).map { MediaTime(value: $0 * 2, timescale: 1) })
    }

    @Test("K04: closed captions have their service's language from the playlist")
    func languageOfService() async throws {
        let folder = try folder()
        let result = try await hlsget("captions", "-q", "-f", "itt", "--service", "CC3", "named.m3u8", in: folder)
        #expect(try CaptionFileReader(format: .iTunesTimedText).read(result.output).language == "de")
        let undeclared = try await hlsget("captions", "-q", "-f", "itt", "named.m3u8", in: folder)
        #expect(String(decoding: undeclared.output, as: UTF8.self).contains(#"xml:lang="und""#))
        let services = ["SERVICE10", "SERVICE2", "CC4", "CC3"].map(ClosedCaptionService.init(rawValue:))
        #expect(
            (1...4).map { CaptionsSession.service(of: Set(services.prefix($0)))?.rawValue } == [
                "SERVICE10", "SERVICE2", "CC4", "CC3",
            ])
    }

    @Test(
        "K04: the time code's frame rate is the video's",
        arguments: [
            (25, MediaTime(value: 1, timescale: 25)), (24, MediaTime(value: 1, timescale: 24)),
            (23.976, MediaTime(value: 1001, timescale: 24_000)), (29.97, MediaTime(value: 1001, timescale: 30_000)),
            (59.94006, MediaTime(value: 1001, timescale: 60_000)), (30, MediaTime(value: 1, timescale: 30)),
            (12.5, nil), (0, nil), (-25, nil), (.nan, nil), (.infinity, nil), (1e300, nil),
        ] as [(Double, MediaTime?)])
    func frames(rate: Double, duration: MediaTime?) {
        #expect(CaptionsSession.frameDuration(rate) == duration)
    }

    @Test("K01: available captions are listed, and a failure is one line with its exit status")
    func refusals() async throws {
        let folder = try ScratchFolder()
        let list = try await hlsget("captions", "--list", Self.master, in: folder)
        #expect(list.status == 0)
        #expect(String(decoding: list.output, as: UTF8.self).hasPrefix("subtitles           en"))
        for (arguments, status) in [
            (["--subs", "lang=xx", Self.master], 6), (["--service", "CC1", Self.master], 6),
            (["-o", "a.txt", Self.master], 64), (["--service", "CC9", Self.master], 64),
            (["no-such-file.m3u8"], 3), (["--from", "500", Self.master], 10),
        ] as [([String], Int32)] {
            let result = try await hlsget(["captions"] + arguments, in: folder)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            if status != 64 { #expect(result.errorLines.count == 1, "\(result.errors)") }
        }
        try folder.write([], to: "taken.vtt")
        let taken = try await hlsget("captions", "-o", "taken.vtt", Self.master, in: folder)
        #expect(taken.status == 9)
    }

    @Test(
        "R12: a missing playlist is requested once, whatever is wanted from it",
        arguments: [[], ["--subs", "lang=en"], ["--service", "CC1"]])
    func absent(_ options: [String]) async throws {
        let origin = FaultyOrigin([:])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                ["captions"] + options + ["\(server.url)/master.m3u8"], in: try ScratchFolder())
            #expect(result.status == 3)
            #expect(result.errorLines.count == 1, "\(result.errors)")
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        "captions behind missing segments are saved, and the missing ones are named",
        arguments: [([], 1, 0), (["--strict"], 1, 10), ([], 6, 10), ([], 10, 10)])
    func missing(_ options: [String], count: Int, status: Int32) async throws {
        let folder = try ScratchFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder) {
            guard !(0..<count).contains(where: { name == "subtitles-en-\($0).vtt" }) else { continue }
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(name)", withDestinationPath: "\(SampleMedia.folder)/\(name)")
        }
        let result = try await hlsget(
            ["captions", "--allow-file"] + options + ["-o", "a.vtt", "master.m3u8"], in: folder)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains("subtitles-en-0.vtt"), "\(result.errors)")
        #expect(FileManager.default.fileExists(atPath: "\(folder.path)/a.vtt") == (count < 10))
        if count < 10 { #expect(try text("a.vtt", in: folder).hasSuffix("frames 950 to 999\n")) }
    }

    // MARK: Closed captions, subtitles in MP4

    /// The captions that `scripts/make-caption-fixtures` adds to the frames.
    private static let english = [
        "00:00:00.800 --> 00:00:02.400", "Good day", "00:00:03.480 --> 00:00:05.200", "How are you?",
        "00:00:05.920 --> 00:00:07.960", "Bye",
    ]
    private static let german = ["00:00:01.240 --> 00:00:04.000", "Guten Tag"]
    private static let digital = ["00:00:01.240 --> 00:00:03.600", "Digital day"]
    private static let subtitles = [
        "00:00:00.500 --> 00:00:02.500", "Plain words", "00:00:03.000 --> 00:00:05.500",
        "<i>Slanted</i> and <c.yellow>yellow</c>", "00:00:06.000 --> 00:00:07.500", "Two", "lines",
    ]

    private static func words(_ text: String) -> [String] {
        text.components(separatedBy: "\n\n").filter { $0.contains("-->") }.flatMap { block in
            block.split(separator: "\n").drop { !$0.contains("-->") }.map { line in
                line.contains("-->") ? line.split(separator: " ").prefix(3).joined(separator: " ") : String(line)
            }
        }
    }

    private func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        var files = try CaptionStream.frames()
        for (name, count, duration) in [("c608", 4, 2), ("wvtt", 2, 4), ("stpp", 2, 4)] {
            files.merge(try CaptionStream.segments(name, count: count, duration: duration)) { $1 }
        }
        files["plain.m3u8"] = CaptionStream.main()
        files["named.m3u8"] = CaptionStream.main(
            [#"TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="Deutsch",LANGUAGE="de",INSTREAM-ID="CC3""#],
            attributes: #",CLOSED-CAPTIONS="c""#)
        for name in ["wvtt", "stpp"] {
            files["sub-\(name).m3u8"] = CaptionStream.main(
                [#"TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="\#(name).m3u8""#],
                attributes: #",SUBTITLES="s""#)
        }
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        return folder
    }

    struct Save: CustomTestStringConvertible, Sendable {
        var arguments: [String]
        var expected: [String]
        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(
        "K03: closed captions and subtitles in MP4 are saved",
        arguments: [
            Save(arguments: ["plain.m3u8"], expected: english),
            Save(arguments: ["pictures.m3u8"], expected: english),
            Save(arguments: ["--service", "CC3", "plain.m3u8"], expected: german),
            Save(arguments: ["--service", "SERVICE1", "plain.m3u8"], expected: digital),
            Save(arguments: ["--subs", "lang=de", "named.m3u8"], expected: german),
            Save(arguments: ["c608.m3u8"], expected: english),
            Save(arguments: ["sub-wvtt.m3u8"], expected: subtitles),
            Save(arguments: ["sub-stpp.m3u8"], expected: subtitles),
            Save(arguments: ["--to", "4.5", "sub-stpp.m3u8"], expected: Array(subtitles.prefix(4))),
            Save(arguments: ["--to", "3.2", "plain.m3u8"], expected: Array(english.prefix(2))),
            // The first cue begins before the start position, which is 0 in the file.
            Save(
                arguments: ["--from", "4", "sub-wvtt.m3u8"],
                expected: [
                    "00:00:00.000 --> 00:00:01.500", subtitles[3], "00:00:02.000 --> 00:00:03.500", "Two", "lines",
                ]),
        ])
    func savesOthers(_ save: Save) async throws {
        let folder = try folder()
        let result = try await hlsget(["captions", "-q"] + save.arguments, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(Self.words(String(decoding: result.output, as: UTF8.self)) == save.expected)
    }

    @Test("the start of a cut is the requested time, even if more media is already read")
    func start() throws {
        var state = PlayerState()
        state.currentTime = .seconds(6)
        #expect(CaptionsSession.start(.fromStart(.seconds(4)), state) == .seconds(6))
        state.duration = .seconds(40)
        #expect(CaptionsSession.start(.fromStart(.seconds(4)), state) == .seconds(4))
        #expect(CaptionsSession.start(.fromEnd(.seconds(30)), state) == .seconds(10))
        #expect(CaptionsSession.start(.segment(3), state) == .seconds(6))
    }

    @Test("times count from the start of a cut, and cues before it are dropped")
    func cut() {
        func caption(_ start: Int64, _ duration: MediaTime) -> Caption {
            Caption("x", timeRange: MediaTimeRange(start: .seconds(start), duration: duration))
        }
        let captions = [
            caption(1, .seconds(2)), caption(58, .seconds(4)), caption(61, .seconds(1)), caption(50, .indefinite),
        ]
        let ranges = CaptionsSession.cut(captions, at: .seconds(60)).map(\.timeRange)
        #expect(ranges.map(\.start) == [.zero, .seconds(1), .zero])
        #expect(ranges.map(\.duration) == [.seconds(2), .seconds(1), .indefinite])
        #expect(CaptionsSession.cut(captions, at: .zero) == captions)
        #expect(CaptionsSession.cut(captions, at: .indefinite) == captions)
    }

    @Test("K01: with audio only, the audio determines the cues' times")
    func audioOnly() async throws {
        let folder = try ScratchFolder()
        try folder.write(
            Array(try Data(contentsOf: URL(fileURLWithPath: SampleMedia.fixtures + "/media/packed.aac"))), to: "a.aac")
        // The first audio timestamp is 8 589 934 000.
        let cue = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:8589844000,LOCAL:00:00:00.000\n\n00:01.100 --> 00:01.200\nhere\n"
        try folder.write(Array(cue.utf8), to: "sub.vtt")
        for (name, file) in [("a.m3u8", "a.aac"), ("sub.m3u8", "sub.vtt")] {
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(file)\n#EXT-X-ENDLIST\n"
            try folder.write(Array(list.utf8), to: name)
        }
        let main = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="sub.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2",SUBTITLES="s"
            a.m3u8

            """
        try folder.write(Array(main.utf8), to: "main.m3u8")
        let result = try await hlsget("captions", "-q", "main.m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let words = Self.words(String(decoding: result.output, as: UTF8.self))
        #expect(words == ["00:00:00.100 --> 00:00:00.200", "here"])
    }

    @Test("K04: closed captions are saved in every format", arguments: ["srt", "itt", "scc"])
    func formatsOfClosedCaptions(format: String) async throws {
        let folder = try folder()
        let result = try await hlsget("captions", "-q", "-o", "a.\(format)", "plain.m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let content = try CaptionFileReader(format: try #require(CaptionFormat(rawValue: format)))
            .read(Array(try text("a.\(format)", in: folder).utf8))
        #expect(content.captions.map(\.text) == ["Good day", "How are you?", "Bye"])
    }

    @Test(
        "K05: sidecar captions are shown with a stream, also without subtitles",
        arguments: ["master", "video-180p"])
    func sidecar(name: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("1\n00:00:00,500 --> 00:00:01,000\nHallo\n".utf8), to: "a.srt")
        let result = try await hlsget(
            "--subs-file", "a.srt", "--no-audio", "--duration", "2", "--progress", "json",
            SampleMedia.folder + "/\(name).m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let cues = result.errors.split(separator: "\n").filter { $0.contains("\"event\":\"cue\"") }
        #expect(cues.count == 1 && cues.first?.contains("\"text\":\"Hallo\"") == true, "\(result.errors)")
        try folder.write(Array("no captions".utf8), to: "b.srt")
        let bad = try await hlsget("--subs-file", "b.srt", SampleMedia.folder + "/master.m3u8", in: folder)
        #expect(bad.status == 8 && bad.errors.contains("b.srt"), "\(bad.errors)")
    }
}
