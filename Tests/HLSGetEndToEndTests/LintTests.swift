import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("hlsget lint", .ownThread, .timeLimit(.minutes(10))) struct LintTests {
    private static let media =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
    private static let top = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=20000,AVERAGE-BANDWIDTH=20000,CODECS="avc1.64001f",RESOLUTION=640x360,FRAME-RATE=25
        low/v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=40000,AVERAGE-BANDWIDTH=40000,CODECS="avc1.64001f",RESOLUTION=1280x720,FRAME-RATE=25
        high/v.m3u8

        """

    /// Returns two variants with two segments each, of 10 and 20 kB in 4 s.
    private static func files() -> [String: [UInt8]] {
        var files = ["top.m3u8": Array(top.utf8)]
        for (name, count) in [("low", 10_000), ("high", 20_000)] {
            files["\(name)/v.m3u8"] = Array(media.utf8)
            for number in 1...2 { files["\(name)/\(number).ts"] = [UInt8](repeating: 0x47, count: count) }
        }
        return files
    }

    private func documents(_ result: Command.Result) throws -> [[String: Any]] {
        try String(decoding: result.output, as: UTF8.self).split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private func rules(_ document: [String: Any]) -> [String] {
        (document["findings"] as? [[String: Any]] ?? []).compactMap { $0["rule"] as? String }
    }

    @Test("a clean presentation gives no output, a sentence on standard error, and exit code 0")
    func clean() async throws {
        let origin = try OddOrigin(Self.files())
        defer { origin.stop() }
        let result = try await hlsget("lint", origin.url + "/top.m3u8")
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(result.lines == ["hlsget: \(origin.url)/top.m3u8: 0 errors, 0 warnings in 3 playlists"])
    }

    @Test("--deep: a missing segment is an error with URL and status, an unreachable one a warning")
    func missingSegment() async throws {
        var files = Self.files()
        files["low/2.ts"] = nil
        let origin = try OddOrigin(files)
        defer { origin.stop() }
        let result = try await hlsget("lint", "--deep", origin.url + "/top.m3u8")
        #expect(result.status == 5)
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.contains("low/2.ts") }
        #expect(line?.contains("error") == true && line?.contains("not found (HTTP 404)") == true, "\(lines)")
        #expect(!lines.contains { $0.contains("not-checked") }, "what was asked for is known: \(lines)")
        #expect(try await hlsget("lint", origin.url + "/top.m3u8").status == 0)
    }

    @Test("lint follows a URL or file to all playlists: differences have rule, section and remedy")
    func follows() async throws {
        var files = Self.files()
        files["high/v.m3u8"] = Array(Self.media.replacing("DURATION:4", with: "DURATION:5").utf8)
        let origin = try OddOrigin(files)
        defer { origin.stop() }
        let folder = try ScratchFolder()
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        for name in [origin.url + "/top.m3u8", "top.m3u8"] {
            let text = try await hlsget(["lint", name], in: folder)
            #expect(text.status == 5)
            let line = String(decoding: text.output, as: UTF8.self)
            #expect(
                line.hasSuffix(
                    "/high/v.m3u8: error: aligned-targetduration: line 2: EXT-X-TARGETDURATION 5 s, but 4 s in "
                        + "low/v.m3u8 (rfc8216bis §6.2.4); give all media playlists the same EXT-X-TARGETDURATION\n"))
            let json = try await hlsget(["lint", "--json", name], in: folder)
            let document = try #require(documents(json).first)
            let finding = try #require((document["findings"] as? [[String: Any]])?.first)
            #expect(json.status == 5 && document["playlists"] as? Int == 3 && finding["line"] as? Int == 2)
            #expect(finding["section"] as? String == "rfc8216bis §6.2.4" && finding["severity"] as? String == "error")
            #expect((finding["url"] as? String)?.hasSuffix("/high/v.m3u8") == true && finding["remedy"] is String)
        }
    }

    @Test("--deep measures segments, by URL and in files")
    func deep() async throws {
        var files = Self.files()
        files["high/2.ts"] = [UInt8](repeating: 0x47, count: 40_000)
        let origin = try OddOrigin(files)
        defer { origin.stop() }
        let folder = try ScratchFolder()
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        for name in [origin.url + "/top.m3u8", "top.m3u8"] {
            #expect(try await hlsget(["lint", name], in: folder).status == 0)
            let result = try await hlsget(["lint", "--deep", "--json", name], in: folder)
            let document = try #require(documents(result).first)
            #expect(result.status == 5 && document["measured_segments"] as? Int == 4)
            #expect(rules(document) == ["bandwidth", "average-bandwidth"])
            let finding = try #require((document["findings"] as? [[String: Any]])?.first)
            #expect(finding["line"] as? Int == 4 && finding["remedy"] as? String == "write BANDWIDTH=80000")
        }
    }

    @Test(
        "--deep compares CODECS with the media",
        arguments: [
            ("avc1.4d401e,mp4a.40.2", nil), ("hvc1.1.6.L93.B0,mp4a.40.2", "hvc1.1.6.L93.B0, but the video is h264"),
            ("avc1.4d401e,ac-3", "ac-3, but the audio is aac"), ("mp4a.40.2", "no video, but the video is h264"),
            ("avc1.4d401e,mp4a.40.2,abcd.1", nil),
        ])
    func formats(codecs: String, words: String?) async throws {
        let folder = try ScratchFolder()
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="\(codecs)",RESOLUTION=640x360,AUDIO="a"
            video.m3u8

            """
        try folder.write(Array(text.utf8), to: "top.m3u8")
        for (name, media) in [("video", "video-360p"), ("audio", "audio-en")] {
            let rendition = try SampleMedia.rendition(media)
            try folder.write(rendition.initializationSection, to: "\(name).mp4")
            try folder.write(rendition.segments[0], to: "\(name).m4s")
            let list = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"\(name).mp4\"\n"
            try folder.write(Array((list + "#EXTINF:4,\n\(name).m4s\n#EXT-X-ENDLIST\n").utf8), to: "\(name).m3u8")
        }
        let result = try await hlsget(["lint", "--deep", "top.m3u8"], in: folder)
        let found = String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter {
            $0.contains("error: codecs: ")
        }
        #expect(found.count == (words == nil ? 0 : 1), "\(found)")
        if let words {
            #expect(found.first?.contains("line 3: EXT-X-STREAM-INF video.m3u8: CODECS names \(words)") == true)
        }
    }

    @Test("P04: --deep and inspect request the steering manifest and report its mistakes")
    func steering() async throws {
        let steered = Self.top.replacing(
            "#EXTM3U\n", with: "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"s.json\",PATHWAY-ID=\".\"\n")
        for (text, words) in [
            (#"{"VERSION":1,"TTL":5,"PATHWAY-PRIORITY":["."]}"#, nil),
            (#"{"VERSION":1,"PATHWAY-PRIORITY":["CDN"]}"#, "names no pathway of the playlist"),
            (#"{"VERSION":7}"#, "VERSION is not 1"), (nil, "404"),
        ] as [(String?, String?)] {
            var files = Self.files()
            files["top.m3u8"] = Array(steered.utf8)
            files["s.json"] = text.map { Array($0.utf8) }
            let origin = try OddOrigin(files)
            defer { origin.stop() }
            #expect(try await hlsget("lint", origin.url + "/top.m3u8").status == 0)
            let result = try await hlsget("lint", "--deep", "--json", origin.url + "/top.m3u8")
            let document = try #require(documents(result).first)
            #expect(rules(document) == (words == nil ? [] : ["steering-manifest"]))
            #expect(result.status == (words == nil ? 0 : 5))
            if let words { #expect(String(decoding: result.output, as: UTF8.self).contains(words)) }
            let inspected = try await hlsget("inspect", origin.url + "/top.m3u8")
            let shown = String(decoding: inspected.output, as: UTF8.self)
            #expect(inspected.status == 0 && shown.contains("STEERING"))
            if words == nil { #expect(shown.contains("pathways: .\n  again after 5.000 s")) }
        }
    }

    @Test(
        "--deep requests only one byte from real servers, and one segment of each playlist for its formats",
        .enabled(if: TestOrigin.isInstalled, "needs nginx"))
    func ranges() async throws {
        let origin = try TestOrigin()
        for (name, bytes) in Self.files() { try origin.root.write(bytes, to: name) }
        let result = try await hlsget("lint", "--deep", origin.plain + "/top.m3u8")
        #expect(result.status == 0 && result.lines.first?.hasSuffix("3 playlists, 4 segments measured") == true)
        #expect(Set(origin.requestedPaths).isSuperset(of: ["/top.m3u8", "/low/v.m3u8", "/high/1.ts", "/high/2.ts"]))
        #expect(origin.requestedPaths.count == 9)
    }

    @Test(
        "unloadable, invalid or forbidden media playlists are errors in their referring line")
    func broken() async throws {
        var files = Self.files()
        files["top.m3u8"] = Array(
            (Self.top + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",LANGUAGE=\"en\",URI=\"file:///etc/passwd\"\n"
                + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"m\",LANGUAGE=\"en\",URI=\"top.m3u8\"\n").utf8)
        files["low/v.m3u8"] = nil
        files["high/v.m3u8"] = Array("<html>".utf8)
        let origin = try OddOrigin(files)
        defer { origin.stop() }
        let result = try await hlsget("lint", "--json", origin.url + "/top.m3u8")
        let findings = try #require(documents(result).first?["findings"] as? [[String: Any]])
        let broken = findings.filter { $0["rule"] as? String == "media-playlist" }.compactMap {
            $0["message"] as? String
        }
        #expect(result.status == 5 && broken.count == 4)
        for (message, words) in zip(
            broken,
            [["line 2", "404"], ["line 4", "a web page"], ["line 6", "refused"], ["line 7", "multivariant"]])
        {
            for word in words { #expect(message.contains(word), "\(message)") }
        }
    }

    @Test("several inputs, including standard input, give one object each and the worst status")
    func several() async throws {
        let folder = try ScratchFolder()
        let bad = try folder.write(
            Array(Self.media.replacing("EXTINF:4,\n2", with: "EXTINF:9,\n2").utf8), to: "bad.m3u8")
        try folder.write(Array(Self.media.utf8), to: "good.m3u8")
        let result = try await hlsget(["lint", "--json", "good.m3u8", "-", "none.m3u8"], in: folder, input: bad)
        let documents = try documents(result)
        #expect(documents.count == 3 && rules(documents[0]).isEmpty && rules(documents[1]) == ["targetduration"])
        #expect(documents[2]["error"] is [String: Any] && result.status == 3 && result.errorLines.count == 1)
    }

    @Test("a local playlist can name files outside its folder with --allow-file only")
    func files() async throws {
        let folder = try ScratchFolder()
        for (name, bytes) in Self.files() { try folder.write(bytes, to: name == "top.m3u8" ? "x/top.m3u8" : name) }
        let text = Self.top.replacing("low/", with: "../low/").replacing("high/", with: "../high/")
        try folder.write(Array(text.utf8), to: "x/top.m3u8")
        #expect(try await hlsget(["lint", "x/top.m3u8"], in: folder).status == 5)
        #expect(try await hlsget(["lint", "--allow-file", "x/top.m3u8"], in: folder).status == 0)
    }

    @Test("R59: after a redirect to another origin, media playlists get no credentials")
    func credentials() async throws {
        let files = Self.files()
        let seen = Mutex<[String]>([])
        let other = try ScriptedServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            seen.withLock { $0 += request.filter { $0.lowercased().hasPrefix("authorization") } + [path] }
            connection.respond(files[path] ?? [])
        })
        defer { other.stop() }
        let given = try ScriptedServer(answering: { connection, _ in connection.redirect(to: other.url + "/top.m3u8") })
        defer { given.stop() }
        let result = try await hlsget("lint", "-H", "Authorization: Bearer x", given.url + "/top.m3u8")
        #expect(result.status == 0, "\(result.errors)")
        #expect(seen.withLock { Set($0) } == ["top.m3u8", "low/v.m3u8", "high/v.m3u8"])
    }
}
