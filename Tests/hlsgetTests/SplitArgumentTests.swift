import ArgumentParser
import HLSGetKit
import TestSupport
import Testing

@testable import hlsget

@Suite("Splitting, and lists of URLs")
struct SplitArgumentTests {
    @Test(
        "a split value is a duration or a size",
        arguments: [
            ("1h", SplitArgument.duration(.seconds(3600))), ("30m", .duration(.seconds(1800))),
            ("1:00", .duration(.seconds(60))), ("90", .duration(.seconds(90))), ("500M", .byteCount(500_000_000)),
            ("1.5G", .byteCount(1_500_000_000)), ("100k", .byteCount(100_000)),
        ])
    func values(text: String, value: SplitArgument) throws {
        #expect(try SplitArgument(parsing: text) == value)
    }

    @Test("other texts are refused", arguments: ["", "0", "0.5", "-1h", "10k", "M", "h", "1x", "1e9G"])
    func refused(_ text: String) {
        #expect(throws: ArgumentValueError.self) { try SplitArgument(parsing: text) }
    }

    @Test("files have numbers before their extension, or at the position in the name")
    func names() {
        #expect(SplitNames.path("a/b.ts", number: 1) == "a/b-001.ts")
        #expect(SplitNames.path("a.b/c", number: 12) == "a.b/c-012")
        #expect(SplitNames.path("{part}/x.mp4", number: 1000) == "1000/x.mp4")
    }

    @Test(
        "--split needs a format for samples",
        arguments: [
            ["--split", "1h", "u"], ["--split", "1h", "-o", "a.wav", "u"],
            ["--split", "1h", "-f", "ts", "-o", "-", "u"],
            ["-o", "a-{part}.ts", "u"], ["--split", "1h", "--loop", "2", "-o", "a.ts", "u"],
        ])
    func contradictions(arguments: [String]) {
        #expect(throws: (any Error).self) { try HLSGet.parseAsRoot(arguments) }
    }

    @Test("a list has a URL in each line")
    func lists() throws {
        let lines = BatchFile.entries(in: "\u{FEFF}http://a/b\r\n\n # no\n#no\n  c d \n")
        #expect(lines == [BatchFile.Entry(url: "http://a/b"), BatchFile.Entry(url: "c d")])
        let options = "#EXTVLCOPT:http-user-agent=X\n"
        let channels = BatchFile.entries(in: "#EXTM3U\n#EXTINF:-1,News/One\n\(options)http://a/1.m3u8\n")
        #expect(channels == [BatchFile.Entry(url: "http://a/1.m3u8|User-Agent=X", name: "News/One")])
        let command = try #require(try HLSGet.parseAsRoot(["download", "-a", "x"]) as? DownloadCommand)
        #expect(try command.targets(of: channels.map(\.url), channels.map(\.name)).map(\.path) == ["News_One.mp4"])
        #expect(try command.targets(of: channels.map(\.url)).map(\.path) == ["1.mp4"])
        let folder = try ScratchFolder()
        let path = try folder.write([0x0A], to: "list")
        #expect(throws: ArgumentValueError.self) { try BatchFile.entries(at: path) }
        #expect(throws: ArgumentValueError.self) { try BatchFile.entries(at: folder.path + "/none") }
    }

    @Test("several downloads have separate files")
    func targets() throws {
        func paths(_ arguments: String...) throws -> [String] {
            let command = try #require(try HLSGet.parseAsRoot(["download"] + arguments) as? DownloadCommand)
            return try command.targets(of: command.urls).map(\.path)
        }
        #expect(try paths("http://a/x.m3u8", "http://b/x.m3u8", "y.m3u8") == ["x.mp4", "x-2.mp4", "y.mp4"])
        #expect(try paths("-o", "{number}-{name}.ts", "http://a/x.m3u8", "y.m3u8") == ["01-x.ts", "02-y.ts"])
        #expect(try paths("-o", "{name}/", "http://a/x.m3u8", "http://b/x.m3u8") == ["x", "x-2"])
        #expect(throws: (any Error).self) { try paths("-o", "a.ts", "x", "y") }
        #expect(throws: (any Error).self) { try paths("-", "-") }
        #expect(throws: (any Error).self) { try paths("--overwrite", "--skip-existing", "x") }
        #expect(throws: (any Error).self) { try HLSGet.parseAsRoot(["download"]) }
    }

    @Test("subtitle files are named by language, and never twice the same")
    func captionFiles() {
        var names = CaptionFileNames("a.b/film.vtt")
        #expect(names.next(language: "de", name: "Deutsch") == "a.b/film.de.vtt")
        #expect(names.next(language: "de", name: "Deutsch (SDH)") == "a.b/film.de-Deutsch__SDH_.vtt")
        #expect(names.next(language: "de", name: "Deutsch (SDH)") == "a.b/film.de-Deutsch__SDH_-2.vtt")
        #expect(names.next(language: nil, name: "../x") == "a.b/film.___x.vtt")
        #expect(names.next(language: nil, name: nil) == "a.b/film.1.vtt")
    }
}
