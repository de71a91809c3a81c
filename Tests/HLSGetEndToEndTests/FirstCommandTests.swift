import Foundation
import TestSupport
import Testing

@Suite("The first things that everybody types", .ownThread, .timeLimit(.minutes(10)))
struct FirstCommandTests {
    private static let channels = """
        #EXTM3U
        #EXTINF:-1 group-title="News",One
        http://127.0.0.1:9/one.m3u8
        #EXTINF:-1,Two & More
        \(SampleMedia.folder)/master.m3u8

        """

    @Test(
        "a channel list is listed, and a channel is played by its number or name",
        arguments: [
            (
                ["tv.m3u"], 64,
                "a list of 2 channels: choose one with --channel NUMBER|NAME; hlsget list names them: file://"
            ),
            (["list", "tv.m3u"], 0, ""),
            (["--channel", "2", "--fast", "--duration", "1", "-f", "null", "tv.m3u"], 0, "played 0:01"),
            (["--channel", "Two", "--fast", "--duration", "1", "-f", "null", "tv.m3u"], 0, "played 0:01"),
            (["--channel", "7", "tv.m3u"], 64, "there is no channel 7; there are 2"),
        ] as [([String], Int32, String)])
    func channels(arguments: [String], status: Int32, text: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(Self.channels.utf8), to: "tv.m3u")
        let result = try await hlsget(arguments, in: folder)
        #expect(result.status == status)
        #expect(result.errors.contains(text) || text.isEmpty, "\(result.errors)")
        guard arguments.first == "list" else { return }
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        #expect(lines == ["1  One  (News)", "2  Two & More"])
    }

    @Test(
        "a mistake gets one line that names the input and the choices",
        arguments: [
            (["nope dir/ü.m3u8"], 3, "no such file: $/nope dir/ü.m3u8"),
            (["version"], 64, "there is no command or file 'version'; hlsget --version says it"),
            (["--cacert", "nofile", "https://127.0.0.1:9/"], 64, "cannot be read: No such file or directory"),
            (
                ["play", "-o", "a.avi", "x.m3u8"], 64,
                "unknown file extension in a.avi; use -f with one of ts, mp4, mkv,"
            ),
        ] as [([String], Int32, String)])
    func mistakes(arguments: [String], status: Int32, text: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(arguments, in: folder)
        #expect(result.status == status)
        #expect(result.errors.contains(text.replacing("$", with: folder.path)), "\(result.errors)")
    }

    @Test("simulate takes a rate as --throttle does", arguments: ["2M", "800k,50ms"])
    func rate(trace: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "simulate", "--trace", trace, "--movie", SampleMedia.folder + "/master.m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(
        "a report that the full standard output does not take is an error",
        arguments: [
            ["list", "tv.m3u"], ["inspect", "--json", SampleMedia.folder + "/master.m3u8"], ["help"], ["--version"],
        ])
    func fullOutput(arguments: [String]) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array(Self.channels.utf8), to: "tv.m3u")
        let shell = ["/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full", Command.productFolder + "/hlsget"]
        let result = try await Command(shell + arguments, in: folder.path).result()
        #expect(result.status == 9)
        #expect(result.errors.contains("hlsget: error: cannot write: - (No space left on device)"), "\(result.errors)")
    }

    @Test("an interrupted download that has loaded nothing leaves no folder")
    func nothingCame() async throws {
        let folder = try ScratchFolder()
        let (asked, answers) = AsyncStream.makeStream(of: Void.self)
        let server = try ScriptedServer(answering: { _, _ in answers.yield() })
        defer { server.stop() }
        let command = try Command.hlsget(["download", "-o", "a.mp4", "\(server.url)/a.m3u8"], in: folder.path)
        for await _ in asked { break }
        command.send(signal: SIGINT)
        #expect(try await command.result().status == 128 + SIGINT)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "play and download cut a clip at the same frames, and play does not begin it in silence",
        .enabled(if: ProbedFile.isAvailable),
        arguments: ["mp4", "mkv", "ts"], [(4, 12, 200), (6, 12, 150)])
    func clip(format: String, part: (from: Int, to: Int, frames: Int)) async throws {
        let folder = try ScratchFolder()
        let range = [
            "--from", "\(part.from)", "--to", "\(part.to)", "--quality", "180p", SampleMedia.folder + "/master.m3u8",
        ]
        let played = try await hlsget(["play", "--fast", "-o", "p.\(format)"] + range, in: folder)
        let saved = try await hlsget(["download", "-o", "d.\(format)"] + range, in: folder)
        #expect(played.status == 0 && saved.status == 0, "\(played.errors)\(saved.errors)")
        // Both begin at the sync sample before.
        let frames = part.frames + part.from % 4 * 25
        for file in ["p.\(format)", "d.\(format)"] {
            #expect(try times("v:0", of: file, in: folder).count == frames, "\(file)")
        }
        let (video, audio) = (
            try times("v:0", of: "p.\(format)", in: folder), try times("a:0", of: "p.\(format)", in: folder)
        )
        #expect(abs((audio.first ?? 100) - (video.first ?? 0)) < 0.05)
        #expect(abs((audio.last ?? 100) - (video.last ?? 0)) < 0.1)
    }

    private func times(_ stream: String, of file: String, in folder: ScratchFolder) throws -> [Double] {
        let command = "ffprobe -v error -select_streams \(stream) -show_entries packet=pts_time -of csv=p=0 \(file)"
        let probe = try Tool.run(command.split(separator: " ").map(String.init), in: folder.path)
        return String(decoding: probe, as: UTF8.self).split(whereSeparator: { $0 == "\n" || $0 == "," })
            .compactMap { Double($0) }.sorted()
    }
}
