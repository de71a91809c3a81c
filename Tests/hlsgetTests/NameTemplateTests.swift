import ArgumentParser
import Foundation
import HLSKitCore
import Synchronization
import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Q08: Name templates")
struct NameTemplateTests {
    private static var now: tm {
        var now = tm()
        (now.tm_year, now.tm_mon, now.tm_mday, now.tm_hour, now.tm_min, now.tm_sec) = (126, 0, 31, 9, 5, 7)
        return now
    }

    @Test(
        "words are replaced by the stream, the format and the time",
        arguments: [
            ("film.ts", "film.ts"), ("{name}.{ext}", "night.ts"),
            ("a/{name}_{date}_{time}.mp4", "a/night_2026-01-31_090507.mp4"),
            ("{name}_{height}p.ts", "night_{height}p.ts"), ("{{name}}.ts", "{name}.ts"), ("-", "-"), ("", ""),
            ("{number}-{part}.ts", "03-{part}.ts"), ("a/{title}/b.ts", "a/{title}{dir}b.ts"), ("{title}/", "{title}/"),
        ])
    func words(text: String, path: String) throws {
        let template = try NameTemplate(parsing: text)
        #expect(try template.path(url: "https://h/night/master.m3u8", ending: "ts", number: 3, now: Self.now) == path)
    }

    @Test("unknown words are refused", arguments: ["{size}.ts", "{name.ts", "a}b.ts", "{}.ts", "{Name}.ts"])
    func unknown(_ text: String) {
        #expect(throws: ArgumentValueError.self) { try NameTemplate(parsing: text) }
    }

    @Test(
        "text that looks like a later replacement is refused",
        arguments: ["{{width}}.ts", "{{dir}}{title}.ts", "a{{height}}_{height}.ts", "{{{name}}}.ts"])
    func literal(_ text: String) throws {
        let template = try NameTemplate(parsing: text)
        #expect(throws: ArgumentValueError.self) { try template.path(url: "https://h/width/master.m3u8", ending: nil) }
    }

