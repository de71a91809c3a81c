import Foundation
import TestSupport
import Testing

@Suite("Errors and exit codes of hlsget", .ownThread, .timeLimit(.minutes(10)))
struct FailureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var arguments: [String]
        var status: Int32
        var words: [String]

        /// - Parameter arguments: The command's arguments, in which `@` is the origin.
        init(_ name: String, _ arguments: String..., status: Int32, words: String...) {
            testDescription = name
            self.arguments = arguments
            self.status = status
            self.words = words
        }
    }

    static let cases = [
        Case("no such host", "http://nowhere.invalid/a.m3u8", status: 4, words: "no such host", "nowhere.invalid"),
        Case("refused port", "--retries", "0", "http://127.0.0.1:1/a.m3u8", status: 4, words: "connect", "127.0.0.1:1"),
        Case("404", "@/none.m3u8", status: 3, words: "not found", "/none.m3u8", "404"),
        Case("403", "@/forbidden.m3u8", status: 3, words: "/forbidden.m3u8", "403"),
        Case("an HTML page", "@/page.m3u8", status: 5, words: "/page.m3u8", "a web page"),
        Case("an empty body", "--retries", "0", "@/empty.m3u8", status: 5, words: "/empty.m3u8"),
        Case("plain text", "@/text.m3u8", status: 5, words: "/text.m3u8"),
        Case("an m3u8 of nonsense", "@/nonsense.m3u8", status: 5, words: "/nonsense.m3u8", "line 2"),
        Case("VOD without segments", "@/bare.m3u8", status: 5, words: "/bare.m3u8", "no segment"),
        Case("a master that names itself", "@/self.m3u8", status: 5, words: "/self.m3u8", "multivariant"),
        Case("no such file", "none.m3u8", status: 3, words: "no such file", "none.m3u8"),
        Case("a file: segment", "@/file.m3u8", status: 12, words: "file:///etc/passwd"),
        Case("variants that are files", "@/files.m3u8", status: 12, words: "file:///etc/passwd"),
        Case("a key that is not there", "@/nokey.m3u8", status: 7, words: "key", "/none.key", "404"),
        Case("an unknown METHOD", "@/method.m3u8", status: 7, words: "/method.m3u8", "LAB-512"),
        Case("a codec that nothing decodes", "@/codec.m3u8", status: 6, words: "/codec.m3u8"),
        Case("a quality that is not there", "--quality", "720p", "@/master.m3u8", status: 6, words: "720p"),
        Case("audio that is not there", "--audio", "lang=xx", "@/master.m3u8", status: 6, words: "lang=xx", "en"),
    ]

    private static func files() throws -> [String: [UInt8]] {
        var files = try OddOrigin.cutSample()
        let key = { (line: String) in
            try OddOrigin.cutSample { text in
                text.replacing("#EXTINF:4,\n0.m4s", with: line + "\n#EXTINF:4,\n0.m4s")
            }["v.m3u8"]
        }
        let texts = [
            "page.m3u8": "<!DOCTYPE html><html><body>Log in</body></html>", "empty.m3u8": "",
            "text.m3u8": "Nothing to see here.\n", "nonsense.m3u8": "#EXTM3U\n#EXTINF:abc\u{0}\n\u{1B}[31mx\n",
            "bare.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n",
            "self.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nself.m3u8\n",
            "file.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
            "files.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nfile:///etc/passwd\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=2000\nfile:///etc/passwd\n",
            "codec.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS=\"zzzz.1\"\nv.m3u8\n",
        ]
        for (name, text) in texts { files[name] = Array(text.utf8) }
        files["nokey.m3u8"] = try key("#EXT-X-KEY:METHOD=AES-128,URI=\"none.key\"")
        files["method.m3u8"] = try key("#EXT-X-KEY:METHOD=LAB-512,URI=\"none.key\"")
        return files
    }

    @Test(
        "an empty local file is an error at once, whatever its name", arguments: ["e.mp4", "e.m3u8", "e.vtt", "e.ts"])
    func emptyFile(name: String) async throws {
        let folder = try ScratchFolder()
        try folder.write([], to: name)
        for arguments in [[name], ["--fast", name], ["inspect", name], ["download", "-o", "x.mp4", name]] {
            let result = try await hlsget(arguments, in: folder)
            #expect(result.status == 5, "\(arguments): \(result.errors)")
            #expect(result.errors.contains("empty"), "\(arguments): \(result.errors)")
        }
    }

    @Test("a failure gives one error line, its exit code and no standard output", arguments: cases)
    func failure(_ failure: Case) async throws {
        let origin = try OddOrigin(try Self.files(), forbidding: "forbidden.m3u8")
        defer { origin.stop() }
        let folder = try ScratchFolder()
        let result = try await hlsget(
            ["--fast", "-o", "out.y4m"] + failure.arguments.map { $0.replacing("@/", with: origin.url + "/") },
            in: folder)

        #expect(result.status == failure.status)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        for word in failure.words { #expect(result.errorLines.first?.contains(word) == true, "\(result.errors)") }
        #expect(result.output.isEmpty)
        #expect(!result.errors.utf8.contains { $0 < 0x20 && $0 != 0x0A }, "raw control characters")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    // MARK: Segments

    @Test("a segment truncated every time is skipped, and the rest is played")
    func truncated() async throws {
        let origin = try OddOrigin(try OddOrigin.cutSample(), cutting: "3.m4s")
        defer { origin.stop() }
        let arguments = ["--fast", "--retries", "1", origin.url + "/v.m3u8"]
        let result = try await hlsget(arguments)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errorLines.isEmpty)
        #expect(result.lines.contains { $0.hasPrefix("hlsget: warning: skipped segment 3") && $0.contains("/3.m4s") })
        #expect(result.lines.contains { $0.contains("1 segment skipped") })

        let strict = try await hlsget(["--strict"] + arguments)
        #expect(strict.status == 10)
        #expect(strict.errorLines.count == 1)
        #expect(strict.errorLines.first?.contains("segment 3") == true, "\(strict.errors)")
        #expect(strict.errorLines.first?.contains(origin.url + "/3.m4s") == true)
    }

    @Test("a segment that no variant has is skipped, and all others come once")
    func pageEverywhere() async throws {
        var files = try Self.twoVariants()
        for name in ["a", "b"] { files["\(name)/3.m4s"] = Array("<!DOCTYPE html><html></html>".utf8) }
        let hashes = try SampleMedia.frameHashes(of: "180p")
        #expect(try await Self.frames(of: files) == Array(hashes[..<300] + hashes[400...]))
    }

    @Test("R38: a gap in one variant is filled from another")
    func gap() async throws {
        var files = try Self.twoVariants()
        let text = String(decoding: files["a/v.m3u8"] ?? [], as: UTF8.self)
        files["a/v.m3u8"] = Array(text.replacing("3.m4s", with: "#EXT-X-GAP\n3.m4s").utf8)
        files["a/3.m4s"] = nil
        #expect(try await Self.frames(of: files) == (try SampleMedia.frameHashes(of: "180p")))
    }

    /// Returns the same media as two variants. `a` is the first choice.
    private static func twoVariants() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (name, bytes) in try OddOrigin.cutSample() {
            files["a/" + name] = bytes
            files["b/" + name] = bytes
        }
        files["two.m3u8"] = Array(
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=90000\na/v.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=80000\nb/v.m3u8\n".utf8)
        return files
    }

    private static func frames(of files: [String: [UInt8]]) async throws -> [String] {
        let origin = try OddOrigin(files)
        defer { origin.stop() }
        let result = try await hlsget(
            "--fast", "--start-first-eligible", "-f", "framemd5", "--no-audio", origin.url + "/two.m3u8")
        #expect(result.status == 0, "\(result.errors)")
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return lines.map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }

    @Test("with a wrong key no frame is output")
    func wrongKey() async throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let cipher = try Tool.run(
            [
                "openssl", "enc", "-aes-128-cbc", "-K", String(repeating: "1", count: 32), "-iv",
                String(repeating: "0", count: 32),
            ],
            input: rendition.segments[0])
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x00000000000000000000000000000000
            #EXTINF:4,
            0.m4s
            #EXT-X-ENDLIST

            """
        let origin = try OddOrigin([
            "v.m3u8": Array(text.utf8), "init.mp4": rendition.initializationSection, "0.m4s": cipher,
            "key": [UInt8](repeating: 0x22, count: 16),
        ])
        defer { origin.stop() }
        let folder = try ScratchFolder()
        let result = try await hlsget("--fast", "-o", "a.framemd5", "-o", "b.ts", origin.url + "/v.m3u8", in: folder)

        #expect(result.status == 7, "\(result.errors)")
        #expect(result.errorLines.count == 1)
        #expect(result.errorLines.first?.contains("/key") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    // MARK: Certificates

    @Test("a certificate of an unknown authority is refused unless it or the risk is accepted")
    func certificates() async throws {
        let origin = try TestOrigin()
        try SampleMedia.copy(to: origin.root)
        let url = origin.secure + "/sample/video-180p.m3u8"
        let refused = try await hlsget("--fast", "--no-decode", url)
        #expect(refused.status == 12)
        #expect(refused.errorLines.count == 1)
        #expect(refused.errorLines.first?.contains("certificate") == true)
        #expect(try await hlsget("--fast", "--no-decode", "--cacert", origin.caFile, url).status == 0)
        #expect(try await hlsget("--fast", "--no-decode", "--insecure", url).status == 0)
    }

    @Test("CURL_CA_BUNDLE and SSL_CERT_FILE replace the system's certificates, and --cacert replaces both")
    func certificatesOfEnvironment() async throws {
        let origin = try TestOrigin()
        try SampleMedia.copy(to: origin.root)
        let other = try ScratchFolder()
        try other.write(Array("no certificate\n".utf8), to: "other.pem")
        func status(_ variables: [String], _ options: [String] = []) async throws -> Int32 {
            let program = [Command.productFolder + "/hlsget", "--fast", "--no-decode"]
            let environment = ["/usr/bin/env", "-u", "CURL_CA_BUNDLE", "-u", "SSL_CERT_FILE"] + variables
            let arguments = environment + program + options
            return try await Command(arguments + [origin.secure + "/sample/video-180p.m3u8"]).result().status
        }
        for name in ["CURL_CA_BUNDLE", "SSL_CERT_FILE"] {
            #expect(try await status(["\(name)=\(origin.caFile)"]) == 0, "\(name)")
            #expect(try await status(["\(name)=\(other.path)/none.pem"]) == 12, "an unreadable file is ignored")
            #expect(try await status(["\(name)=\(other.path)/other.pem"], ["--cacert", origin.caFile]) == 0, "\(name)")
        }
        let both = ["CURL_CA_BUNDLE=\(origin.caFile)", "SSL_CERT_FILE=\(other.path)/other.pem"]
        #expect(try await status(both) == 0, "the first one is used")
    }

    /// Whether a process may mount its own folders over the system's folders.
    private static let mayMount =
        (try? Tool.run(["/usr/bin/unshare", "-rm", "/bin/mount", "--bind", "/etc/ssl", "/etc/ssl"])) != nil

    @Test(
        "--cacert replaces the system's certificates, both file and folder",
        .enabled(if: mayMount), arguments: ["file", "folder"])
    func authorities(place: String) async throws {
        let origin = try TestOrigin()
        try SampleMedia.copy(to: origin.root)
        let folder = try ScratchFolder()
        // The certificate has a different name, because authorities with the same name would conflict.
        let (other, key) = (folder.path + "/other.pem", folder.path + "/key.pem")
        let request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=another", "-days", "2"]
        _ = try Tool.run(["/usr/bin/openssl"] + request + ["-keyout", key, "-out", other])
        let certificates = folder.path + "/certs"
        try FileManager.default.createDirectory(atPath: certificates, withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            atPath: place == "file" ? origin.caFile : other, toPath: certificates + "/ca-certificates.crt")
        if place == "folder" {
            let hash = try Tool.run(["/usr/bin/openssl", "x509", "-noout", "-hash", "-in", origin.caFile])
            let name = String(decoding: hash, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            try FileManager.default.copyItem(atPath: origin.caFile, toPath: "\(certificates)/\(name).0")
        }
        func status(_ options: [String]) async throws -> Int32 {
            try await Command(
                [
                    "/usr/bin/unshare", "-rm", "/bin/sh", "-c", "mount --bind \"$0\" /etc/ssl/certs && exec \"$@\"",
                    certificates, Command.productFolder + "/hlsget", "--fast", "--no-decode",
                ] + options + [origin.secure + "/sample/video-180p.m3u8"], in: folder.path
            ).result().status
        }
        #expect(try await status([]) == 0, "the system's authorities are believed")
        #expect(try await status(["--cacert", other]) == 12)
        #expect(try await status(["--cacert", origin.caFile]) == 0)
    }

    // MARK: Outputs

    @Test("R72: unwritable outputs are reported before the first request")
    func outputs() async throws {
        let origin = try OddOrigin(try OddOrigin.cutSample())
        defer { origin.stop() }
        let folder = try ScratchFolder()
        try folder.write([1, 2, 3], to: "there.ts")
        for path in ["/proc/none/x.ts", folder.path + "/none/x.ts", folder.path + "/there.ts"] {
            let result = try await hlsget("--fast", "-o", path, origin.url + "/v.m3u8")
            #expect(result.status == 9)
            #expect(result.errorLines.count == 1)
            #expect(result.errorLines.first?.contains(path) == true)
        }
        #expect(origin.server.requests.isEmpty)
        #expect(FileManager.default.contents(atPath: folder.path + "/there.ts") == Data([1, 2, 3]))

        let result = try await hlsget(
            "--fast", "--overwrite", "-o", "there.ts", "--to", "1", origin.url + "/v.m3u8", in: folder)
        #expect(result.status == 0)
        #expect(FileManager.default.contents(atPath: folder.path + "/there.ts")?.first == 0x47)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["there.ts"])
    }

    @Test("a full disk is an output error")
    func fullDisk() async throws {
        let result = try await hlsget("--fast", "-f", "y4m", "-o", "/dev/full", SampleMedia.folder + "/video-180p.m3u8")
        #expect(result.status == 9)
        #expect(result.errorLines.count == 1)
        #expect(result.errorLines.first?.contains("/dev/full") == true)
        #expect(result.errorLines.first?.contains("No space left") == true)
    }

    @Test("R71: a closed pipe ends it at once and silently, like other commands")
    func closedPipe() async throws {
        let folder = try ScratchFolder()
        let command = try Command(
            [
                "/bin/sh", "-c", "{ \"$0\" \"$@\"; echo $? > status; } | head -c 1 > /dev/null",
                Command.productFolder + "/hlsget", "--fast", "-f", "rawvideo", "-o", "-",
                SampleMedia.folder + "/video-180p.m3u8",
            ], in: folder.path)
        let result = try await command.result()
        #expect(try String(contentsOfFile: folder.path + "/status", encoding: .utf8) == "141\n")
        #expect(result.errorLines.isEmpty)
    }

    // MARK: Usage and signals

    @Test("an unknown option is a usage error")
    func usage() async throws {
        let result = try await hlsget("--nonsense", "http://127.0.0.1:1/")
        #expect(result.status == 64)
        #expect(result.errorLines.count == 1)
        #expect(result.output.isEmpty)
    }

    @Test("R71: a signal ends it cleanly: the file is finished and the summary printed", arguments: [SIGINT, SIGTERM])
    func signals(_ signal: Int32) async throws {
        let folder = try ScratchFolder()
        let command = try Command.hlsget(
            ["--progress", "json", "-o", "out.mp4", SampleMedia.folder + "/video-180p.m3u8"], in: folder.path)
        #expect(command.waitForErrors(containing: "\"new\":\"playing\""))
        #expect(command.wait { FileManager.default.fileExists(atPath: folder.path + "/out.mp4.part") })
        command.send(signal: signal)
        let result = try await command.result()
        #expect(result.status == 128 + signal)
        #expect(result.errorLines.isEmpty)
        #expect(result.lines.last?.contains("\"event\":\"summary\"") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out.mp4"])
        let boxes = MP4Boxes(FileManager.default.contents(atPath: folder.path + "/out.mp4") ?? Data())
        #expect(boxes.names.contains("moov"))
        #expect(boxes.isWhole)
    }

    @Test("a pipe that is not read does not prevent a signal from ending it")
    func unreadPipe() async throws {
        let folder = try ScratchFolder()
        mkfifo(folder.path + "/pipe", 0o600)
        let reader = open(folder.path + "/pipe", O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let command = try Command.hlsget(
            ["--fast", "-f", "rawvideo", "-o", "pipe", SampleMedia.folder + "/video-180p.m3u8"], in: folder.path)
        #expect(command.wait { Self.isFull(reader) })
        command.send(signal: SIGTERM)
        let result = try await command.result()
        #expect(result.status == 143)
        #expect(result.errors.contains("hlsget: stopped immediately"))
    }

    private static func isFull(_ pipe: Int32) -> Bool {
        var count: Int32 = 0
        return ioctl(pipe, UInt(FIONREAD), &count) == 0 && count >= 61_440
    }

    @Test("another signal some time later ends it at once")
    func secondSignal() async throws {
        let folder = try ScratchFolder()
        // Nothing reads the pipe, so a clean end is impossible.
        mkfifo(folder.path + "/pipe", 0o600)
        let reader = open(folder.path + "/pipe", O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let command = try Command.hlsget(
            ["--fast", "-v", "-f", "rawvideo", "-o", "pipe", SampleMedia.folder + "/video-180p.m3u8"], in: folder.path)
        #expect(command.wait { Self.isFull(reader) })
        command.send(signal: SIGINT)
        // Two signals within a second of real time count as one.
        usleep(1_300_000)
        command.send(signal: SIGINT)
        #expect(try await command.result().status == 130)
    }
}

struct MP4Boxes {
    private(set) var names: [String] = []
    private(set) var isWhole = false

    init(_ data: Data) {
        let bytes = Array(data)
        var offset = 0
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
            guard size >= 8 else { return }
            offset += size
        }
        isWhole = offset == bytes.count && !bytes.isEmpty
    }
}
