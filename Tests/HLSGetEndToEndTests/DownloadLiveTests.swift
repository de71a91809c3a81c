import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("hlsget download of live streams", .ownThread, .timeLimit(.minutes(10)))
struct DownloadLiveTests {
    /// The cut stream as a live stream. Each time a playlist is loaded, it lists one more segment, at most four in all.
    private final class GrowingOrigin: Sendable {
        private let files: [String: [UInt8]]
        /// The number of segments that were listed before the first load.
        private let earlierCount: Int
        private let loadCounts = Mutex<[String: Int]>([:])
        /// The total number of segments. After them the stream ends, or only stops updating.
        private let last: Int
        private let ends: Bool
        /// The first video segment that is encrypted with a missing key.
        private let firstLocked: Int?
        private let stalled: String?
        private let isGone = Mutex(false)

        init(
            _ files: [String: [UInt8]]? = nil, earlierCount: Int = 2, last: Int, ends: Bool, firstLocked: Int? = nil,
            stalled: String? = nil
        ) throws {
            self.files = try files ?? CutStream.files()
            self.earlierCount = earlierCount
            self.last = last
            self.ends = ends
            self.firstLocked = firstLocked
            self.stalled = stalled
        }

        func vanish() { isGone.withLock { $0 = true } }

        func answer(_ connection: ScriptedServer.Connection, _ request: [String]) {
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            if path == stalled { return connection.waitForClose() }
            guard let bytes = files[path], !isGone.withLock({ $0 }) else {
                return connection.respond([], status: "404 Not Found")
            }
            guard ["v.m3u8", "a.m3u8", "s.m3u8"].contains(path) else { return connection.respond(bytes) }
            let count = loadCounts.withLock { counts in
                counts[path, default: earlierCount] += 1
                return counts[path] ?? 0
            }
            connection.respond(Array(playlist(of: bytes, upTo: count).utf8))
        }

        private func playlist(of bytes: [UInt8], upTo count: Int) -> String {
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            let all = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map { lines[$0] + "\n" + lines[$0 + 1] }
            let map = lines.first { $0.hasPrefix("#EXT-X-MAP") } ?? ""
            let end = min(count, last, all.count)
            let start = max(0, end - 4)
            // The target duration is too short, to keep the test short.
            var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(start)\n\(map)\n"
            let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\"\n"
            text += (start..<end).map { index in
                (map.contains("v-") && firstLocked.map { index >= $0 } == true ? key : "") + all[index] + "\n"
            }.joined()
            return text + (ends && end == min(last, all.count) ? "#EXT-X-ENDLIST\n" : "")
        }
    }

    private func frames(_ name: String, in folder: ScratchFolder) async throws -> [String] {
        let result = try await hlsget("--fast", "-f", "framemd5", "--no-audio", name, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }

    @Test("S02: a live stream is followed until it ends, and nothing is missing")
    func window() async throws {
        let folder = try ScratchFolder()
        let origin = try GrowingOrigin(last: 20, ends: true)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.lines.count == 1, "\(result.errors)")
            let paths = server.requests.compactMap { $0.first?.split(separator: " ").dropFirst().first }
            // Seven more segments, one per request. An unchanged playlist is requested again.
            #expect((8...12).contains(paths.count { $0 == "/v.m3u8" }))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4"])
        #expect(try await frames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test(
        "S03: cues that begin before a live window do not shift the rest, wherever their header is",
        .enabled(if: ProbedFile.isAvailable), arguments: [true, false])
    func subtitles(headerInMap: Bool) async throws {
        let folder = try ScratchFolder()
        var files = try CutStream.files()
        let header = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n"
        files["head.vtt"] = Array(header.utf8)
        var list = "#EXTM3U\n" + (headerInMap ? "#EXT-X-MAP:URI=\"head.vtt\"\n" : "")
        for index in 0..<SampleMedia.segmentCount {
            list += "#EXTINF:4,\ns\(index).vtt\n"
            // The cue begins 0.6 s before the segment.
            let (start, end) = (max(0, index * 4000 - 600), index * 4000 + 2000)
            let times = [start, end].map { String(format: "00:00:%02d.%03d", $0 / 1000, $0 % 1000) }
            let cue = "\(times[0]) --> \(times[1])\n\(index)\n"
            files["s\(index).vtt"] = Array(((headerInMap ? "" : header) + cue).utf8)
        }
        files["s.m3u8"] = Array(list.utf8)
        let media = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"English\",LANGUAGE=\"en\",URI=\"s.m3u8\""
        files["master.m3u8"] = Array(
            String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
                .replacing("#EXTM3U\n", with: "#EXTM3U\n\(media)\n")
                .replacing("RESOLUTION", with: "SUBTITLES=\"s\",RESOLUTION").utf8)
        // The first window begins with the sixth segment.
        let origin = try GrowingOrigin(files, earlierCount: 8, last: 20, ends: true)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let result = try await hlsget(
                "download", "--live-from-start", "-o", "a.mp4", "--subs", "all", "\(server.url)/master.m3u8",
                in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try await frames("a.mp4", in: folder) == Array(SampleMedia.frameHashes(of: "180p").suffix(500)))
        let video = try #require(try ProbedFile("a.mp4", in: folder).streams.first { $0.type == "video" })
        let command = "ffmpeg -v error -copyts -i a.mp4 -map 0:s -output_ts_offset \(-video.start) -f srt -"
        let text = String(decoding: try Tool.run(["/bin/sh", "-c", command], in: folder.path), as: UTF8.self)
        let times = text.split(separator: "\n").filter { $0.contains(" --> ") }.map { line in
            line.replacing(",", with: ".").split(separator: " --> ")
                .map { Double($0.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "") ?? .nan }
        }
        #expect(times.count == 5, "\(text)")
        for (index, time) in times.enumerated() {
            #expect(abs(time[0] - max(0, Double(4 * index) - 0.6)) < 0.05, "\(text)")
            #expect(abs(time[1] - Double(4 * index + 2)) < 0.05, "\(text)")
        }
    }

