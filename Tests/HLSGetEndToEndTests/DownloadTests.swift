import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("hlsget download", .ownThread, .timeLimit(.minutes(10)))
struct DownloadTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    private func names(in folder: ScratchFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func decodedFrames(_ name: String, in folder: ScratchFolder) async throws -> [String] {
        let result = try await hlsget("--fast", "-f", "framemd5", "--no-audio", name, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }

    private func audio(_ name: String, in folder: ScratchFolder) async throws -> [UInt8] {
        let result = try await hlsget("--fast", "-f", "s16le", "-o", "-", name, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    @Test(
        "S02: a download has every frame and its audio, and leaves no other files", arguments: ["mp4", "mkv", "ts"])
    func whole(format: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("download", "-o", "a.\(format)", "--quality", "180p", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.count == 1)
        #expect(result.lines.last?.hasPrefix("hlsget: 0:40 in a.\(format) (21 segments, ") == true)
        #expect(try names(in: folder) == ["a.\(format)"])
        guard format != "mkv" else { return }
        #expect(try await decodedFrames("a.\(format)", in: folder) == SampleMedia.frameHashes(of: "180p"))
        #expect(abs(try await audio("a.\(format)", in: folder).count / 4 - 40 * 48_000) <= 2 * 1024)
    }

    @Test("a name gets the size of the frames if no playlist declares it")
    func undeclaredSize() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "download", "-o", "a-{width}x{height}.mp4", "--to", "1", SampleMedia.folder + "/video-180p.m3u8", in: folder
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try names(in: folder) == ["a-320x180.mp4"])
    }

    private final class Executioner: Sendable {
        private let state = Mutex((command: Command?.none, count: 0))
        private let moment: Int
        /// Whether the command is killed in the middle of a response instead of before it.
        let isMidway: Bool

        init(moment: Int, isMidway: Bool) {
            self.moment = moment
            self.isMidway = isMidway
        }

        func aim(at command: Command) { state.withLock { $0.command = command } }

        func isDue() -> Bool {
            state.withLock { state in
                state.count += 1
                return state.count == moment
            }
        }

        func strike() {
            // The server may be ready before the test knows the command.
            for _ in 0..<2000 {
                if let command = state.withLock({ $0.command }) { return command.send(signal: SIGKILL) }
                usleep(1000)
            }
        }
    }

    @Test("S02: a download killed at any of 20 moments and repeated has every frame", arguments: 0..<20)
    func killed(_ seed: Int) async throws {
        let folder = try ScratchFolder()
        // 26 requests: three playlists, two maps and 21 segments.
        let executioner = Executioner(moment: 1 + (seed * 11 + 4) % 26, isMidway: seed % 2 == 0)
        let files = try CutStream.files()
        try await withServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            if executioner.isDue() {
                if executioner.isMidway {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n")
                    connection.send(bytes[..<(bytes.count / 2)])
                }
                return executioner.strike()
            }
            connection.respond(bytes)
        }) { server in
            let arguments = ["download", "-o", "a.mp4", "\(server.url)/master.m3u8"]
            let command = try Command.hlsget(arguments, in: folder.path)
            executioner.aim(at: command)
            #expect(try await command.result().status == 128 + SIGKILL)
            #expect(try names(in: folder) == ["a.mp4.download"])
            let before = server.requests.count
            let result = try await hlsget(arguments, in: folder)
            #expect(result.status == 0, "\(result.errors)")
            // At most six requests were in flight, and playlists are always requested again.
            #expect(server.requests.count - before <= 26 - max(0, before - 6) + 5)
            #expect(try names(in: folder) == ["a.mp4"])
            #expect(try await decodedFrames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
        }
    }

    /// Serves the cut stream below any folder. With the token `old`, it responds to later segments with 403.
    private static func serve(_ files: [String: [UInt8]]) -> @Sendable (ScriptedServer.Connection, [String]) -> Void {
        { connection, request in
            let target = String(request.first?.split(separator: " ").dropFirst().first ?? "")
            let path = String(target.prefix { $0 != "?" }.split(separator: "/").last ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            if target.contains("old"), ["v6.m4s", "v7.m4s", "a7.m4s", "v8.m4s"].contains(path) {
                return connection.respond(Array("no".utf8), status: "403 Forbidden")
            }
            guard let mark = target.firstIndex(of: "?"), path.hasSuffix(".m3u8") else {
                return connection.respond(bytes)
            }
            // The playlist's query also applies to the URLs in it.
            let text = String(decoding: bytes, as: UTF8.self).replacing(".m4s\n", with: ".m4s\(target[mark...])\n")
                .replacing("v.m3u8", with: "v.m3u8\(target[mark...])")
                .replacing("\"a.m3u8\"", with: "\"a.m3u8\(target[mark...])\"")
            connection.respond(Array(text.utf8))
        }
    }

    @Test(
        "S02: if the URL expires, a fresh one continues from there",
        arguments: [("master.m3u8?token=old", "master.m3u8?token=new"), ("old/master.m3u8", "new/master.m3u8")])
    func refreshed(_ old: String, _ new: String) async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        try await withServer(answering: Self.serve(files)) { server in
            let first = try await hlsget("download", "-o", "a.mp4", "\(server.url)/\(old)", in: folder)
            #expect(first.status == 3)
            #expect(first.errorLines.count == 1)
            #expect(first.errors.contains("HTTP 403"))
            let before = server.requests.count
            let second = try await hlsget("download", "-o", "a.mp4", "\(server.url)/\(new)", in: folder)
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.errors.contains("from an earlier run"))
            #expect(server.requests.count - before < 20)
            #expect(try await decodedFrames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
        }
    }

    @Test("S02: a part damaged on disk is loaded again")
    func damaged() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        try await withServer(answering: Self.serve(files)) { server in
            _ = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8?old", in: folder)
            let work = folder.path + "/a.mp4.download"
            let all = try #require(FileManager.default.subpaths(atPath: work))
            let parts = all.filter { $0.hasSuffix("000002.m4s") || $0.hasSuffix("000001.m4s") }.sorted()
            #expect(parts.count == 4)
            for (index, part) in parts.enumerated() {
                let url = URL(fileURLWithPath: "\(work)/\(part)")
                var bytes = try Data(contentsOf: url)
                if index == 0 { bytes[bytes.count / 2] ^= 1 } else { bytes.removeLast() }
                if index == 2 { try FileManager.default.removeItem(at: url) } else { try bytes.write(to: url) }
            }
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8?new", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("4 damaged and reloaded"))
            #expect(try await decodedFrames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
        }
    }

    @Test(
        "another stream's leftovers are not mixed in, whatever part of the URL differs",
        arguments: [
            ("x/master.m3u8?old", "y/master.m3u8"), ("master.m3u8?id=1&old", "master.m3u8?id=2"),
            ("master.m3u8?old", "master.m3u8#2"),
        ])
    func otherStream(_ one: String, _ other: String) async throws {
        let folder = try ScratchFolder()
        let stream = try CutStream.files()
        var files = stream
        for index in 2..<SampleMedia.segmentCount { files["v\(index).m4s"] = stream["v\(index - 1).m4s"] }
        let otherFiles = files
        try await withServer(answering: Self.serve(stream)) { server in
            let first = try await hlsget("download", "-o", "a.mp4", "\(server.url)/\(one)", in: folder)
            #expect(first.status == 3)
        }
        try await withServer(answering: Self.serve(otherFiles)) { server in
            let second = try await hlsget("download", "-o", "a.mp4", "\(server.url)/\(other)", in: folder)
            #expect(second.status == 9)
            #expect(second.errors.contains("remove it to start again"))
        }
    }

    @Test("a missing segment is named; --strict writes no file and keeps the segments")
    func missing() async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        files["v3.m4s"] = nil
        let incomplete = files
        try await withServer(answering: Self.serve(incomplete)) { server in
            let url = "\(server.url)/master.m3u8"
            let strict = try await hlsget("download", "--strict", "-o", "a.mp4", url, in: folder)
            #expect(strict.status == 10)
            #expect(strict.errors.contains("v3.m4s (HTTP 404)"))
            #expect(try names(in: folder) == ["a.mp4.download"])
            let result = try await hlsget("download", "-o", "a.mp4", url, in: folder)
            #expect(result.status == 0)
            #expect(result.errors.contains("1 missing"))
            #expect(try await decodedFrames("a.mp4", in: folder).count == 900)
        }
    }

    @Test("--from and --to load only the needed segments, from a sync sample on")
    func range() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        try await withServer(answering: Self.serve(files)) { server in
            let result = try await hlsget(
                "download", "-o", "a.mp4", "--from", "9", "--to", "14", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let paths = server.requests.compactMap {
                $0.first?.split(separator: " ").dropFirst().first.map(String.init)
            }
            #expect(Set(paths.filter { $0.hasPrefix("/v") && $0.hasSuffix(".m4s") }) == ["/v2.m4s", "/v3.m4s"])
            let frames = try await decodedFrames("a.mp4", in: folder)
            let all = try SampleMedia.frameHashes(of: "180p")
            // An edit list hides the second before the requested start.
            let start = try #require(all.firstIndex(of: frames.first ?? ""))
            #expect((224...225).contains(start))
            #expect(abs(start + frames.count - 350) <= 3)
            #expect(!result.errors.contains("before the requested start"), "\(result.errors)")
            let stream = try await hlsget(
                "download", "-o", "a.ts", "--from", "9", "--to", "14", "\(server.url)/master.m3u8", in: folder)
            #expect(stream.errors.contains("s before the requested start, at the previous sync frame"))
            #expect(try await decodedFrames("a.ts", in: folder).first == all[200])
        }
    }

    private static func languages() throws -> [String: [UInt8]] {
        var files = try CutStream.files()
        for name in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder)
        where name.hasPrefix("subtitles-en") {
            files[name] = FileManager.default.contents(atPath: SampleMedia.folder + "/" + name).map(Array.init)
        }
        files["master.m3u8"] = Array(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="a.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de-AT",URI="a.m3u8?de"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Suomi",LANGUAGE="fi",URI="a.m3u8?fi"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="subtitles-en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=127446,RESOLUTION=320x180,AUDIO="a",SUBTITLES="s"
            v.m3u8

            """.utf8)
        return files
    }

    @Test(
        "requested subtitles that a stream lacks are reported",
        arguments: [("master.m3u8", "all"), ("v.m3u8", "all"), ("v.m3u8", "lang=en")])
    func withoutSubtitles(_ name: String, _ subtitles: String) async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        let options = ["download", name, "--to", "5", "--subs", subtitles]
        let result = try await hlsget(options + ["-o", "a.mkv"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("warning: --subs: the stream has no subtitles"))
        let strict = try await hlsget(options + ["-o", "b.mkv", "--strict"], in: folder)
        #expect(strict.status == 10, "\(strict.errors)")
    }

    @Test(
        "S03: several languages and subtitles are tracks of one file",
        .enabled(if: Tool.exists("/usr/bin/ffprobe")),
        arguments: [
            ("mp4", ["--audio", "all", "--subs", "all"], "video,und audio,eng audio,deu audio,fin subtitle,eng"),
            ("mkv", ["--audio", "all", "--subs", "all"], "video audio,eng audio,ger audio,fin subtitle,eng"),
            (
                "mkv", ["--audio", "lang=fi", "--audio", "lang=de", "--subs", "lang=en"],
                "video audio,fin audio,ger subtitle,eng"
            ),
            ("ts", ["--audio", "all"], "video audio,eng audio,deu audio,fin"), ("mp4", [], "video,und audio,eng"),
        ])
    func languages(_ format: String, _ options: [String], _ streams: String) async throws {
        let folder = try ScratchFolder()
        let files = try Self.languages()
        try await withServer(answering: Self.serve(files)) { server in
            let result = try await hlsget(
                ["download", "-o", "a.\(format)"] + options + ["\(server.url)/master.m3u8"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.lines.count == 1, "\(result.errors)")
        }
        let found = try ProbedFile("a.\(format)", in: folder).streams.map { stream in
            [stream.type, stream.language].compactMap(\.self).joined(separator: ",")
        }
        #expect(found == streams.split(separator: " ").map(String.init))
        guard options.contains("--subs") else { return }
        // Matroska has no negative times. Audio that a decoder needs before the start shifts everything else.
        let start = try #require(try ProbedFile("a.\(format)", in: folder).streams.first).start
        let command =
            "ffmpeg -v warning -copyts -i a.\(format) -map 0:s -output_ts_offset \(-start) -f srt - 2>&1"
        let cues = try Tool.run(["/bin/sh", "-c", command], in: folder.path)
        let lines = String(decoding: cues, as: UTF8.self)
        let captions = try await hlsget("captions", "-f", "srt", Self.master, in: folder)
        let plain = { (text: String) in text.replacing("\r", with: "").split(separator: "\n").map(String.init) }
        #expect(plain(lines) == plain(String(decoding: captions.output, as: UTF8.self)))
    }

    @Test(
        "S03: with --to no subtitle lasts beyond the end, with --from none starts before",
        .enabled(if: Tool.exists("/usr/bin/ffprobe")))
    func subtitlesOfPart() async throws {
        let folder = try ScratchFolder()
        let files = try Self.languages()
        try await withServer(answering: Self.serve(files)) { server in
            let result = try await hlsget(
                "download", "-o", "a.mp4", "--subs", "all", "--from", "9", "--to", "11",
                "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let command = "ffmpeg -v warning -copyts -i a.mp4 -map 0:s -f srt - 2>&1"
        let cues = String(decoding: try Tool.run(["/bin/sh", "-c", command], in: folder.path), as: UTF8.self)
        let times = cues.split(separator: "\n").filter { $0.contains("-->") }.map(String.init)
        #expect(times == ["00:00:00,000 --> 00:00:01,000", "00:00:01,000 --> 00:00:02,000"])
    }

    @Test("S03: --audio and --subs list the available tracks if none matches")
    func noSuchLanguage() async throws {
        let folder = try ScratchFolder()
        let files = try Self.languages()
        try await withServer(answering: Self.serve(files)) { server in
            let result = try await hlsget(
                "download", "-o", "a.mp4", "--audio", "lang=sv", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 6)
            #expect(result.errors.contains("no audio rendition matches \"lang=sv\""))
            #expect(result.errors.contains("Suomi (fi)"))
        }
    }

    @Test("S01: a folder of segments and playlists plays like the stream")
    func folder() async throws {
        let folder = try ScratchFolder()
        let files = try CutStream.files()
        try await withServer(answering: Self.serve(files)) { server in
            let result = try await hlsget("download", "-o", "film/", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try names(in: folder) == ["film"])
        #expect(try await decodedFrames("film/index.m3u8", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("S01: a folder of several variants contains each of them")
    func severalVariants() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "download", "-o", "film/", "--quality", "180p", "--quality", "360p", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: folder.path + "/film/index.m3u8", encoding: .utf8)
        #expect(text.components(separatedBy: "#EXT-X-STREAM-INF").count == 3)
        for quality in ["180p", "360p"] {
            let hashes = try await hlsget(
                "--fast", "-f", "framemd5", "-o", "-", "--quality", quality, "film/index.m3u8", in: folder)
            #expect(hashes.status == 0, "\(hashes.errors)")
            let width = quality == "180p" ? "320x180" : "640x360"
            #expect(String(decoding: hashes.output, as: UTF8.self).contains("dimensions 0: \(width)"))
        }
    }

    @Test("S01: the same command with other options adds to a finished folder")
    func added() async throws {
        let folder = try ScratchFolder()
        for options in [["--quality", "180p"], ["--subs", "all"], ["--quality", "360p"], ["--skip-existing"], []] {
            let result = try await hlsget(["download", "-o", "film/"] + options + [Self.master], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("already exists") == (options == ["--skip-existing"]), "\(result.errors)")
        }
        #expect(try names(in: folder) == ["film"])
        let text = try String(contentsOfFile: folder.path + "/film/index.m3u8", encoding: .utf8)
        #expect(text.components(separatedBy: "#EXT-X-STREAM-INF").count == 3)
        #expect(text.components(separatedBy: "TYPE=SUBTITLES").count == 2)
        #expect(try await decodedFrames("film/index.m3u8", in: folder).count == 1000)
        let captions = try await hlsget("captions", "-f", "srt", "film/index.m3u8", in: folder)
        let original = try await hlsget("captions", "-f", "srt", Self.master, in: folder)
        #expect(captions.status == 0 && captions.output == original.output, "\(captions.errors)")
    }

    @Test("S01: a folder without a download is refused, also with --overwrite")
    func foreignFolder() async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "mine/a.txt")
        let taken = try await hlsget("download", "-o", "mine/", Self.master, in: folder)
        #expect(taken.status == 9 && taken.errors.contains("the name is taken"), "\(taken.errors)")
        let overwritten = try await hlsget("download", "-y", "-o", "mine/", Self.master, in: folder)
        #expect(overwritten.status == 64, "\(overwritten.errors)")
        #expect(try names(in: folder) == ["mine"])
    }

    @Test(
        "each failure is one line with its own exit code",
        arguments: [
            (["-o", "there.mp4"], Int32(9), "the file exists"), (["-o", "no/where.mp4"], 9, "No such file"),
            (["-o", "a.mp4", "--quality", "height<10"], 6, "no variant matches"),
            (["-o", "a.mp4", "--from", "41"], 10, "the stream ends before the requested start"),
            (["-o", "a.mp4", "--quality", "180p", "--quality", "360p"], 64, "a file holds one --quality"),
            (["-o", "a.gif"], 64, "unknown file extension"), (["-o", "-"], 64, "cannot go to standard output"),
            (["-o", "a.mp4", "--connections", "0"], 64, "1 to 16"),
        ])
    func refused(_ options: [String], _ status: Int32, _ text: String) async throws {
        let folder = try ScratchFolder()
        try folder.write([1], to: "there.mp4")
        let result = try await hlsget(["download"] + options + [Self.master], in: folder)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains(text), "\(result.errors)")
        #expect(status == 64 || result.errorLines.count == 1)
    }
}
