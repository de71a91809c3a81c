import Foundation
import HLSKitCore
import Synchronization
import TestSupport
import Testing

@Suite("hlsget download from faulty servers", .ownThread, .timeLimit(.minutes(10)))
struct DownloadFaultTests {
    private func names(in folder: ScratchFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(
        "R1, R70: an initialization section that is missing or invalid once is requested again",
        arguments: [FaultyOrigin.Fault.status("404 Not Found"), .bytes(FaultyOrigin.page)])
    func map(_ fault: FaultyOrigin.Fault) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try CutStream.files(), ["v-init.mp4": (fault, 1)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "--strict", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try await FaultyOrigin.frames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("S02: equal files under several URLs, and a rendition listed twice, are downloaded")
    func equalFiles() async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        let list = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        var number = 0
        let lines = list.flatMap { line -> [String] in
            guard line.hasPrefix("#EXTINF") else { return [line] }
            number += 1
            return ["#EXT-X-MAP:URI=\"v-init.mp4?n=\(number)\"", line]
        }
        files["v.m3u8"] = Array((lines.joined(separator: "\n") + "\n").utf8)
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        let media = master.split(separator: "\n").first { $0.contains("TYPE=AUDIO") } ?? ""
        files["master.m3u8"] = Array(master.replacing(media, with: "\(media)\n\(media)").utf8)
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "--audio", "all", "--connections", "16", "-o", "a.mp4", "\(server.url)/master.m3u8",
                in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("21 segments"))
        }
        #expect(try names(in: folder) == ["a.mp4"])
        #expect(try await FaultyOrigin.frames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("S02: unreadable segments are loaded again by the next run")
    func unreadable() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        let broken = Array((files["v3.m4s"] ?? []).prefix(2000)) + Array(repeating: 0xFF, count: 500)
        let faulty = FaultyOrigin(files, ["v3.m4s": (.bytes(broken), .max)])
        try await withServer(answering: faulty.answer) { server in
            let url = "\(server.url)/master.m3u8"
            let strict = try await hlsget("download", "--strict", "-o", "a.mp4", url, in: folder)
            #expect(strict.status == 10, "\(strict.errors)")
            #expect(strict.errorLines.count == 1)
            #expect(try names(in: folder) == ["a.mp4.download"])
            let result = try await hlsget("download", "-o", "a.mp4", url, in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("cannot be read"), "\(result.errors)")
            #expect(try names(in: folder) == ["a.mp4", "a.mp4.download"])
        }
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "--overwrite", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("1 damaged and reloaded"), "\(result.errors)")
        }
        #expect(try names(in: folder) == ["a.mp4"])
        #expect(try await FaultyOrigin.frames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("R15: a segment that another server has cut short is loaded again, or named", arguments: [1, .max])
    func truncated(count: Int) async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        let cut = Array((files["v3.m4s"] ?? []).dropLast(100))
        let origin = FaultyOrigin(files, ["v3.m4s": (.chunked(cut), count)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("a segment cannot be read") == (count > 1), "\(result.errors)")
        }
        let (frames, expected) = (
            try await FaultyOrigin.frames("a.mp4", in: folder), try SampleMedia.frameHashes(of: "180p")
        )
        #expect(count > 1 ? Set(frames).isSubset(of: expected) && frames.count < expected.count : frames == expected)
    }

    @Test("S03: audio missing at the start of a stream is written later", .enabled(if: ProbedFile.isAvailable))
    func bumper() async throws {
        let folder = try ScratchFolder()
        let master = SampleMedia.folder + "/master.m3u8"
        for (name, options) in [("silent.ts", ["--no-audio"]), ("whole.ts", [])] {
            let result = try await hlsget(
                ["--fast", "--to", "4", "--quality", "180p", "-o", name, master] + options, in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            silent.ts
            #EXT-X-DISCONTINUITY
            #EXTINF:4,
            whole.ts
            #EXT-X-ENDLIST

            """
        try folder.write(Array(text.utf8), to: "list.m3u8")
        try folder.write([1], to: "a.2.mp4")
        for (format, parts) in [("ts", ["a.ts"]), ("mkv", ["a.mkv", "a.2.mkv"]), ("mp4", ["a.mp4", "a.3.mp4"])] {
            let result = try await hlsget("download", "-o", "a.\(format)", "list.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let last = try ProbedFile(parts.last ?? "", in: folder)
            #expect(Set(last.streams.map(\.type)) == ["video", "audio"], "\(format)")
            #expect(parts.allSatisfy { FileManager.default.fileExists(atPath: "\(folder.path)/\($0)") })
        }
    }

    @Test("S02: a rendition whose playlist does not end ends with the variant")
    func endless() async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        let list = String(decoding: files["a.m3u8"] ?? [], as: UTF8.self)
        files["a.m3u8"] = Array(list.replacing("#EXT-X-ENDLIST\n", with: "").utf8)
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("21 segments"))
        }
    }

    @Test("a mistyped URL leaves no files behind")
    func nothing() async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin([:])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/x.m3u8", in: folder)
            #expect(result.status == 3)
        }
        #expect(try names(in: folder) == [])
    }

    @Test("S02: a download killed while its folder was being removed is complete")
    func onlyFolder() async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try CutStream.files())
        try await withServer(answering: origin.answer) { server in
            let url = "\(server.url)/master.m3u8"
            try await write(url, to: folder)
            #expect(try names(in: folder) == ["a.mp4", "a.mp4.download"])
            let other = try await hlsget("download", "-o", "a.mp4", url + "?other", in: folder)
            #expect(other.status == 9)
            let count = server.requests.count
            let result = try await hlsget("download", "-o", "a.mp4", url, in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(server.requests.count == count)
        }
        #expect(try names(in: folder) == ["a.mp4"])
    }

    /// Performs a command's download up to its last step. The folder stays locked until the task is released.
    private func write(_ url: String, to folder: ScratchFolder) async throws {
        let task = try await DownloadTask(
            DownloadConfiguration(urlString: url), folder: folder.path + "/a.mp4.download")
        _ = try await task.run()
        _ = try await task.write(to: folder.path + "/a.mp4", format: .mp4)
    }

    @Test("S01: FOLDER/ plays the last requested variant, and all of it")
    func otherQuality() async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        for (name, bytes) in files where name.hasPrefix("v") { files["w" + name.dropFirst()] = bytes }
        let list = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self)
        files["w.m3u8"] = Array(list.replacing("\nv", with: "\nw").replacing("\"v-", with: "\"w-").utf8)
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        files["master.m3u8"] = Array(
            (master + "#EXT-X-STREAM-INF:BANDWIDTH=90000,RESOLUTION=160x90,AUDIO=\"a\"\nw.m3u8\n").utf8)
        let all = files
        (files["v5.m4s"], files["w5.m4s"]) = (nil, nil)
        let some = files
        let isWhole = Mutex(false)
        try await withServer(answering: { connection, request in
            FaultyOrigin(isWhole.withLock { $0 } ? all : some).answer(connection, request)
        }) { server in
            let url = "\(server.url)/master.m3u8"
            let first = try await hlsget("download", "--strict", "--quality", "worst", "-o", "film/", url, in: folder)
            #expect(first.status == 10, "\(first.errors)")
            isWhole.withLock { $0 = true }
            let second = try await hlsget("download", "-o", "film/", url, in: folder)
            #expect(second.status == 0, "\(second.errors)")
        }
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/film")
        #expect(kept.count { $0.hasPrefix("main-") && !$0.hasSuffix(".m3u8") } == 1, "\(kept)")
        let text = try String(contentsOfFile: folder.path + "/film/index.m3u8", encoding: .utf8)
        #expect(text.split(separator: "\n").count { $0.hasPrefix("#EXT-X-STREAM-INF") } == 1)
        #expect(try await FaultyOrigin.frames("film/index.m3u8", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("the playlist's video range is in the file", .enabled(if: ProbedFile.isAvailable))
    func videoRange() async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        files["master.m3u8"] = Array(master.replacing("RESOLUTION", with: "VIDEO-RANGE=PQ,RESOLUTION").utf8)
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let probe = ["ffprobe", "-v", "error", "-show_entries", "stream=color_transfer", "-of", "csv", "a.mp4"]
        let words = try Tool.run(["/usr/bin/env"] + probe, in: folder.path)
        #expect(String(decoding: words, as: UTF8.self).contains("smpte2084"))
    }

    @Test(
        "a part of the stream without a key frame is incomplete",
        arguments: [("download", "mp4"), ("download", "ts"), ("play", "mp4"), ("play", "mkv")])
    func withoutKeyFrame(_ command: String, _ format: String) async throws {
        let folder = try ScratchFolder()
        let path = "\(SampleMedia.fixtures)/media/ts-h264-aac.ts"
        let stream = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        // Tables, up to the second key frame, and two segments without one.
        try folder.write(Array(stream[..<564]), to: "map.ts")
        try folder.write(Array(stream[564..<8836]), to: "0.ts")
        try folder.write(Array(stream[8836..<12_032]), to: "1.ts")
        try folder.write(Array(stream[12_032...]), to: "2.ts")
        let segments = [("0.64", "0"), ("0.24", "1"), ("0.32", "2")].map { "#EXTINF:\($0),\n\($1).ts\n" }.joined()
        let list = "#EXT-X-MAP:URI=\"map.ts\"\n\(segments)#EXT-X-ENDLIST\n"
        try folder.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(list)".utf8), to: "a.m3u8")
        let part = try await hlsget(command, "--from", "1", "-o", "a.\(format)", "a.m3u8", in: folder)
        #expect(part.status == 10, "\(part.errors)")
        #expect(part.errors.contains("the file has no video: each frame depends on one before the start"))
        // The segment before this one has a key frame.
        let near = try await hlsget(command, "--from", "0.7", "-o", "c.\(format)", "a.m3u8", in: folder)
        #expect(near.status == 0, "\(near.errors)")
        let whole = try await hlsget(command, "-o", "b.\(format)", "a.m3u8", in: folder)
        #expect(whole.status == 0, "\(whole.errors)")
    }

    @Test(
        "S03: cues that begin before --from do not shift the rest", .enabled(if: ProbedFile.isAvailable),
        arguments: ["mp4", "mkv"], ["9", "-100"])
    func beginsBefore(_ format: String, _ start: String) async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        let cue = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n00:00:07.400 --> 00:00:10.000\nhello\n"
        for index in 0..<SampleMedia.segmentCount { files["s\(index).vtt"] = Array("WEBVTT\n".utf8) }
        files["s2.vtt"] = Array(cue.utf8)
        let list = (0..<SampleMedia.segmentCount).map { "#EXTINF:4,\ns\($0).vtt\n" }.joined()
        files["s.m3u8"] = Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(list)#EXT-X-ENDLIST\n".utf8)
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        let media = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"English\",LANGUAGE=\"en\",URI=\"s.m3u8\""
        files["master.m3u8"] = Array(
            master.replacing("#EXTM3U\n", with: "#EXTM3U\n\(media)\n")
                .replacing("RESOLUTION", with: "SUBTITLES=\"s\",RESOLUTION").utf8)
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "download", "-o", "a.\(format)", "--from", start, "--to", "12", "--subs", "all",
                "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let video = try #require(try ProbedFile("a.\(format)", in: folder).streams.first { $0.type == "video" })
        #expect(abs(video.start) < 0.1, "\(video.start)")
        let command = "ffmpeg -v error -copyts -i a.\(format) -map 0:s -output_ts_offset \(-video.start) -f srt -"
        let cues = String(decoding: try Tool.run(["/bin/sh", "-c", command], in: folder.path), as: UTF8.self)
        // In MP4, an edit list hides the second before the requested start.
        let end = format == "mp4" ? 1 : 2
        let expected = start == "9" ? "00:00:00,000 --> 00:00:0\(end),0" : "00:00:07,400 --> 00:00:10,0"
        #expect(cues.contains(expected), "\(cues)")
    }

    struct Outputs: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var words: String
        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(
        "R72: unwritable outputs are reported before the first request",
        arguments: [
            Outputs(arguments: ["captions", "-o", "no/x.vtt"], words: "cannot write"),
            Outputs(arguments: ["thumbnails", "-o", "no/such/t-%d.jpg"], words: "no/such"),
            Outputs(arguments: ["thumbnails", "-o", "no/such/"], words: "no/such"),
            Outputs(arguments: ["thumbnails", "--every", "2", "-o", "no/such/t-%d.jpg"], words: "no/such"),
            Outputs(arguments: ["thumbnails", "--sheet", "no/s.jpg"], words: "no/s.jpg"),
            Outputs(
                arguments: ["thumbnails", "--sheet", "s.jpg", "--storyboard", "no/s.vtt"], words: "no/s.vtt"),
            Outputs(arguments: ["download", "-o", "no/x.mp4"], words: "No such file"),
            Outputs(arguments: ["download", "--overwrite", "-o", "null.mp4"], words: "not a regular file"),
            Outputs(arguments: ["download", "--overwrite", "-o", "pipe.mp4"], words: "not a regular file"),
            Outputs(arguments: ["download", "--overwrite", "-o", "folder.mp4"], words: "not a regular file"),
            Outputs(arguments: ["download", "-o", "dangling.mp4"], words: "the file exists"),
        ])
    func outputs(_ c: Outputs) async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "folder.mp4/x")
        symlink("/dev/null", folder.path + "/null.mp4")
        symlink("nowhere", folder.path + "/dangling.mp4")
        mkfifo(folder.path + "/pipe.mp4", 0o600)
        let before = try names(in: folder)
        let origin = FaultyOrigin([:])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(c.arguments + ["\(server.url)/master.m3u8"], in: folder)
            #expect(result.status == 9, "\(result.errors)")
            #expect(result.errors.contains(c.words), "\(result.errors)")
            #expect(server.requests.isEmpty)
        }
        #expect(try names(in: folder) == before)
    }

    @Test(
        "R71: a signal ends a command that waits for its first response",
        arguments: [
            ["captions", "-o", "a.srt"], ["captions", "--list"], ["thumbnails", "--sheet", "a.jpg"],
            ["download", "-o", "a.mp4"],
        ])
    func signal(_ arguments: [String]) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin([:], ["master.m3u8": (.silence, .max)])
        try await withServer(answering: origin.answer) { server in
            let command = try Command.hlsget(arguments + ["\(server.url)/master.m3u8"], in: folder.path)
            for _ in 0..<4000 where server.requests.isEmpty { usleep(5000) }
            command.send(signal: SIGTERM)
            #expect(try await command.result().status == 128 + SIGTERM)
        }
        #expect(try names(in: folder).allSatisfy { $0 == "a.mp4.download" })
    }

    @Test("Q06: --on-gap fail has one exit code for play and download, for gaps and missing segments")
    func onGap() async throws {
        for isMarked in [true, false] {
            var files = try CutStream.files()
            files["v3.m4s"] = nil
            if isMarked {
                let text = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self)
                files["v.m3u8"] = Array(text.replacing("\nv3.m4s", with: "\n#EXT-X-GAP\nv3.m4s").utf8)
            }
            let folder = try ScratchFolder()
            try await withServer(answering: FaultyOrigin(files).answer) { server in
                let url = "\(server.url)/master.m3u8"
                let loaded = try await hlsget("download", "--on-gap", "fail", "-o", "a.mp4", url, in: folder)
                #expect(loaded.status == 10, "\(loaded.errors)")
                #expect(loaded.errorLines.count == 1 && loaded.errors.contains("segment 3 is missing"))
                #expect(!FileManager.default.fileExists(atPath: folder.path + "/a.mp4"))
                let played = try await hlsget("--fast", "--on-gap", "fail", url, in: folder)
                #expect(played.status == 10, "\(played.errors)")
            }
        }
    }
}
