import Foundation
import TestSupport
import Testing

@Suite("Standard input, and several inputs", .ownThread, .timeLimit(.minutes(10)))
struct StandardInputTests {
    private static let master = SampleMedia.folder + "/master.m3u8"

    @Test("a piped playlist plays, with URIs relative to --base-url or to the folder")
    func playlists() async throws {
        let folder = try ScratchFolder()
        let expected = try await hlsget("--fast", "-f", "framemd5", "--no-audio", "--quality", "180p", Self.master)
        let piped = try await hlsget(
            ["--fast", "-f", "framemd5", "--no-audio", "--quality", "180p", "-", "--base-url", Self.master], in: folder,
            input: Self.master)
        #expect(piped.status == 0, "\(piped.errors)")
        #expect(piped.output == expected.output && !piped.output.isEmpty)
        for arguments in [
            ["inspect", "-"], ["list", "-", "--base-url", Self.master], ["lint", "-", "--base-url", Self.master],
            ["download", "-", "--base-url", Self.master, "--quality", "180p", "-o", "x.mp4"],
            ["captions", "-", "--base-url", Self.master, "-o", "x.vtt"],
        ] {
            let result = try await hlsget(arguments, in: folder, input: Self.master)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
        }
    }

    @Test("--base-url of another input is refused", arguments: ["play", "download", "list", "captions"])
    func otherInput(command: String) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget([command, "--base-url", "https://h.invalid/a.m3u8", Self.master], in: folder)
        #expect(result.status == 64)
        #expect(result.errors.contains("--base-url is for a playlist on standard input"), "\(result.errors)")
    }

    @Test("without --base-url a piped playlist names files in the working directory")
    func inFolder() async throws {
        let folder = try ScratchFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: SampleMedia.folder) {
            try FileManager.default.copyItem(
                atPath: "\(SampleMedia.folder)/\(name)", toPath: "\(folder.path)/\(name)")
        }
        for arguments in [
            ["--fast", "--to", "4", "-"], ["download", "-", "--to", "4", "-o", "x.mp4"], ["list", "-"],
        ] {
            let result = try await hlsget(arguments, in: folder, input: Self.master)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
        }
    }

    @Test("redirected media plays like its file")
    func media() async throws {
        let file = SampleMedia.fixtures + "/media/ts-h264-aac.ts"
        let expected = try await hlsget("--fast", "-f", "framemd5", file)
        let redirected = try await hlsget(["--fast", "-f", "framemd5", "-"], input: file)
        #expect(redirected.status == 0, "\(redirected.errors)")
        #expect(redirected.output == expected.output && !expected.output.isEmpty)
    }

    @Test(
        "piped media plays, downloads and has thumbnails like its file",
        arguments: ["ts-h264-aac.ts", "picture-odd.mp4"])
    func pipedMedia(name: String) async throws {
        let file = SampleMedia.fixtures + "/media/" + name
        let folder = try ScratchFolder()
        let program = "\(Command.productFolder)/hlsget"
        let expected = try await hlsget("--fast", "-f", "framemd5", file)
        let piped = try Tool.run([
            "/bin/sh", "-c", "cat '\(file)' | '\(program)' --no-config -q --fast -f framemd5 -o - -",
        ])
        #expect(piped == expected.output && !expected.output.isEmpty)
        for arguments in ["download - -o \(folder.path)/x.mkv", "thumbnails - --count 1 -o \(folder.path)/t.jpg"] {
            try Tool.run(["/bin/sh", "-c", "cat '\(file)' | '\(program)' \(arguments) -q"])
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["t.jpg", "x.mkv"])
    }

    @Test("every writer of a file keeps and reports an earlier run's part file")
    func leftovers() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("the only copy".utf8), to: "a.mp4.part")
        let result = try await hlsget(
            "--fast", "--quality", "180p", "--to", "2", "-o", "a.mp4", Self.master, in: folder)
        #expect(result.status == 0 && result.errors.contains("is kept: a.mp4.1.part"), "\(result.errors)")
        let kept = FileManager.default.contents(atPath: folder.path + "/a.mp4.1.part")
        #expect(kept == Data("the only copy".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["a.mp4", "a.mp4.1.part"])
    }

    @Test("a mistyped option with a value is named, instead of asking for {number}")
    func mistypedOption() async throws {
        for option in ["--qualty", "--resolution", "--split"] {
            let result = try await hlsget("download", "-o", "a.mp4", option, "720p", Self.master)
            #expect(result.status == 64 && result.errors.contains(option), "\(result.errors)")
        }
        let several = try await hlsget("download", "-o", "a.mp4", Self.master, Self.master)
        #expect(several.status == 64 && several.errors.contains("{number}"), "\(several.errors)")
    }

    @Test("a downloaded file has its index before its media")
    func indexInFront() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("download", "--quality", "180p", "-o", "a.mp4", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let bytes = [UInt8](try #require(FileManager.default.contents(atPath: folder.path + "/a.mp4")))
        var (boxes, offset) = ([String](), 0)
        while offset + 8 <= bytes.count {
            boxes.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
            let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8 else { break }
            offset += size
        }
        #expect(boxes.filter { $0 != "free" } == ["ftyp", "moov", "mdat"])
        let frames = try await hlsget("--fast", "--no-audio", "-f", "framemd5", "a.mp4", in: folder)
        let hashes = String(decoding: frames.output, as: UTF8.self).split(separator: "\n").filter {
            !$0.hasPrefix("#")
        }.map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
        #expect(hashes == (try SampleMedia.frameHashes(of: "180p")))
    }

    @Test("empty standard input is reported")
    func empty() async throws {
        let result = try await hlsget(["--fast", "-"])
        #expect(result.status == 64 && result.errors.contains("standard input is empty"))
    }

    @Test("--split cuts at sync frames without a loss")
    func split() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "--fast", "--quality", "180p", "--split", "10s", "-o", "a.mp4", "-o", "b-{part}.ts", Self.master, in: folder
        )
        #expect(result.status == 0, "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(
            names == [
                "a-001.mp4", "a-002.mp4", "a-003.mp4", "a-004.mp4", "b-001.ts", "b-002.ts", "b-003.ts", "b-004.ts",
            ])
        for pattern in ["a-00#.mp4", "b-00#.ts"] {
            var hashes: [String] = []
            for number in 1...4 where names.count == 8 {
                let name = pattern.replacing("#", with: "\(number)")
                let frames = try await hlsget("--fast", "--no-audio", "-f", "framemd5", name, in: folder)
                #expect(frames.status == 0, "\(frames.errors)")
                let lines = String(decoding: frames.output, as: UTF8.self).split(separator: "\n")
                hashes += lines.filter { !$0.hasPrefix("#") }.map {
                    String($0.split(separator: " ").last?.prefix(8) ?? "")
                }
            }
            #expect(hashes == (try SampleMedia.frameHashes(of: "180p")), "\(pattern)")
        }
    }

    @Test("--split keeps files within the size")
    func splitBySize() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "--fast", "--quality", "180p", "--split", "200k", "-o", "a.mp4", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let sizes = try names.map {
            try FileManager.default.attributesOfItem(atPath: folder.path + "/" + $0)[.size] as? Int ?? 0
        }
        #expect(names.count >= 3 && sizes.allSatisfy { $0 < 230_000 }, "\(sizes)")
    }

    @Test("audio alone is written to .aac, and codecs except AAC are refused", arguments: [["--fast"], ["download"]])
    func audio(command: [String]) async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(command + ["--quality", "180p", "-o", "a.aac", Self.master], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let bytes = try #require(FileManager.default.contents(atPath: folder.path + "/a.aac"))
        #expect(bytes.starts(with: [0xFF, 0xF1]), "a frame of ADTS")
        let inspected = try await hlsget("--fast", "-f", "s16le", "-o", "a.pcm", "a.aac", in: folder)
        #expect(inspected.status == 0, "\(inspected.errors)")
        let count = FileManager.default.contents(atPath: folder.path + "/a.pcm")?.count ?? 0
        #expect(abs(count / 4 - 40 * 48_000) < 4096)
        let other = try await hlsget(command + ["--quality", "180p", "-o", "a.mp3", Self.master], in: folder)
        #expect(other.status == 9 && other.errors.contains("cannot hold"), "\(other.errors)")
    }

    @Test("a failing download does not stop the others, and existing files are skipped")
    func downloads() async throws {
        let folder = try ScratchFolder()
        _ = try folder.write(Array("# mine\n\(Self.master)\n/no/such.m3u8\n\(Self.master)\n".utf8), to: "list.txt")
        let arguments = ["download", "-a", "list.txt", "--quality", "180p", "--duration", "4", "--json"]
        let first = try await hlsget(arguments, in: folder)
        #expect(first.status == 3, "\(first.errors)")
        let documents = String(decoding: first.output, as: UTF8.self).split(separator: "\n")
        #expect(documents.count == 3)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["list.txt", "sample-2.mp4", "sample.mp4"])
        let again = try await hlsget(arguments + ["--skip-existing"], in: folder)
        #expect(again.status == 3 && !again.errors.contains("the file exists"), "\(again.errors)")
    }

    @Test("K01: --subs all saves each rendition in its own file")
    func captions() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget("captions", "--subs", "all", "-o", "film.vtt", Self.master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!names.isEmpty && names.allSatisfy { $0.hasPrefix("film.") && $0.hasSuffix(".vtt") }, "\(names)")
        let one = try await hlsget("captions", "--subs", "lang=en", Self.master)
        #expect(FileManager.default.contents(atPath: folder.path + "/film.en.vtt").map(Array.init) == one.output)
    }

    @Test("--on-gap fill keeps the duration in formats without times", arguments: ["skip", "fill"])
    func fill(action: String) async throws {
        let folder = try ScratchFolder()
        let gone = (fault: FaultyOrigin.Fault.status("404 Not Found"), count: Int.max)
        let origin = FaultyOrigin(try CutStream.files(), ["v3.m4s": gone, "a3.m4s": gone])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget(
                "--fast", "--on-gap", action, "--retries", "0", "-o", "a.pcm", "-o", "v.yuv",
                "\(server.url)/master.m3u8",
                in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let audio = try #require(FileManager.default.contents(atPath: folder.path + "/a.pcm"))
        let frames = FileManager.default.contents(atPath: folder.path + "/v.yuv")?.count ?? 0
        let isFilled = action == "fill"
        #expect(abs(audio.count / 4 - (isFilled ? 40 : 36) * 48_000) < 4096)
        #expect(frames / (320 * 180 * 3 / 2) == (isFilled ? 1000 : 900))
        let second = audio.dropFirst(14 * 48_000 * 4 - 8192).prefix(48_000 * 4 - 16_384)
        #expect(second.allSatisfy { $0 == 0 } == isFilled)
    }
}
