import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Recording several tracks into numbered files", .ownThread, .timeLimit(.minutes(10)))
struct PartTests {
    /// The cut stream with two audio renditions and two subtitle renditions, as a complete or a live stream.
    private final class Origin: Sendable {
        private static let lists = ["v.m3u8", "a.m3u8", "b.m3u8", "s.m3u8", "t.m3u8"]

        private let files: [String: [UInt8]]
        private let loadCounts = Mutex<[String: Int]>([:])
        /// The number of segments that the first playlist lists, or `nil` if the stream is complete.
        private let first: Int?
        private let ends: Bool

        init(liveFrom first: Int? = nil, ends: Bool = true) throws {
            (self.first, self.ends) = (first, ends)
            var files = try CutStream.files()
            files["b.m3u8"] = files["a.m3u8"]
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
            for index in 0..<SampleMedia.segmentCount {
                let path = "\(SampleMedia.folder)/subtitles-en-\(index).vtt"
                files["s\(index).vtt"] = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
                text += "#EXTINF:4,\ns\(index).vtt\n"
            }
            files["s.m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
            files["t.m3u8"] = files["s.m3u8"]
            files["master.m3u8"] = Array(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="a.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",LANGUAGE="fr",AUTOSELECT=YES,URI="b.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="s.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="French",LANGUAGE="fr",AUTOSELECT=YES,URI="t.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=127446,CODECS="avc1.4d400d,mp4a.40.2",AUDIO="a",SUBTITLES="s"
                v.m3u8

                """.utf8)
            self.files = files
        }

        func answer(_ connection: ScriptedServer.Connection, _ request: [String]) {
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            guard let first, Self.lists.contains(path) else { return connection.respond(bytes) }
            let count = loadCounts.withLock { counts in
                counts[path, default: first - 1] += 1
                return counts[path] ?? 0
            }
            connection.respond(Array(playlist(of: bytes, upTo: count).utf8))
        }

        /// The playlist of a live stream, which lists eight segments at most. The target duration is too short, to keep
        /// the test short.
        private func playlist(of bytes: [UInt8], upTo count: Int) -> String {
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            let all = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map { lines[$0] + "\n" + lines[$0 + 1] }
            let map = lines.first { $0.hasPrefix("#EXT-X-MAP") } ?? ""
            let end = min(count, all.count)
            let start = max(0, end - 8)
            let text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(start)\n\(map)\n"
            let isOver = ends && end == all.count
            return text + all[start..<end].joined(separator: "\n") + (isOver ? "\n#EXT-X-ENDLIST\n" : "\n")
        }
    }

    /// The hashes of all packets of a stream, such as `a:1`. Empty packets, which end a text in MP4, are omitted.
    private func packets(_ stream: String, of names: [String], in folder: ScratchFolder) throws -> [Substring] {
        try names.flatMap { name in
            let command = "ffmpeg -v error -nostdin -i \(name) -map 0:\(stream) -c copy -f framemd5 -"
            let output = try Tool.run(["/bin/sh", "-c", command], in: folder.path)
            return String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { line in
                    // Stream, times, duration, size, hash, and side data.
                    let fields = line.split(separator: ",").map { $0.drop { $0 == " " } }
                    return fields.count > 5 && fields[4] != "2" ? fields[5] : nil
                }
        }
    }

    private func files(in folder: ScratchFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// Compares the parts with one file that a download has written.
    private func compare(_ parts: [String], with whole: String, in folder: ScratchFolder) throws {
        let streams = try ProbedFile(whole, in: folder).streams
        for part in parts {
            let own = try ProbedFile(part, in: folder).streams
            #expect(own.map(\.type) == streams.map(\.type), "\(part)")
            #expect(own.map(\.language) == streams.map(\.language), "\(part)")
        }
        for stream in ["v:0", "a:0", "a:1"] + (whole.hasSuffix("ts") ? [] : ["s:0", "s:1"]) {
            let expected = try packets(stream, of: [whole], in: folder)
            #expect(!expected.isEmpty)
            let found = try packets(stream, of: parts, in: folder)
            let difference = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            #expect(
                found.count == expected.count && difference == nil,
                "\(stream): \(found.count) of \(expected.count) packets, first difference at \(difference ?? -1)")
        }
    }

    private static let tracks = ["--audio", "lang=en", "--audio", "lang=fr", "--subs", "all"]

    @Test(
        "a recording of several tracks continues over its parts without losing a packet",
        .enabled(if: ProbedFile.isAvailable), arguments: ["mkv", "mp4", "ts"])
    func complete(ending: String) async throws {
        let folder = try ScratchFolder()
        let origin = try Origin()
        let subtitles = ending == "ts" ? [] : ["--subs", "all"]
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let url = "\(server.url)/master.m3u8"
            let whole = try await hlsget(
                ["download", "-q", "--audio", "all"] + subtitles + ["-o", "whole.\(ending)", url], in: folder)
            #expect(whole.status == 0, "\(whole.errors)")
            let result = try await hlsget(
                ["-q", "--split", "12s", "--audio", "all"] + subtitles + ["-o", "p-{part}.\(ending)", url], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errorLines.isEmpty, "\(result.errors)")
        }
        let parts = (1...4).map { "p-00\($0).\(ending)" }
        #expect(try files(in: folder) == parts + ["whole.\(ending)"])
        try compare(parts, with: "whole.\(ending)", in: folder)
    }

    @Test(
        "a live recording of several tracks writes its parts while it loads, and loses nothing",
        .enabled(if: ProbedFile.isAvailable), arguments: ["mkv", "mp4"])
    func live(ending: String) async throws {
        let folder = try ScratchFolder()
        let (origin, complete) = (try Origin(liveFrom: 3, ends: false), try Origin())
        try await withServer(answering: { complete.answer($0, $1) }) { server in
            let whole = try await hlsget(
                ["download", "-q"] + Self.tracks + ["-o", "whole.\(ending)", "\(server.url)/master.m3u8"], in: folder)
            #expect(whole.status == 0, "\(whole.errors)")
        }
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let command = try Command.hlsget(
                ["--live-from-start", "--split", "8s", "--progress", "json"] + Self.tracks
                    + ["-o", "p-{part}.\(ending)", "\(server.url)/master.m3u8"], in: folder.path)
            #expect(command.waitForErrors(containing: "\"segments\":52"))
            // The first files become complete although the stream continues.
            for _ in 0..<4000 where try !files(in: folder).contains("p-002.\(ending)") { usleep(5000) }
            #expect(try files(in: folder).contains("p-002.\(ending)"))
            command.send(signal: SIGINT)
            let result = try await command.result()
            #expect(result.status == 128 + SIGINT, "\(result.errors)")
            #expect(result.errorLines.isEmpty, "\(result.errors)")
        }
        let parts = (1...5).map { "p-00\($0).\(ending)" }
        #expect(try files(in: folder) == parts + ["whole.\(ending)"])
        try compare(parts, with: "whole.\(ending)", in: folder)
    }

    @Test("a live stream that ends also ends its parts", .enabled(if: ProbedFile.isAvailable))
    func ended() async throws {
        let folder = try ScratchFolder()
        let origin = try Origin(liveFrom: 8)
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            let result = try await hlsget(
                ["download", "--split", "8s", "--live-from-start"] + Self.tracks
                    + ["-o", "{height}-{part}.mkv", "\(server.url)/master.m3u8"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try files(in: folder) == (1...5).map { "180-00\($0).mkv" })
        let count = try packets("v:0", of: files(in: folder), in: folder).count
        #expect(count == SampleMedia.frameCount)
    }

    @Test("play and download begin a live stream at the same place", .enabled(if: ProbedFile.isAvailable))
    func liveStart() async throws {
        let folder = try ScratchFolder()
        var first: [[Substring]] = []
        for (name, arguments) in [
            ("p.ts", ["--fast"]), ("d.ts", ["download"]), ("o.ts", ["download", "--live-from-start"]),
        ] {
            let origin = try Origin(liveFrom: 8)
            try await withServer(answering: { origin.answer($0, $1) }) { server in
                let result = try await hlsget(
                    arguments + ["--duration", "4s", "-o", name, "\(server.url)/master.m3u8"], in: folder)
                #expect(result.status == 0, "\(result.errors)")
            }
            first.append(try packets("v:0", of: [name], in: folder))
        }
        #expect(first[0].first == first[1].first)
        #expect(first[1].first != first[2].first)
    }

    @Test("play and download describe a track alike", .enabled(if: ProbedFile.isAvailable), arguments: ["mkv", "mp4"])
    func labels(ending: String) async throws {
        let folder = try ScratchFolder()
        let origin = try Origin()
        let names = ["p.\(ending)", "d.\(ending)"]
        try await withServer(answering: { origin.answer($0, $1) }) { server in
            for (name, command) in zip(names, [[], ["download"]]) {
                let result = try await hlsget(
                    command + ["--audio", "lang=fr", "-o", name, "\(server.url)/master.m3u8"], in: folder)
                #expect(result.status == 0, "\(result.errors)")
            }
        }
        let entries = "stream=index:stream_tags=language,title,handler_name:stream_disposition=default,forced"
        let texts = try names.map { name in
            let command = "ffprobe -v error -select_streams a -show_entries \(entries) -of compact \(name)"
            return String(decoding: try Tool.run(["/bin/sh", "-c", command], in: folder.path), as: UTF8.self)
        }
        #expect(texts[0] == texts[1])
        #expect(texts[0].contains("=fr"))
        // Older versions of ffprobe do not read the name of a track in MP4.
        for name in names {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)"))
            #expect(bytes.range(of: Data("French".utf8)) != nil)
        }
    }

    @Test("several tracks need a file, and options that a download has")
    func refused() async throws {
        let folder = try ScratchFolder()
        let url = "\(SampleMedia.folder)/master.m3u8"
        let cases = [
            (["--audio", "all"], "several need one -o FILE"),
            (["--audio", "en", "--audio", "de", "-o", "-", "-f", "ts"], "several need one -o FILE"),
            (["--audio", "all", "-o", "a.wav"], "several need one -o FILE"),
            (["--subs", "en", "--rate", "2", "-o", "a.mkv"], "written as by hlsget download, which has no --rate\n"),
        ]
        for (arguments, text) in cases {
            let result = try await hlsget(arguments + [url], in: folder)
            #expect(result.status == 64, "\(arguments)")
            #expect(result.errors.contains(text), "\(result.errors)")
        }
        #expect(try files(in: folder).isEmpty)
    }

    @Test("existing parts are not replaced", arguments: [[], ["--overwrite"]])
    func existing(options: [String]) async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("old".utf8), to: "p-001.mkv")
        let url = "\(SampleMedia.folder)/master.m3u8"
        let result = try await hlsget(["download", "--split", "20s", "-o", "p.mkv", url] + options, in: folder)
        #expect(result.status == (options.isEmpty ? 9 : 0), "\(result.errors)")
        #expect(try files(in: folder) == (options.isEmpty ? ["p-001.mkv"] : ["p-001.mkv", "p-002.mkv"]))
    }
}
