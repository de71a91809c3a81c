import Foundation
import TestSupport
import Testing

@Suite(
    "Secrets of URLs, fields and cookies", .enabled(if: TestOrigin.isInstalled, "needs nginx"), .ownThread,
    .timeLimit(.minutes(10))
)
struct SecretTests {
    private static let mark = "S3CRET"
    private static let query =
        "X-Amz-Signature=\(mark)amz&X-Amz-Security-Token=\(mark)sts&Signature=\(mark)cloud&Policy=\(mark)policy"
        + "&sig=\(mark)azure&hdnts=exp=9~acl=/*~hmac=\(mark)akamai&token=\(mark)token&n=7"

    private let origin: TestOrigin
    private let folder: ScratchFolder

    init() throws {
        origin = try TestOrigin()
        folder = try ScratchFolder()
        try SampleMedia.copy(to: origin.root)
        for name in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder) {
            guard name.hasSuffix(".m3u8") else {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(origin.root.path)/signed-\(name)",
                    withDestinationPath: "\(origin.root.path)/sample/\(name)")
                continue
            }
            let text = try String(contentsOfFile: "\(SampleMedia.folder)/\(name)", encoding: .utf8)
            let lines = text.split(separator: "\n").map { line -> String in
                if !line.hasPrefix("#") { return "signed-\(line)?token=\(Self.mark)listed" }
                guard let uri = line.firstRange(of: "URI=\"") else { return String(line) }
                let rest = line[uri.upperBound...]
                let end = rest.firstIndex(of: "\"") ?? rest.endIndex
                return line[..<uri.upperBound] + "signed-\(rest[..<end])?sig=\(Self.mark)listed" + rest[end...]
            }
            try origin.root.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "signed-\(name)")
        }
        let gone = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ngone.ts?Signature=\(Self.mark)gone\n#EXT-X-ENDLIST\n"
        try origin.root.write(Array(gone.utf8), to: "gone.m3u8")
        let cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t\(Self.mark)cookie\n"
        try folder.write(Array(cookies.utf8), to: "cookies.txt")
    }

    private func url(_ name: String, at host: String? = nil) -> String {
        let host = host ?? String(origin.plain.dropFirst("http://".count))
        return "http://user:\(Self.mark)user@\(host)/\(name)?\(Self.query)"
    }

    private func run(_ arguments: [String], status: Int32?) async throws -> [String] {
        let all = arguments + ["-H", "X-Auth-Token: \(Self.mark)field", "--cookies", "cookies.txt"]
        let result = try await hlsget(all, in: folder)
        if let status { #expect(result.status == status, "\(arguments): \(result.errors)") }
        let said = result.errors + String(decoding: result.output, as: UTF8.self)
        return said.split(separator: "\n").filter { $0.contains(Self.mark) }.map { "\(arguments.first ?? ""): \($0)" }
    }

    private func files() throws -> [String] {
        var leaks: [String] = []
        let all = FileManager.default.enumerator(atPath: folder.path)
        while let name = all?.nextObject() as? String {
            guard !name.hasSuffix("cookies.txt"),
                let data = FileManager.default.contents(atPath: "\(folder.path)/\(name)"),
                let place = data.firstRange(of: Data(Self.mark.utf8))
            else { continue }
            let start = max(0, place.lowerBound - 100)
            let end = min(data.count, place.upperBound + 20)
            leaks.append("\(name): \(String(decoding: data[start..<end], as: UTF8.self))")
        }
        return leaks
    }

    @Test("secrets are in no line and no file of a play, however it ends")
    func play() async throws {
        let everything = ["-v", "--json", "--progress", "json"]
        for (name, status) in [("signed-master.m3u8", 0), ("gone.m3u8", 10), ("missing.m3u8", 3)] as [(String, Int32)] {
            let play = ["--fast", "-o", "\(name).ts", "--access-log", "\(name).ndjson", url(name)] + everything
            #expect(try await run(play, status: name == "gone.m3u8" ? nil : status) == [])
            #expect(
                try await run(["--fast", "--no-decode", "--access-log", "\(name).log", url(name)], status: nil) == [])
        }
        #expect(try await run(["--retries", "0", url("x.m3u8", at: "127.0.0.1:1")] + everything, status: 4) == [])
        #expect(try await run([url("x.m3u8", at: "127.0.0.1:none")] + everything, status: nil) == [])
        #expect(try files() == [])
    }

    @Test("secrets are in no line of a recording, and a replay works without them")
    func recording() async throws {
        let play = ["--fast", "--no-decode", "--record-trace", "r.jsonl", url("sample/master.m3u8")]
        #expect(try await run(play, status: 0) == [])
        #expect(try files() == [])
        let replay = try await hlsget("replay", "r.jsonl", "--log", "-", in: folder)
        #expect(replay.status == 0, "\(replay.errors)")
    }

    @Test("secrets are in no line and no file of a download, which can still be resumed")
    func download() async throws {
        let url = url("signed-master.m3u8")
        #expect(
            try await run(["download", "--progress", "json", "-o", "gone.mp4", self.url("gone.m3u8")], status: nil)
                == [])
        #expect(try files() == [])
        #expect(try await run(["download", "--progress", "json", "-o", "film.mp4", url], status: 0) == [])
        #expect(try await run(["download", "-o", "x.mp4", "--retries", "0", self.url("x.m3u8")], status: 3) == [])
        #expect(try files() == [])
    }

    @Test("secrets are in no line and no file of captions, and not in inspect's or lint's output")
    func others() async throws {
        #expect(try await run(["captions", "-o", "a.vtt", url("signed-master.m3u8")], status: 0) == [])
        #expect(try await run(["captions", "-o", "b.vtt", url("missing.m3u8")], status: 3) == [])
        for name in ["sample/master.m3u8", "sample/video-180p.m3u8", "missing.m3u8"] {
            for options in [[], ["--json"]] {
                #expect(try await run(["inspect", url(name)] + options, status: nil) == [])
                #expect(try await run(["lint", url(name)] + options, status: nil) == [])
            }
        }
        #expect(try files() == [])
    }

    @Test("a mistyped key is not repeated", arguments: ["--key", "--iv", "--key-uri"], [true, false])
    func mistypedKey(option: String, isJoined: Bool) async throws {
        let secret = "3c5d0ffe1234zz"
        for command in [[], ["download"], ["thumbnails"]] {
            let typed = isJoined ? ["\(option)=\(secret)"] : [option, secret]
            let result = try await hlsget(command + ["https://a/b.m3u8"] + typed)
            #expect(result.status == 64)
            #expect(result.errors.contains(option) && !result.errors.contains(secret), "\(result.errors)")
        }
    }
}
