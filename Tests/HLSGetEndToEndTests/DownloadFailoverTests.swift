import Foundation
import TestSupport
import Testing

@Suite("hlsget download, fallback to other variants", .ownThread, .timeLimit(.minutes(10)))
struct DownloadFailoverTests {
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="a.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=127446,RESOLUTION=320x180,AUDIO="a"
        v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth),RESOLUTION=320x180,AUDIO="a"
        w.m3u8

        """
    private static let bandwidth = "@"

    /// Returns the cut stream twice: the files `v…` also exist as `w…`.
    private static func files(bandwidth: Int) throws -> [String: [UInt8]] {
        var files = try CutStream.files()
        for (name, bytes) in files where name.hasPrefix("v") { files["w" + name.dropFirst()] = bytes }
        let list = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self)
        files["w.m3u8"] = Array(list.replacing("\nv", with: "\nw").replacing("\"v-", with: "\"w-").utf8)
        files["master.m3u8"] = Array(master.replacing(Self.bandwidth, with: String(bandwidth)).utf8)
        return files
    }

    private func download(
        _ files: [String: [UInt8]], in folder: ScratchFolder, _ options: String...
    ) async throws -> (result: Command.Result, paths: [String]) {
        try await withServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            guard let bytes = files[path] else { return connection.respond([], status: "404 Not Found") }
            connection.respond(bytes)
        }) { server in
            let result = try await hlsget(
                ["download", "-o", "a.mp4"] + options + ["\(server.url)/master.m3u8"], in: folder)
            return (
                result,
                server.requests.compactMap { $0.first?.split(separator: " ").dropFirst().first.map(String.init) }
            )
        }
    }

    private func frames(in folder: ScratchFolder) async throws -> [String] {
        let result = try await hlsget("--fast", "-f", "framemd5", "--no-audio", "a.mp4", in: folder)
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }

    @Test(
        "R2: missing segments come from a redundant variant, or from another", arguments: [127_446, 100_000],
        [["v3.m4s"], ["v-init.mp4"], ["v0.m4s", "v5.m4s", "v9.m4s"]])
    func segments(bandwidth: Int, missing: [String]) async throws {
        let folder = try ScratchFolder()
        var files = try Self.files(bandwidth: bandwidth)
        for name in missing { files[name] = nil }
        let (result, paths) = try await download(files, in: folder, "--strict")
        #expect(result.status == 0, "\(result.errors)")
        let count = missing == ["v-init.mp4"] ? 10 : missing.count
        #expect(result.errors.contains("\(count) from another playlist"))
        #expect(!result.errors.contains("missing"))
        #expect(Set(paths.filter { $0.hasPrefix("/w") && $0.hasSuffix(".m4s") }).count == count)
        #expect(try await frames(in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    /// Returns the cut stream with a second audio group for a variant that has no separate video.
    private static func filesOfTwoGroups() throws -> [String: [UInt8]] {
        var files = try Self.files(bandwidth: 90_000)
        for (name, bytes) in files where name.hasPrefix("a") { files["b" + name.dropFirst()] = bytes }
        let list = String(decoding: files["a.m3u8"] ?? [], as: UTF8.self)
        files["b.m3u8"] = Array(list.replacing("\na", with: "\nb").replacing("\"a-", with: "\"b-").utf8)
        let master = String(decoding: files["master.m3u8"] ?? [], as: UTF8.self)
        let media = master.split(separator: "\n").first { $0.contains("TYPE=AUDIO") } ?? ""
        let twin = media.replacing("\"a", with: "\"b")
        files["master.m3u8"] = Array(
            master.replacing(media, with: "\(media)\n\(twin)")
                .replacing("AUDIO=\"a\"\nw", with: "AUDIO=\"b\"\nw").utf8)
        return files
    }

    @Test(
        "R2, R13: missing audio comes from the same rendition of another group",
        arguments: [["a2.m4s"], ["a0.m4s", "a10.m4s"], ["a-init.mp4"], ["a.m3u8"]])
    func audio(missing: [String]) async throws {
        let folder = try ScratchFolder()
        var files = try Self.filesOfTwoGroups()
        for name in missing { files[name] = nil }
        let (result, paths) = try await download(files, in: folder, "--strict")
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.errors.contains("missing"))
        let segments = Set(paths.filter { $0.hasPrefix("/b") && $0.hasSuffix(".m4s") })
        #expect(segments.count == (missing[0].hasSuffix(".m4s") ? missing.count : 11))
        #expect(try await frames(in: folder) == SampleMedia.frameHashes(of: "180p"))
        let audio = try await hlsget("--fast", "-f", "s16le", "-o", "-", "a.mp4", in: folder)
        _ = try await download(try Self.filesOfTwoGroups(), in: folder, "--overwrite")
        let whole = try await hlsget("--fast", "-f", "s16le", "-o", "-", "a.mp4", in: folder)
        #expect(audio.output == whole.output)
    }

    @Test("R13: a missing playlist is replaced by a redundant variant's")
    func playlist() async throws {
        let folder = try ScratchFolder()
        var files = try Self.files(bandwidth: 127_446)
        files["v.m3u8"] = nil
        let (result, _) = try await download(files, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await frames(in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    @Test("R3: a segment missing in all variants is reported with the selected variant's URL")
    func nowhere() async throws {
        let folder = try ScratchFolder()
        var files = try Self.files(bandwidth: 127_446)
        (files["v3.m4s"], files["w3.m4s"]) = (nil, nil)
        let (result, _) = try await download(files, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("1 missing"))
        #expect(result.errors.contains("v3.m4s (HTTP 404)"))
        #expect(try await frames(in: folder).count == 900)
    }

    @Test("S02: a repeated run keeps segments from another variant")
    func resumed() async throws {
        let folder = try ScratchFolder()
        var files = try Self.files(bandwidth: 127_446)
        (files["v3.m4s"], files["v9.m4s"]) = (nil, nil)
        (files["v7.m4s"], files["w7.m4s"]) = (nil, nil)
        let (first, _) = try await download(files, in: folder, "--strict")
        #expect(first.status == 10)
        // The URL's port has changed. The command recognizes the stream by the last segment that it has and can load
        // again.
        files = try Self.files(bandwidth: 127_446)
        files["v8.m4s"] = nil
        let (second, paths) = try await download(files, in: folder, "--strict")
        #expect(second.status == 0, "\(second.errors)")
        #expect(paths.filter { $0.hasSuffix(".m4s") } == ["/v8.m4s", "/v8.m4s", "/v6.m4s", "/v7.m4s"])
        #expect(try await frames(in: folder) == SampleMedia.frameHashes(of: "180p"))
    }
}
