import Foundation
import TestSupport
import Testing

@Suite("hlsget download of encrypted streams", .ownThread, .timeLimit(.minutes(10)))
struct DownloadEncryptionTests {
    private static let key: [UInt8] = (1...16).map { $0 * 11 }

    private static func encrypted(_ bytes: [UInt8]) throws -> [UInt8] {
        let digits = key.map { String(format: "%02x", $0) }.joined()
        let vector = String(repeating: "0", count: 31) + "7"
        return try Tool.run(["openssl", "enc", "-aes-128-cbc", "-K", digits, "-iv", vector], input: bytes)
    }

    /// Returns the cut stream with encrypted frames. Each segment has its own key URL.
    private static func files() throws -> [String: [UInt8]] {
        var files = try CutStream.files()
        for index in 0..<SampleMedia.segmentCount {
            files["v\(index).m4s"] = try encrypted(files["v\(index).m4s"] ?? [])
        }
        var text = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self)
        for index in 0..<SampleMedia.segmentCount {
            let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin?n=\(index)\",IV=0x00000000000000000000000000000007"
            text = text.replacing("\nv\(index).m4s", with: "\nv\(index).m4s\n\(tag)")
        }
        let first = "#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\",IV=0x00000000000000000000000000000007\n#EXTINF"
        if let range = text.firstRange(of: "#EXTINF") { text.replaceSubrange(range, with: first) }
        files["v.m3u8"] = Array(text.utf8)
        files["key.bin"] = key
        return files
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var fault: FaultyOrigin.Fault
        var count: Int
        var file: String
        var missing = 0
        var testDescription: String { name }
    }

    @Test(
        "S02, R51, R52, R67: segments and keys damaged once are loaded again; permanently damaged ones are missing",
        arguments: [
            Case(name: "a page once", fault: .bytes(FaultyOrigin.page), count: 1, file: "v3.m4s"),
            Case(
                name: "a page of whole blocks once",
                fault: .bytes(Array((FaultyOrigin.page + FaultyOrigin.page)[..<80])), count: 1, file: "v3.m4s"),
            Case(name: "cut once", fault: .bytes(Array(repeating: 0x9C, count: 1001)), count: 1, file: "v3.m4s"),
            Case(name: "another key once", fault: .bytes(Array(repeating: 7, count: 16)), count: 3, file: "key.bin"),
            Case(
                name: "never what it should be", fault: .bytes(Array(repeating: 0x9C, count: 1600)), count: .max,
                file: "v5.m4s", missing: 1),
            Case(name: "always a page", fault: .bytes(FaultyOrigin.page), count: .max, file: "v5.m4s", missing: 1),
        ])
    func damaged(_ c: Case) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try Self.files(), [c.file: (c.fault, c.count)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("missing") == (c.missing > 0))
            #expect(!result.errors.contains("a segment cannot be read"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4"])
        let frames = try await FaultyOrigin.frames("a.mp4", in: folder)
        let all = try SampleMedia.frameHashes(of: "180p")
        #expect(c.missing > 0 ? frames.count == 900 : frames == all)
    }

    @Test("R51: if the key is always wrong, the error names it, and the folder is kept for another run")
    func wrongKey() async throws {
        let folder = try ScratchFolder()
        let files = try Self.files()
        let wrong = FaultyOrigin(files, ["key.bin": (.bytes(Array(repeating: 7, count: 16)), .max)])
        let right = FaultyOrigin(files)
        for (origin, status) in [(wrong, Int32(7)), (right, 0)] {
            try await withServer(answering: origin.answer) { server in
                let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
                #expect(result.status == status, "\(result.errors)")
                #expect(status == 0 || result.errors.contains("key.bin"))
            }
        }
        #expect(try await FaultyOrigin.frames("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }

    // MARK: Keys from options

    private static let digits = key.map { String(format: "%02x", $0) }.joined()

    private static func asksForKey(_ server: ScriptedServer) -> Bool {
        server.requests.contains { $0.first?.contains("/key.bin") == true }
    }

    @Test(
        "N05: a key override decrypts the stream, and no key is requested",
        arguments: [["--key", digits], ["--key", "my.key"], ["--key-uri", "URL/other.bin"]])
    func keyByHand(options: [String]) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.key, to: "my.key")
        var files = try Self.files()
        files["key.bin"] = nil
        files["other.bin"] = Self.key
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let options = options.map { $0.replacing("URL", with: server.url) }
            let url = "\(server.url)/master.m3u8"
            let result = try await hlsget(["download", "-o", "a.mp4"] + options + [url], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let played = try await hlsget(["--fast", "-o", "b.mp4"] + options + [url], in: folder)
            #expect(played.status == 0, "\(played.errors)")
            let vector = try await hlsget(
                ["--fast", "-o", "c.mp4", "--iv", "0x" + String(repeating: "f", count: 32)] + options + [url],
                in: folder)
            #expect(vector.status != 0, "another vector does not decrypt the first block")
            #expect(!Self.asksForKey(server))
        }
        for name in ["a.mp4", "b.mp4"] {
            #expect(try await FaultyOrigin.frames(name, in: folder) == SampleMedia.frameHashes(of: "180p"))
        }
    }

    @Test("N05: with encryption kept, the server's bytes are stored, keys named, and none requested")
    func keptEncrypted() async throws {
        let folder = try ScratchFolder()
        var files = try Self.files()
        files["key.bin"] = nil
        let tag = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://asset\",KEYFORMAT=\"com.example\",KEYFORMATVERSIONS=\"1\""
        let audio = String(decoding: files["a.m3u8"] ?? [], as: UTF8.self)
        files["a.m3u8"] = Array(audio.replacing("#EXTINF:", with: "\(tag)\n#EXTINF:", maxReplacements: 1).utf8)
        let origin = FaultyOrigin(files)
        try await withServer(answering: origin.answer) { server in
            let url = "\(server.url)/master.m3u8"
            for _ in 0..<2 {
                let result = try await hlsget("download", "-o", "kept/", "--keep-encrypted", url, in: folder)
                #expect(result.status == 0, "\(result.errors)")
            }
            #expect(!Self.asksForKey(server))
            let entries = try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/kept").sorted()
            let segments = entries.filter { $0.hasPrefix("main-") && $0.hasSuffix(".m4s") }
            #expect(segments.count == SampleMedia.segmentCount)
            for (index, name) in segments.enumerated() {
                #expect(
                    FileManager.default.contents(atPath: "\(folder.path)/kept/\(name)").map { [UInt8]($0) }
                        == files["v\(index).m4s"])
            }
            #expect(!entries.contains { $0.hasPrefix("key-") })
            let lists = try entries.filter { $0.hasSuffix(".m3u8") }
                .map { try String(contentsOfFile: "\(folder.path)/kept/\($0)", encoding: .utf8) }.joined()
            #expect(lists.contains("URI=\"\(server.url)/key.bin?n=3\",IV=0x00000000000000000000000000000007"))
            #expect(lists.contains("URI=\"skd://asset\",KEYFORMAT=\"com.example\",KEYFORMATVERSIONS=\"1\""))
        }
        let played = try await hlsget(
            "--fast", "-f", "framemd5", "--no-audio", "--key", Self.digits, "kept/index.m3u8", in: folder)
        #expect(played.status == 0, "\(played.errors)")
    }

    @Test(
        "N05: contradicting options are refused",
        arguments: [
            ["--keep-encrypted", "-o", "a.mp4"], ["--keep-encrypted", "-o", "a/", "--iv", digits],
            ["--key", digits, "--key-uri", "https://h/k"], ["--key", "12"], ["--iv", "0x1"], ["--key-uri", "k.bin"],
        ])
    func contradictions(options: [String]) async throws {
        let result = try await hlsget(["download"] + options + ["https://host.invalid/a.m3u8"])
        #expect(result.status == 64, "\(result.errors)")
    }
}
