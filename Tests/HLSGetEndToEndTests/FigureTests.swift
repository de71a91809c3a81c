import Foundation
import TestSupport
import Testing

@Suite("Statistics of hlsget", .ownThread, .timeLimit(.minutes(10)))
struct FigureTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    private func objects(_ text: [String]) throws -> [[String: Any]] {
        try text.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    @Test(
        "the watched time is right in the summary, the access log and the metrics",
        arguments: [["--fast"], ["--fast", "--no-decode"], []])
    func watched(pacing: [String]) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            pacing + [
                "--quality", "180p", "--from", "29", "--duration", "2", "--progress", "json", "--access-log", "a.json",
                "--overwrite", Self.master,
            ], in: folder)
        #expect(result.status == 0)
        let lines = try objects(result.lines)
        let summary = try #require(lines.last)
        let watched = try #require(summary["duration_watched"] as? Double)
        #expect(abs(watched - 2) < 0.15)
        let metric = lines.last { $0["event"] as? String == "playback_summary" }
        #expect(abs((metric?["playback_duration"] as? Double ?? -1) - watched) < 0.01)
        let log = try String(contentsOfFile: folder.path + "/a.json", encoding: .utf8).split(separator: "\n").map(
            String.init)
        let logged = try objects(log).compactMap { $0["duration_watched"] as? Double }.reduce(0, +)
        #expect(abs(logged - watched) < 0.01)
    }

    @Test("a second pass counts as watched, and the summary contains the number of passes")
    func passes() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            [
                "--fast", "--quality", "180p", "--no-audio", "--to", "4", "--loop", "3", "--no-decode", "--progress",
                "json", "--access-log", "a.json", Self.master,
            ], in: folder)
        #expect(result.status == 0)
        let lines = try objects(result.lines)
        let watched = try #require(lines.last?["duration_watched"] as? Double)
        #expect(abs(watched - 12) < 0.15)
        let metrics = lines.filter { $0["event"] as? String == "playback_summary" }
            .compactMap { $0["playback_duration"] as? Double }
        #expect(abs(metrics.reduce(0, +) - 12) < 0.15, "each pass is measured: \(metrics)")
        let log = try objects(
            String(contentsOfFile: folder.path + "/a.json", encoding: .utf8).split(separator: "\n").map(String.init))
        #expect(log.count >= 3, "and logged")
    }

    @Test(
        "JSON request lines match the server's, with map, server and times; the summary is last"
    )
    func requests() async throws {
        var files = try OddOrigin.cutSample()
        files["3.m4s"] = nil
        let origin = try OddOrigin(files)
        defer { origin.stop() }
        let result = try await hlsget("--fast", "--no-decode", "--progress", "json", origin.url + "/v.m3u8")
        let lines = try objects(result.lines)
        #expect(lines.last?["event"] as? String == "summary")
        func paths(_ event: String) -> [String] {
            lines.filter { $0["event"] as? String == event }
                .compactMap { ($0["url"] as? String).map { String($0.dropFirst(origin.url.count)) } }
        }
        let reported = paths("playlist_request") + paths("media_segment_request")
        let seen = origin.server.requests.compactMap {
            $0.first?.split(separator: " ").dropFirst().first.map(String.init)
        }
        #expect(reported.sorted() == seen.sorted())
        let segments = lines.filter { $0["event"] as? String == "media_segment_request" }
        #expect(segments.count { $0["map"] as? Bool == true } == 1)
        #expect(segments.allSatisfy { $0["server_address"] as? String == "127.0.0.1" })
        #expect(segments.allSatisfy { $0["response_start"] is NSNumber || $0["error"] is String })
        #expect(segments.contains { ($0["error"] as? String)?.contains("404") == true }, "what failed is told, too")
        let bytes = segments.filter { $0["error"] is NSNull }.compactMap { $0["bytes"] as? Int }.reduce(0, +)
        let expected = files.filter { $0.key != "v.m3u8" }.values.map(\.count).reduce(0, +)
        #expect(bytes == expected)
    }

    @Test("failures are NDJSON to the last line in play and download, and so are successful downloads")
    func failures() async throws {
        let origin = try OddOrigin()
        defer { origin.stop() }
        let folder = try ScratchFolder()
        let cases: [(arguments: [String], status: Int32, last: String)] = [
            ([origin.url + "/none.m3u8"], 3, "summary"),
            (["download", "-o", "a.mp4", origin.url + "/none.m3u8"], 3, "summary"),
            (["-o", "no/such/a.ts", origin.url + "/master.m3u8"], 9, "summary"),
            (["download", "-o", "b.mp4", "--quality", "180p", "--to", "4", Self.master], 0, "summary"),
            (["download", "-o", "b.mp4", Self.master], 9, "summary"),
        ]
        for test in cases {
            let result = try await hlsget(test.arguments + ["--progress", "json"], in: folder)
            #expect(result.status == test.status, "\(test.arguments)")
            let lines = try objects(result.lines)
            #expect(lines.last?["event"] as? String == test.last)
            #expect(lines.last?["exit_status"] as? Int == Int(test.status))
            if test.arguments.first == "download", test.status != 9 {
                let measured = lines.filter { $0["event"] as? String == "download_summary" }
                #expect(measured.count == 1)
                #expect((measured.first?["error"] is NSNull) == (test.status == 0))
            }
            guard test.status != 0 else { continue }
            let error = try #require(lines.dropLast().last)
            #expect(error["event"] as? String == "error" && error["recoverable"] as? Bool == false)
            #expect((lines.last?["error"] as? [String: Any])?["cause"] as? String == error["cause"] as? String)
        }
    }

    @Test("without automatic waiting, playback resumes after its buffer was empty", .timeLimit(.minutes(2)))
    func noAutoWait() async throws {
        let result = try await hlsget(
            "--throttle", "120k", "--no-auto-wait", "--no-decode", "--quality", "180p", "--duration", "2", Self.master)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.contains { $0.hasPrefix("played 0:02 of 0:40") }, "\(result.lines)")
    }

    @Test(
        "over a slow link, --immediately starts before the media is likely to last", .timeLimit(.minutes(2)))
    func immediately() async throws {
        let arguments = ["--json", "--throttle", "120k", "--no-decode", "--quality", "180p", "--duration", "6"]
        var starts: [Double] = []
        for option in [["--immediately"], []] {
            let result = try await hlsget(arguments + option + [Self.master])
            #expect(result.status == 0, "\(result.errors)")
            let summary = try #require(JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
            starts.append(try #require(summary["started_after"] as? Double))
        }
        #expect(starts[0] < starts[1])
    }

    @Test("a download reports the duration of its file", .enabled(if: ProbedFile.isAvailable))
    func downloadLength() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "download", "-o", "a.mp4", "--quality", "180p", "--from", "9", "--to", "12", Self.master, in: folder)
        #expect(result.status == 0)
        // An edit list hides the second before the start.
        #expect(result.lines.last?.hasPrefix("hlsget: 0:03 in a.mp4 (") == true, "\(result.lines)")
    }

    @Test(
        "a clip begins at 0, like a file from download", .enabled(if: ProbedFile.isAvailable),
        arguments: ["clip.mp4", "clip.mkv", "clip.ts"])
    func clips(name: String) async throws {
        let folder = try ScratchFolder()
        let arguments = ["--quality", "180p", "--from", "20", "--to", "24", "-o", name, Self.master]
        #expect(try await hlsget(["--fast"] + arguments, in: folder).status == 0)
        let clip = try ProbedFile(name, in: folder)
        try #require(clip.streams.map(\.type).sorted() == ["audio", "video"])
        // libavformat starts transport streams at 1.4 s.
        let earliest = name.hasSuffix(".ts") ? 1.4 : 0
        let starts = clip.streams.map(\.start)
        #expect(starts.allSatisfy { $0 >= earliest - 0.1 && $0 < earliest + 0.2 }, "\(starts)")
        #expect(abs(starts[0] - starts[1]) < 0.12, "pictures and sound stay together")
    }

    @Test(
        "a clip from within a group of frames reports the frames before it",
        .enabled(if: ProbedFile.isAvailable), arguments: ["clip.mp4", "clip.mkv"])
    func leadIn(name: String) async throws {
        let folder = try ScratchFolder()
        let arguments = ["--fast", "--quality", "180p", "--from", "9", "--to", "12", "-o", name, Self.master]
        let result = try await hlsget(arguments, in: folder)
        #expect(result.status == 0)
        let note = "note: the file begins 1.0 s before the requested start, at the previous sync frame"
        #expect(result.errors.contains(note), "\(result.errors)")
        let hashes = try Tool.run([
            "/usr/bin/ffmpeg", "-v", "error", "-i", "\(folder.path)/\(name)", "-map", "0:v", "-f", "framemd5", "-",
        ])
        let count = String(decoding: hashes, as: UTF8.self).split(separator: "\n").count { !$0.hasPrefix("#") }
        #expect(abs(count - 100) <= 2, "\(count)")
    }

    @Test("decoded clips begin at 0, too")
    func decodedClip() async throws {
        let result = try await hlsget(
            "--fast", "--quality", "180p", "--no-audio", "--from", "20", "--to", "21", "-f", "framemd5", Self.master)
        #expect(result.status == 0)
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 25)
        let first = lines.first?.split(separator: ",").dropFirst(2).first.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(first == "0", "\(lines.first ?? "")")
    }

    @Test("a preference the stream cannot meet is a warning, and an error with --strict")
    func preferences() async throws {
        let arguments = ["--fast", "--no-decode", "--to", "4", "--peak-bitrate", "1k", Self.master]
        let reported = try await hlsget(arguments)
        #expect(reported.status == 0)
        #expect(reported.lines.contains { $0.hasPrefix("hlsget: warning: no variant is within --peak-bitrate 1k") })
        #expect(try await hlsget(["--strict"] + arguments).status == 6)
        let rate = try await hlsget(["--rate", "8", "--duration", "2", SampleMedia.folder + "/video-180p.m3u8"])
        #expect(rate.lines.contains { $0.hasPrefix("hlsget: warning: played at 2x instead of 8x") })
    }

    @Test("without captions --list fails, and a missing trace is named once")
    func mistakes() async throws {
        let none = try await hlsget("captions", "--list", SampleMedia.folder + "/video-180p.m3u8")
        #expect(none.status == 6 && none.errorLines.count == 1)
        let trace = try await hlsget("--throttle", "no-such.csv", Self.master)
        #expect(trace.status == 64)
        #expect(trace.errorLines == ["hlsget: error: --throttle: no-such.csv: cannot open: No such file or directory"])
    }
}
