import Foundation
import TestSupport
import Testing

@Suite("P03: hlsget --interstitials", .ownThread, .timeLimit(.minutes(10)))
struct InterstitialTests {
    /// Returns the sample with two advertisements at 8 s, made from its 360p variant, and one from a dead server at 20
    /// s.
    private static func files() throws -> [String: [UInt8]] {
        var files = try CutStream.files()
        let tags = [
            "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z",
            #"#EXT-X-DATERANGE:ID="pod",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:08Z",X-ASSET-LIST="list.json",X-RESUME-OFFSET=0"#,
            #"#EXT-X-DATERANGE:ID="dead",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:20Z",X-ASSET-URI="gone/ad.m3u8",X-RESUME-OFFSET=0"#,
        ]
        for name in ["v.m3u8", "a.m3u8"] {
            let text = String(decoding: files[name] ?? [], as: UTF8.self)
            files["ad-" + name] = Array(Self.advertisement(text).utf8)
            files[name] = Array(
                text.replacing(
                    "#EXT-X-TARGETDURATION:4\n", with: "#EXT-X-TARGETDURATION:4\n" + tags.joined(separator: "\n") + "\n"
                )
                .utf8)
        }
        files["ad.m3u8"] = Array(
            String(decoding: files["master.m3u8"] ?? [], as: UTF8.self).replacing("v.m3u8", with: "ad-v.m3u8")
                .replacing("a.m3u8", with: "ad-a.m3u8").utf8)
        files["list.json"] = Array(
            #"{"ASSETS":[{"URI":"ad.m3u8","DURATION":8},{"URI":"ad.m3u8","DURATION":8}]}"#.utf8)
        return files
    }

    /// Returns the third and fourth segment of the sample.
    private static func advertisement(_ list: String) -> String {
        let parts = list.components(separatedBy: "#EXTINF")
        return parts[0] + "#EXTINF" + parts[3] + "#EXTINF" + parts[4] + "#EXT-X-ENDLIST\n"
    }

    private func run(
        _ arguments: [String], in folder: ScratchFolder
    ) async throws -> (result: Command.Result, paths: [String]) {
        let files = try Self.files()
        return try await withServer(answering: { connection, request in
            let path = request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? ""
            guard let bytes = files[String(path.prefix { $0 != "?" })] else {
                return connection.respond([], status: "404 Not Found")
            }
            connection.respond(bytes)
        }) { server in
            let result = try await hlsget(arguments + ["\(server.url)/master.m3u8"], in: folder)
            return (
                result,
                server.requests.compactMap { $0.first?.split(separator: " ").dropFirst().first.map(String.init) }
            )
        }
    }

    private func frames(_ output: [UInt8]) -> (hashes: [String], steps: Set<Int>) {
        let rows = String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let times = rows.map { Int($0[2]) ?? -1 }
        return (rows.map { String($0.last?.prefix(8) ?? "") }, Set(zip(times, times.dropFirst()).map { $1 - $0 }))
    }

    @Test(
        "ads are written in place, omitted, or written alone; a dead server costs nothing",
        arguments: [
            ("play", [0..<200, 200..<400, 200..<400, 200..<1000]), ("skip", [0..<1000]),
            ("only", [200..<400, 200..<400]),
        ] as [(String, [Range<Int>])])
    func written(action: String, expected: [Range<Int>]) async throws {
        let folder = try ScratchFolder()
        let (result, paths) = try await run(
            ["--fast", "-f", "framemd5", "-o", "-", "--no-audio", "--interstitials", action], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let all = try SampleMedia.frameHashes(of: "180p")
        let (hashes, steps) = frames(result.output)
        #expect(hashes == expected.flatMap { all[$0] })
        #expect(steps.count == 1, "\(steps)")
        #expect(paths.contains { $0.hasPrefix("/list.json?_HLS_primary_id=") } == (action != "skip"))
        if action == "only" { #expect(!paths.contains("/v0.m4s") && !paths.contains("/v9.m4s")) }
    }

    @Test("summary, JSON document and lines report played and failed events")
    func reported() async throws {
        let folder = try ScratchFolder()
        let (result, _) = try await run(["--fast", "-v", "--json", "-o", "a.ts"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("inserted  0:16 of 2 interstitials: 1 played, 1 failed"), "\(result.errors)")
        #expect(result.errors.contains("hlsget: interstitial pod begins"))
        #expect(result.errors.contains("hlsget: interstitial pod played, 16.0 s"))
        #expect(result.errors.contains("hlsget: interstitial dead failed, 0.0 s"))
        let document = String(decoding: result.output, as: UTF8.self)
        #expect(
            document.contains(
                #""interstitials":{"played":1,"played_in_part":0,"skipped":0,"cancelled":0,"left":0,"failed":1,"media_duration":16,"events":[{"id":"pod","reason":"played","item_time":8,"media_duration":16},{"id":"dead","reason":"failed","item_time":20,"media_duration":0}]}"#
            ), "\(document)")
        let (lines, _) = try await run(["--fast", "--progress", "json", "--no-decode"], in: folder)
        for text in [
            #""event":"interstitials","ids":["pod","dead"]"#, #""event":"break","phase":"begin","item_time":8"#,
            #""event":"interstitial","phase":"begin","id":"pod""#,
            #""event":"interstitial","phase":"end","id":"pod","reason":"played","media_duration":16"#,
            #""event":"break","phase":"end","item_time":8"#, #""event":"asset_list","phase":"available","id":"pod""#,
        ] {
            #expect(lines.errors.contains(text), "\(text)")
        }
    }

    @Test(
        "a file contains the ads: its duration is the sum, and times increase", .enabled(if: ProbedFile.isAvailable),
        arguments: ["mp4", "ts"])
    func file(format: String) async throws {
        let folder = try ScratchFolder()
        let (result, _) = try await run(["--fast", "-o", "a.\(format)"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        for (stream, frame) in [("v:0", 0.04), ("a:0", 1024.0 / 48_000)] {
            let command =
                "ffprobe -v error -select_streams \(stream) -show_entries packet=pts_time -of csv=p=0 a.\(format)"
            let probe = try Tool.run(command.split(separator: " ").map(String.init), in: folder.path)
            let times = String(decoding: probe, as: UTF8.self).split(whereSeparator: { $0 == "\n" || $0 == "," })
                .compactMap { Double($0) }.sorted()
            #expect(abs(Double(times.count) * frame - 56) < 0.2, "\(stream): \(times.count)")
            let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
            // The advertisement comes from a stream whose audio is one encoder frame later than its video, so its audio
            // ends one frame earlier. ffprobe reports microseconds.
            #expect(gaps.allSatisfy { $0 > 0 && $0 < 2 * frame + 0.000_002 }, "\(stream): \(gaps.max() ?? 0)")
        }
    }

    @Test("download contains the stream alone, and says so")
    func download() async throws {
        let folder = try ScratchFolder()
        let files = try Self.files()
        let result = try await withServer(answering: { connection, request in
            let path = request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? ""
            guard let bytes = files[String(path.prefix { $0 != "?" })] else {
                return connection.respond([], status: "404 Not Found")
            }
            connection.respond(bytes)
        }) { server in try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder) }
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.count { $0.contains("note: 2 interstitials of the playlist") } == 1, "\(result.errors)")
        #expect(result.errors.contains("0:40 in a.mp4"), "\(result.errors)")
    }

    @Test(
        "contradictions are refused",
        arguments: [
            ["--interstitials", "only", "--skip-uri", "x"], ["--interstitials", "only", "--rate", "4"],
            ["--interstitials", "all"],
        ])
    func refused(arguments: [String]) async throws {
        let result = try await hlsget(arguments + ["http://127.0.0.1/x.m3u8"])
        #expect(result.status == 64)
    }
}
