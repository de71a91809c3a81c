import Foundation
import TestSupport
import Testing

@Suite("Recordings, and recordings without media", .ownThread, .timeLimit(.minutes(10)))
struct RecordingTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private static func heights(_ result: Command.Result) throws -> [Int] {
        let uses = try #require(try object(result.output)["variants"] as? [[String: Any]])
        return uses.compactMap { ($0["variant"] as? [String: Any])?["height"] as? Int }
    }

    // MARK: Quality

    @Test(
        "a recording has the best eligible quality from start to end",
        arguments: [
            (["-o", "a.ts"], [540]), (["-o", "a.mp4", "--quality", "height<=360"], [360]),
            (["-o", "a.framemd5"], [540]),
            (["--one-quality"], [540]), (["-o", "a.mkv", "--start-first-eligible"], [180]),
        ] as [([String], [Int])])
    func quality(options: [String], heights: [Int]) async throws {
        let folder = try ScratchFolder()
        let origin = try TestOrigin()
        try SampleMedia.copy(to: origin.root)
        let result = try await hlsget(
            ["--fast", "--json", origin.plain + "/sample/master.m3u8"] + options, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Self.heights(result) == heights)
    }

    @Test("--adaptive allows switches: it starts with the first variant")
    func adaptive() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("--fast", "--json", "--adaptive", "-o", "a.ts", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Self.heights(result).first == 180)
        for arguments in [
            ["--adaptive", "-o", "-", "-f", "mp4"], ["--adaptive"], ["--adaptive", "--one-quality", "-o", "a.ts"],
        ] {
            #expect(try await hlsget(arguments + [Self.master], in: folder).status == 64)
        }
    }

    /// Returns the sample in two qualities, as separate files. The better one has no segment 4, and its video is slow.
    private static func twoQualities() throws -> [String: [UInt8]] {
        var files = try CutStream.files()
        let rendition = try SampleMedia.rendition("video-360p")
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"w-init.mp4\"\n"
        files["w-init.mp4"] = rendition.initializationSection
        for (index, segment) in rendition.segments.enumerated() {
            if index != 4 { files["w\(index).m4s"] = segment }
            text += "#EXTINF:\(rendition.durations[index]),\nw\(index).m4s\n"
        }
        files["w.m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        files["master.m3u8"] = Array(
            (master + """
                #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360,AUDIO="a"
                w.m3u8

                """).utf8)
        return files
    }

    private func withTwoQualities<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let files = try Self.twoQualities()
        return try await withServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            // Audio arrives long before video.
            if path.hasPrefix("w"), path.hasSuffix(".m4s") { usleep(100_000) }
            connection.respond(bytes)
        }) { server in
            try await body("\(server.url)/master.m3u8")
        }
    }

    @Test(
        "S03: if another variant replaces it, both tracks continue in the next file, with a note",
        .enabled(if: ProbedFile.isAvailable), arguments: ["mp4", "mkv"])
    func standIn(format: String) async throws {
        let folder = try ScratchFolder()
        let result = try await withTwoQualities { try await hlsget("--fast", "-o", "a.\(format)", $0, in: folder) }
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.contains { $0.contains("note: from here on 180p") }, "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        for (name, length) in [("a.\(format)", 16.0), ("a.2.\(format)", 24.0)] {
            for stream in ["v", "a"] {
                let times = try Self.times(of: stream, in: "\(folder.path)/\(name)")
                #expect(abs((times.min() ?? -1) - 0) < 0.05, "\(name) \(stream)")
                #expect(abs((times.max() ?? -1) - length) < 0.1, "\(name) \(stream) \(times.max() ?? -1)")
            }
        }
    }

    private static func times(of stream: String, in path: String) throws -> [Double] {
        let output = try Tool.run([
            "/usr/bin/ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time", "-of",
            "csv=p=0", path,
        ])
        return String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap {
            Double($0.prefix { $0 != "," })
        }
    }

    @Test(
        "an mp4 or mkv pipe continues after a lost segment, and the loss is reported", arguments: ["mp4", "mkv"])
    func pipe(format: String) async throws {
        let result = try await withTwoQualities { try await hlsget("--fast", "-o", "-", "-f", format, $0) }
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("skipped segment 4"), "\(result.errors)")
        #expect(result.output.count > 500_000)
        #expect(result.lines.contains { $0.hasPrefix("played 0:36 of 0:40") }, "\(result.errors)")
    }

    @Test("J07: audio keeps its rendition's language", .enabled(if: ProbedFile.isAvailable))
    func language() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("--fast", "--to", "4", "-o", "a.mkv", "-o", "a.m4a", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try ProbedFile("a.mkv", in: folder).streams.map(\.language) == [nil, "eng"])
        #expect(try ProbedFile("a.m4a", in: folder).streams.map(\.type) == ["audio"])
        let entries = "stream_tags=title:stream_disposition=default"
        let command = "ffprobe -v error -select_streams a -show_entries \(entries) -of csv=p=0 a.mkv"
        let label = String(decoding: try Tool.run(["/bin/sh", "-c", command], in: folder.path), as: UTF8.self)
        #expect(label.split(separator: "\n").first == "1,English")
    }

    // MARK: Empty recordings

    struct Nothing: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var arguments: [String]
        var status: Int32
        var words: String
    }

    @Test(
        "without played or written media there is one error line and no file",
        arguments: [
            Nothing(
                testDescription: "from", arguments: ["--from", "10:00"], status: 10,
                words: "ends before the requested start"),
            Nothing(
                testDescription: "from, into a file", arguments: ["--from", "10:00", "-o", "new.mp4"], status: 10,
                words: "nothing was written to new.mp4"),
            Nothing(
                testDescription: "no video", arguments: ["-o", "a.y4m", "SOUND"], status: 8,
                words: "the stream has no video"),
            Nothing(
                testDescription: "an old file", arguments: ["--overwrite", "-o", "old.y4m", "SOUND"], status: 8,
                words: "the existing file is unchanged"),
            Nothing(
                testDescription: "no sound", arguments: ["-o", "a.wav", "PICTURES"], status: 8,
                words: "the stream has no audio"),
            Nothing(
                testDescription: "no sound, without pictures", arguments: ["--no-video", "PICTURES"], status: 8,
                words: "nothing to play"),
        ])
    func nothing(_ example: Nothing) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("OLD".utf8), to: "old.y4m")
        let paths = ["SOUND": "audio-en.m3u8", "PICTURES": "video-180p.m3u8"]
        var arguments = example.arguments.map { name in paths[name].map { "\(SampleMedia.folder)/\($0)" } ?? name }
        if arguments == example.arguments { arguments.append(Self.master) }
        let result = try await hlsget(["--fast", "--json"] + arguments, in: folder)
        #expect(result.status == example.status, "\(result.errors)")
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errorLines.first?.contains(example.words) == true, "\(result.errors)")
        #expect(!result.errors.contains("wrote"))
        let files = try #require(try Self.object(result.output)["files"] as? [[String: Any]])
        #expect(files.allSatisfy { $0["complete"] as? Bool == false })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["old.y4m"])
        #expect(FileManager.default.contents(atPath: folder.path + "/old.y4m") == Data("OLD".utf8))
    }

    // MARK: Incomplete recordings

    @Test(
        "a tenth of the media missing, or its end, is an error even without --strict",
        arguments: [[3, 5], [8, 9], [6]])
    func missing(segments: [Int]) async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        for segment in segments { files["v\(segment).m4s"] = nil }
        let origin = FaultyOrigin(files)
        let result = try await withServer(answering: origin.answer) { server in
            try await hlsget("--fast", "-o", "a.ts", "\(server.url)/master.m3u8", in: folder)
        }
        // One missing segment is not an error. If the end is missing, the item fails, but the output contains the media
        // before it.
        let status: Int32 = [6] == segments ? 0 : 10
        let isMuch = status != 0
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errorLines.count == (isMuch ? 1 : 0))
        if segments == [3, 5] {
            let error = result.errorLines.first ?? ""
            #expect(error.contains("incomplete: segment 3 and 1 other missing"), "\(result.errors)")
            #expect(result.lines.contains { $0.hasPrefix("played 0:32 of 0:40") }, "\(result.errors)")
        }
        if segments == [8, 9] {
            #expect(result.errorLines.first?.contains("not found") == true, "\(result.errors)")
            #expect(result.lines.contains { $0.hasPrefix("played 0:32 of 0:40") }, "\(result.errors)")
        }
    }
}
