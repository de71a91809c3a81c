import Foundation
import TestSupport
import Testing

@Suite("Outputs of hlsget", .ownThread, .timeLimit(.minutes(10)))
struct OutputTests {
    private static let master = SampleMedia.folder + "/master.m3u8"
    private static let audio = SampleMedia.folder + "/audio-en.m3u8"
    private static let frameByteCount = 320 * 180 * 3 / 2

    private func run(_ arguments: String..., in folder: ScratchFolder) async throws -> Command.Result {
        let result = try await hlsget(["--fast", "--quality", "180p"] + arguments, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errorLines.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasSuffix(".part") })
        return result
    }

    private func bytes(_ name: String, in folder: ScratchFolder) throws -> [UInt8] {
        Array(try #require(FileManager.default.contents(atPath: folder.path + "/" + name)))
    }

    @Test(
        "on a terminal, playing without an output names the commands that show, play or save the stream",
        .enabled(if: Tool.exists("/usr/bin/script")), arguments: [("", true), ("-q", false), ("--fast", false)])
    func nothingShown(options: String, isReported: Bool) async throws {
        let line = "'\(Command.productFolder)/hlsget' --to 0.2 \(options) '\(Self.master)'"
        let result = try await Command(["/usr/bin/script", "-qec", line, "/dev/null"]).result()
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0, "\(text)")
        #expect(text.contains("nothing is shown here: hlsget watch URL opens a window") == isReported, "\(text)")
    }

    // MARK: Decoded media

    @Test("framemd5 is equal on standard output and in a file, and equals ffmpeg's")
    func frameHashes() async throws {
        let folder = try ScratchFolder()
        let direct = try await run("-f", "framemd5", "--no-audio", Self.master, in: folder)
        _ = try await run("-o", "a.framemd5", "--no-audio", Self.master, in: folder)

        #expect(direct.output == (try bytes("a.framemd5", in: folder)))
        let lines = String(decoding: direct.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let hashes = lines.map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
        #expect(hashes == (try SampleMedia.frameHashes(of: "180p")))
    }

    @Test("video and audio go into separate files, whole")
    func rawFiles() async throws {
        let folder = try ScratchFolder()
        _ = try await run("-o", "v.y4m", "-o", "a.wav", "--to", "2", Self.master, in: folder)
        let frames = try bytes("v.y4m", in: folder)
        let header = frames.prefix { $0 != 0x0A }
        #expect(String(decoding: header, as: UTF8.self).hasPrefix("YUV4MPEG2 W320 H180 F25:1"))
        #expect(frames.count == header.count + 1 + 50 * (6 + Self.frameByteCount))

        let audio = try bytes("a.wav", in: folder)
        #expect(audio.prefix(4).elementsEqual("RIFF".utf8))
        #expect(little(audio[4..<8]) == audio.count - 8)
        let data = try #require(audio.indices.first { audio[$0...].starts(with: "data".utf8) })
        #expect(little(audio[(data + 4)..<(data + 8)]) == audio.count - data - 8)
        // Whole audio frames for about 2 s: 48 kHz, two channels, 16 bit.
        #expect(abs(audio.count - data - 8 - 2 * 48_000 * 4) <= 2 * 1024 * 4)
    }

    private func little(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    @Test("raw samples have their width", arguments: [("s16le", 2), ("f32le", 4)])
    func samples(format: String, width: Int) async throws {
        let folder = try ScratchFolder()
        let result = try await run("-f", format, "-o", "-", Self.audio, in: folder)
        #expect(result.output.count % (2 * width) == 0)
        #expect(abs(result.output.count / (2 * width) - 40 * 48_000) <= 2 * 1024)
    }

    @Test(
        "a range is exact to the frame",
        arguments: [
            (["--from", "3.88", "--to", "4.12"], 97..<103), (["--from", "10", "--duration", "0.4"], 250..<260),
            (["--to", "0.04"], 0..<1), (["--from", "-0.08"], 998..<1000),
            (["--from", "#2", "--to", "#2"], 200..<300),
        ])
    func range(options: [String], frames: Range<Int>) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["--fast", "-f", "framemd5", "--no-audio", "--quality", "180p"] + options + [Self.master])
        #expect(result.status == 0)
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines.map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
                == Array(try SampleMedia.frameHashes(of: "180p")[frames]))
        _ = try await run(
            "-o", "v.yuv", options[0], options[1], "--no-audio", options.count > 2 ? options[2] : "--fast",
            options.count > 3 ? options[3] : "--fast", Self.master, in: folder)
        #expect(try bytes("v.yuv", in: folder).count == frames.count * Self.frameByteCount)
    }

    // MARK: Containers

    @Test("samples are written to ts, mp4 and mkv without being decoded")
    func containers() async throws {
        let folder = try ScratchFolder()
        _ = try await run("-o", "x.ts", "-o", "x.mp4", "-o", "x.mkv", Self.master, in: folder)
        let stream = try bytes("x.ts", in: folder)
        #expect(stream.count % 188 == 0)
        #expect(stride(from: 0, to: stream.count, by: 188).allSatisfy { stream[$0] == 0x47 })
        let boxes = MP4Boxes(Data(try bytes("x.mp4", in: folder)))
        #expect(boxes.isWhole)
        #expect(boxes.names.contains("moov") && boxes.names.contains("mdat"))
        #expect(try bytes("x.mkv", in: folder).starts(with: [0x1A, 0x45, 0xDF, 0xA3]))
        // Each file contains all media. The sample has 357 kB of video and 252 kB of audio.
        for name in ["x.ts", "x.mp4", "x.mkv"] { #expect(try bytes(name, in: folder).count > 560_000) }
    }

    @Test("S03: an exact start keeps the samples decoded before it")
    func exactStart() async throws {
        let folder = try ScratchFolder()
        let media = FileManager.default.contents(atPath: SampleMedia.fixtures + "/media/ts-h264-aac.ts")
        _ = try folder.write(Array(try #require(media)), to: "s.ts")
        // Two sequences of 15 frames: from the start, and from 0.6 s on.
        for (offset, count) in [("", 30), ("0", 30), ("0.5", 30), ("0.8", 15)] {
            let tag = offset.isEmpty ? "" : "#EXT-X-START:TIME-OFFSET=\(offset),PRECISE=YES\n"
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(tag)#EXTINF:1.2,\ns.ts\n#EXT-X-ENDLIST\n"
            let list = try folder.write(Array(text.utf8), to: "list.m3u8")
            let result = try await hlsget(["--fast", "-o", "x\(offset).ts", list], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let frames = try await hlsget(["--fast", "--no-audio", "-f", "framemd5", "x\(offset).ts"], in: folder)
            let lines = String(decoding: frames.output, as: UTF8.self).split(separator: "\n")
            #expect(lines.count { !$0.hasPrefix("#") } == count, "\(offset)")
        }
    }

    // MARK: Loaded media

    @Test("missing subtitles in files are reported once, and not with -q")
    func subtitles() async throws {
        let folder = try ScratchFolder()
        for (options, count) in [([], 1), (["-q"], 0)] {
            let result = try await hlsget(
                ["--fast", "--subs", "lang=en", "-o", "a.ts", "--overwrite", "--to", "2"] + options + [Self.master],
                in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.split(separator: "\n").count { $0.contains("does not write subtitles") } == count)
        }
    }

    @Test("unused media is not requested")
    func requests() async throws {
        let cases = [
            (options: ["--no-audio", "-f", "framemd5"], missing: "audio-en", loaded: "video-180p"),
            (options: ["--no-audio", "--no-decode"], missing: "audio-en", loaded: "video-180p"),
            (options: [], missing: "subtitles-en", loaded: "audio-en"),
        ]
        for (options, missing, loaded) in cases {
            let origin = try TestOrigin()
            try SampleMedia.copy(to: origin.root)
            let result = try await hlsget(
                ["--fast", "--quality", "180p", "--to", "5"] + options + [origin.plain + "/sample/master.m3u8"])
            #expect(result.status == 0)
            let paths = origin.requestedPaths
            #expect(paths.contains { $0.contains(loaded) }, "\(paths)")
            #expect(!paths.contains { $0.contains(missing) }, "\(paths)")
        }
    }

    @Test("--no-decode loads everything and decodes nothing")
    func noDecode() async throws {
        let result = try await hlsget("--fast", "--no-decode", "--json", "--quality", "180p", Self.master)
        let summary = try Self.object(result.output)
        #expect(summary["decoded_video_frames"] as? Int == 0)
        #expect(summary["segments"] as? Int == 21)
    }

    // MARK: JSON

    @Test("--json prints one document with version, totals and files")
    func summary() async throws {
        let folder = try ScratchFolder()
        let result = try await run("--json", "-o", "a.framemd5", Self.master, in: folder)
        let summary = try Self.object(result.output)
        #expect(summary["v"] as? Int == 1)
        #expect(summary["exit_status"] as? Int == 0)
        #expect(summary["error"] is NSNull)
        #expect(summary["decoded_video_frames"] as? Int == SampleMedia.frameCount)
        #expect(summary["skipped_segments"] as? Int == 0)
        #expect(summary["stalls"] as? Int == 0)
        let files = try #require(summary["files"] as? [[String: Any]])
        #expect(files.map { $0["path"] as? String } == ["a.framemd5"])
        #expect(files.map { $0["complete"] as? Bool } == [true])
    }

    @Test("--progress json prints a line per event, with version, name and time")
    func progress() async throws {
        let result = try await hlsget(
            "--progress", "json", "--to", "1.2", "--quality", "180p", "--no-audio", Self.master)
        #expect(result.status == 0)
        let lines = try result.lines.map { try Self.object(Array($0.utf8)) }
        #expect(lines.allSatisfy { $0["v"] as? Int == 1 && $0["event"] is String && $0["time"] is NSNumber })
        #expect(lines.last?["event"] as? String == "summary")
        let times = lines.compactMap { ($0["time"] as? NSNumber)?.doubleValue }
        #expect(times.allSatisfy { $0 >= 0 && $0 < 60 })
        let names = Set(lines.compactMap { $0["event"] as? String })
        for name in ["time_control", "progress", "playlist_request", "media_segment_request", "did_play_to_end"] {
            #expect(names.contains(name))
        }

        let changes = lines.filter { $0["event"] as? String == "time_control" }
        for change in changes {
            #expect(
                Set(change.keys) == [
                    "v", "event", "old", "new", "reason", "rate", "timebase_rate", "item_time", "time",
                ])
        }
        let statuses = changes.compactMap { $0["new"] as? String }
        #expect(statuses.contains("waiting") && statuses.contains("playing"))
        #expect(Set(statuses).isSubset(of: ["paused", "waiting", "playing"]))
        let playing = try #require(changes.first { $0["new"] as? String == "playing" })
        #expect(playing["reason"] is NSNull)
        #expect((playing["timebase_rate"] as? NSNumber)?.doubleValue == 1)
    }

    private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }
}
