import Foundation
import TestSupport
import Testing

@Suite("P05: hlsget --skip-uri and --skip-dateranges", .ownThread, .timeLimit(.minutes(10)))
struct SkipTests {
    /// Writes the sample as one stream of 4 s segments with dates and the given tags.
    private static func write(to folder: ScratchFolder, tags: [String] = []) throws {
        for (name, bytes) in try CutStream.files() {
            guard name.hasSuffix(".m3u8"), name != "master.m3u8" else {
                try folder.write(bytes, to: name)
                continue
            }
            let head = ["#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z"] + tags
            let text = String(decoding: bytes, as: UTF8.self)
            guard let first = text.range(of: "#EXTINF") else { continue }
            let dated = text[..<first.lowerBound] + head.joined(separator: "\n") + "\n" + text[first.lowerBound...]
            try folder.write(Array(dated.utf8), to: name)
        }
    }

    private struct Frame {
        var time: Int
        var hash: String
    }

    private func frames(_ output: [UInt8]) -> [Frame] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
            let fields = $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return Frame(time: fields.count > 2 ? Int(fields[2]) ?? -1 : -1, hash: fields.last ?? "")
        }
    }

    private static let range =
        #"#EXT-X-DATERANGE:ID="a",CLASS="com.example.ad",START-DATE="2026-01-01T00:00:09Z",DURATION=6"#

    @Test(
        "the remaining frames equal the stream's, one after the other",
        arguments: [
            (["--skip-uri", "[va][34]\\.m4s"], [0..<300, 500..<1000]),
            (["--skip-uri", "[va]0\\.m4s", "--skip-uri", "[va]9\\.m4s"], [100..<900]),
            (["--skip-dateranges", "com.example.ad"], [0..<225, 375..<1000]),
            (["--skip-dateranges", "ID=a", "--skip-uri", "[va]4\\.m4s"], [0..<225, 375..<400, 500..<1000]),
            (["--skip-dateranges", "ID=other"], [0..<1000]),
        ] as [([String], [Range<Int>])])
    func frames(options: [String], left: [Range<Int>]) async throws {
        let folder = try ScratchFolder()
        try Self.write(to: folder, tags: [Self.range])
        let result = try await hlsget(
            ["--fast", "-f", "framemd5", "-o", "-", "--no-audio"] + options + ["master.m3u8"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let frames = frames(result.output)
        let all = try SampleMedia.frameHashes(of: "180p")
        #expect(frames.map { String($0.hash.prefix(8)) } == left.flatMap { all[$0] })
        let steps = zip(frames, frames.dropFirst()).map { one, next in next.time - one.time }
        #expect(Set(steps).count == 1)
    }

    @Test(
        "a file has no gap in video and audio, and only the skipped frames needed as references",
        .enabled(if: ProbedFile.isAvailable), arguments: ["mp4", "ts", "mkv"], [(8, 8), (9, 6)])
    func file(_ format: String, part: (start: Int, length: Int)) async throws {
        let folder = try ScratchFolder()
        let date = "2026-01-01T00:00:0\(part.start)Z"
        let range = #"#EXT-X-DATERANGE:ID="a",CLASS="com.example.ad",START-DATE="\#(date)",DURATION=\#(part.length)"#
        try Self.write(to: folder, tags: [range])
        let result = try await hlsget(
            "--fast", "-o", "out.\(format)", "--skip-dateranges", "com.example.ad", "--json", "master.m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let summary = String(decoding: result.output, as: UTF8.self)
        let reported =
            #"{"item_time":\#(part.start),"media_duration":\#(part.length),"date_ranges":["a"],"segments":0}"#
        #expect(summary.contains(#""content_skipped":[\#(reported)]"#), "\(summary)")
        #expect(result.errors.contains("skipped   1 break, 0:0\(part.length)"), "\(result.errors)")
        try expectNoGap(in: "out.\(format)", of: folder, without: part)
    }

    @Test(
        "a download leaves out whole segments", .enabled(if: ProbedFile.isAvailable), arguments: ["mp4", "ts", "mkv"])
    func download(format: String) async throws {
        let folder = try ScratchFolder()
        try Self.write(to: folder)
        let result = try await hlsget(
            "download", "-o", "out.\(format)", "--skip-uri", "[va][23]\\.m4s", "--json", "master.m3u8", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(String(decoding: result.output, as: UTF8.self).contains(#""skipped_duration":8,"#))
        #expect(result.errors.contains(", 0:08 skipped)"), "\(result.errors)")
        try expectNoGap(in: "out.\(format)", of: folder, without: (8, 8))
        let decoded = try await hlsget(
            "--fast", "-f", "framemd5", "-o", "-", "--no-audio", "out.\(format)", in: folder)
        let all = try SampleMedia.frameHashes(of: "180p")
        #expect(frames(decoded.output).map { String($0.hash.prefix(8)) } == [0..<200, 400..<1000].flatMap { all[$0] })
    }

    private func expectNoGap(
        in file: String, of folder: ScratchFolder, without part: (start: Int, length: Int)
    ) throws {
        let length = Double(40 - part.length)
        for (stream, frame) in [("v:0", 0.04), ("a:0", 1024.0 / 48_000)] {
            let command =
                "ffprobe -v error -select_streams \(stream) -show_entries packet=pts_time -of csv=p=0 \(file)"
            let probe = try Tool.run(command.split(separator: " ").map(String.init), in: folder.path)
            let times = String(decoding: probe, as: UTF8.self).split(whereSeparator: { $0 == "\n" || $0 == "," })
                .compactMap { Double($0) }.sorted()
            let (first, last) = (times.first ?? 0, times.last ?? 0)
            #expect(abs(last + frame - first - length) < 0.1, "\(stream): \(first) to \(last)")
            let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
            // Audio starts one encoder frame later than listed. If whole segments are skipped, the last audio frame
            // before them is inside one of them. Matroska has millisecond timestamps.
            #expect(gaps.allSatisfy { $0 >= 0 && $0 < 2 * frame + 0.000_5 }, "\(stream): \(gaps.max() ?? 0)")
            // Segments of 4 s begin with sync samples. Frames between the last sync sample and the end of the skipped
            // part are nearly simultaneous.
            let moments = gaps.count { $0 < 0.005 }
            let led = stream == "v:0" ? (part.start + part.length) % 4 * 25 : 0
            // Two frames on either side are reordered.
            #expect(abs(moments - led) <= (led == 0 ? 0 : 4), "\(stream): \(moments)")
            #expect(abs(Double(times.count - moments) * frame - length) < 0.1, "\(stream): \(times.count)")
        }
    }

    @Test("each skipped range is a line of progress")
    func lines() async throws {
        let folder = try ScratchFolder()
        try Self.write(to: folder)
        let result = try await hlsget(
            "--fast", "--no-decode", "--progress", "json", "--skip-uri", "[va]3\\.m4s", "master.m3u8", in: folder)
        let line = #"{"v":1,"event":"content_skipped","item_time":12,"media_duration":4,"date_ranges":[],"segments":1,"#
        #expect(result.errors.contains(line), "\(result.errors)")
    }

    @Test(
        "unreadable patterns, and commands that do not play, are refused with one line",
        arguments: [
            (["--skip-uri", "(", "x.m3u8"], "--skip-uri"), (["--skip-uri", "", "x.m3u8"], "an empty pattern"),
            (["--skip-dateranges", "CLASS=", "x.m3u8"], "a value is missing"),
            (["--rate", "4", "--skip-uri", "x", "x.m3u8"], "--skip-uri"),
            (["download", "--skip-uri", "(", "x.m3u8"], "--skip-uri"),
            (["captions", "--skip-dateranges", "x", "x.m3u8"], "hlsget play"),
        ] as [([String], String)])
    func refused(arguments: [String], text: String) async throws {
        let result = try await hlsget(arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(text), "\(result.errors)")
    }
}