    @Test("{ext} needs a format")
    func ending() throws {
        let template = try NameTemplate(parsing: "{name}.{ext}")
        #expect(throws: ArgumentValueError.self) { try template.path(url: "https://h/a", ending: nil) }
        let play = try #require(
            try HLSGet.parseAsRoot(["-f", "mkv", "-o", "{name}.{ext}", "https://h/night.m3u8"]) as? PlayCommand)
        #expect(try play.options().outputs == [OutputArgument(destination: .file(path: "night.mkv"), format: .mkv)])
        let target = try DownloadTarget(output: "{name}_{height}p.{ext}", format: nil, url: "https://h/night.m3u8")
        #expect(target == .file(path: "night_{height}p.mp4", format: .mp4))
        #expect(
            try DownloadTarget(output: "{name}/", format: nil, url: "https://h/night.m3u8") == .folder(path: "night"))
    }

    @Test("words about the media are replaced when it is known")
    func media() {
        let facts = NameFacts(size: PixelSize(width: 1280, height: 720), bandwidth: 2_500_000)
        #expect(facts.path("a_{width}x{height}_{bandwidth}.ts") == "a_1280x720_2500000.ts")
        #expect(NameFacts().path("a_{height}p.ts") == "a_unknownp.ts")
        #expect(NameFacts().path("a.ts") == "a.ts")
        #expect(NameFacts(title: "Night: 1/2").path("x/{title}{dir}{height}.ts") == "x/Night_ 1_2/unknown.ts")
    }

    @Test(
        "a title names no other folder, hides nothing and is truncated",
        arguments: [
            ("../../etc/passwd", "_.._etc_passwd"), (".hidden", "hidden"), ("-rf", "rf"), ("a\u{202E}b\nc", "a_b_c"),
            ("{dir}", "_dir_"), ("Fünf Uhr – Nachrichten", "Fünf Uhr – Nachrichten"), ("..", ""),
        ])
    func titles(title: String, name: String) {
        #expect(NameFacts.fileName(title) == name)
        #expect(NameFacts.fileName(String(repeating: "ü", count: 500)).utf8.count == 150)
    }

    @Test("folders in a template are made when the name is known", .timeLimit(.minutes(10)))
    func folders() async throws {
        let folder = try ScratchFolder()
        for arguments in [
            ["--fast", "-o", "tv/{title}/{height}p.ts", "--to", "2"],
            ["download", "-o", "tv/{title}/{number}-{height}p.{ext}", "--duration", "4"],
        ] {
            let result = try await hlsget(
                arguments + ["--quality", "180p", SampleMedia.folder + "/master.m3u8"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.contains(".") }
            .sorted()
        #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("tv/") }, "\(names)")
        #expect(names.map { $0.split(separator: "/").last ?? "" } == ["01-180p.mp4", "180p.ts"])
    }

    @Test("a file gets its final name, and never an existing one")
    func rename() throws {
        let folder = try ScratchFolder()
        _ = try folder.write([1], to: "a_{height}p.ts")
        let template = folder.path + "/a_{height}p.ts"
        let facts = NameFacts(size: PixelSize(width: 320, height: 180))
        #expect(try facts.rename(template, overwrite: false) == folder.path + "/a_180p.ts")
        #expect(access(template, F_OK) != 0 && access(folder.path + "/a_180p.ts", F_OK) == 0)
        _ = try folder.write([2], to: "a_{height}p.ts")
        #expect(throws: HLSError.self) { try facts.rename(template, overwrite: false) }
        #expect(access(template, F_OK) == 0, "the output is kept")
        let link = folder.path + "/a_90p.ts"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path + "/none")
        #expect(throws: HLSError.self, "a link that leads nowhere has the name all the same") {
            try NameFacts(size: PixelSize(width: 160, height: 90)).rename(template, overwrite: false)
        }
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) != nil)
        #expect(try facts.rename(template, overwrite: true) == folder.path + "/a_180p.ts")
    }

    @Test("played and downloaded files get their names", .timeLimit(.minutes(10)))
    func files() async throws {
        let folder = try ScratchFolder()
        let master = SampleMedia.folder + "/master.m3u8"
        for arguments in [
            ["--fast", "-f", "ts", "-o", "{name}_{height}p.{ext}", "--to", "4"],
            ["download", "-o", "{name}_{width}x{height}.{ext}", "--to", "4"],
        ] {
            let result = try await hlsget(arguments + ["--quality", "180p", master], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["sample_180p.ts", "sample_320x180.mp4"])
    }

    @Test("{time} is the command's start, not the stream's", .timeLimit(.minutes(10)))
    func startTime() async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try CutStream.files(), ["master.m3u8": (.status("404 Not Found"), 1)])
        let firstRequest = Mutex<tm?>(nil)
        try await withServer(answering: { connection, request in
            firstRequest.withLock { $0 = $0 ?? NameTemplate.now }
            origin.answer(connection, request)
        }) { server in
            let result = try await hlsget(
                "download", "--wait", "1m", "-o", "{time}.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let now = firstRequest.withLock { $0 }
        let first = try #require(now)
        let latest = try NameTemplate(parsing: "{time}.mp4").path(url: "", ending: nil, now: first)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 1 && names.allSatisfy { $0 <= latest || latest < "0001" }, "\(names) after \(latest)")
    }

    @Test("an output never takes another output's name", .timeLimit(.minutes(10)))
    func shared() async throws {
        let folder = try ScratchFolder()
        let result = try await hlsget(
            "--fast", "--overwrite", "-o", "{height}.ts", "-o", "180.ts", "--to", "2", "--quality", "180p",
            SampleMedia.folder + "/master.m3u8", in: folder)
        #expect(result.status == 9, "\(result.errors)")
        #expect(result.errors.contains("the output is in {height}.ts"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["180.ts", "{height}.ts"])
    }
}