    @Test("S02: --to ends a live stream that continues")
    func end() async throws {
        let folder = try ScratchFolder()
        let origin = try GrowingOrigin(last: 20, ends: false)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let result = try await hlsget(
                "download", "--live-from-start", "-o", "a.mp4", "--to", "16", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try await frames("a.mp4", in: folder) == Array(SampleMedia.frameHashes(of: "180p").prefix(400)))
    }

    @Test("an end before a live stream's start is reported, and nothing is overwritten")
    func endBeforeStart() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("old".utf8), to: "a.ts")
        let origin = try GrowingOrigin(last: 20, ends: false)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            for output in [["-f", "null"], ["--overwrite", "-o", "a.ts"]] {
                let result = try await hlsget(
                    output + ["--from", "-1", "--to", "1", "\(server.url)/master.m3u8"], in: folder)
                #expect(result.status == 10, "\(result.errors)")
                #expect(
                    result.errorLines.first?.contains("--to is before the point where playback began") == true,
                    "\(result.errors)")
            }
        }
        #expect(FileManager.default.contents(atPath: folder.path + "/a.ts") == Data("old".utf8))
    }

    @Test("S02: an interrupted live download keeps its media so far", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(_ signal: Int32) async throws {
        let folder = try ScratchFolder()
        let origin = try GrowingOrigin(last: 5, ends: false)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let command = try Command.hlsget(
                ["download", "--live-from-start", "-o", "a.mp4", "--progress", "json", "\(server.url)/master.m3u8"],
                in: folder.path)
            #expect(command.waitForErrors(containing: "\"segments\":10"))
            command.send(signal: signal)
            let result = try await command.result()
            #expect(result.status == 128 + signal, "\(result.errors)")
            #expect(result.errorLines.isEmpty)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4"])
        #expect(try await frames("a.mp4", in: folder) == Array(SampleMedia.frameHashes(of: "180p").prefix(500)))
    }

    @Test("S02, R42, R50: if a live stream's key fails, the file contains the media before it")
    func key() async throws {
        let folder = try ScratchFolder()
        let origin = try GrowingOrigin(last: 20, ends: false, firstLocked: 5)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let result = try await hlsget(
                "download", "--live-from-start", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 7, "\(result.errors)")
            #expect(result.errors.contains("key.bin"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4"])
        #expect(try await frames("a.mp4", in: folder) == Array(SampleMedia.frameHashes(of: "180p").prefix(500)))
    }

    @Test("S02: if the stream is gone after a kill, a repeated run writes the stored media")
    func gone() async throws {
        let folder = try ScratchFolder()
        let origin = try GrowingOrigin(last: 5, ends: false)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let arguments = [
                "download", "--live-from-start", "-o", "a.mp4", "--progress", "json", "\(server.url)/master.m3u8",
            ]
            let command = try Command.hlsget(arguments, in: folder.path)
            #expect(command.waitForErrors(containing: "\"segments\":10"))
            command.send(signal: SIGKILL)
            _ = try await command.result()
            origin.vanish()
            let other = try await hlsget(
                "download", "--live-from-start", "-o", "a.mp4", "\(server.url)/x.m3u8", in: folder)
            #expect(other.status == 3)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4.download"])
            let result = try await hlsget(
                "download", "--live-from-start", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 3, "\(result.errors)")
            #expect(result.errors.contains("10 segments"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4"])
        #expect(try await frames("a.mp4", in: folder) == Array(SampleMedia.frameHashes(of: "180p").prefix(500)))
        guard ProbedFile.isAvailable else { return }
        #expect(try ProbedFile("a.mp4", in: folder).streams.count == 2)
    }

    @Test("R71: an interrupted live download does not wait for missing segments")
    func stalled() async throws {
        let folder = try ScratchFolder()
        let origin = try GrowingOrigin(last: 5, ends: false, stalled: "v4.m4s")
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let command = try Command.hlsget(
                ["download", "--live-from-start", "-o", "a.mp4", "--progress", "json", "\(server.url)/master.m3u8"],
                in: folder.path)
            #expect(command.waitForErrors(containing: "\"segments\":9"))
            let clock = ContinuousClock()
            let began = clock.now
            command.send(signal: SIGINT)
            #expect(try await command.result().status == 128 + SIGINT)
            // Without a limit, the command would wait for the response until its timeout of 36 s.
            #expect(clock.now - began < .seconds(20))
        }
        #expect(try await frames("a.mp4", in: folder) == Array(SampleMedia.frameHashes(of: "180p").prefix(400)))
    }
}
