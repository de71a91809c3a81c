import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Q08: Config file")
struct ConfigFileTests {
    private static let commands = [
        CommandOptions(
            name: "play", takesValue: ["retries": true, "fast": false, "header": true, "rate": true, "output": true],
            letters: ["H": "header", "o": "output"]),
        CommandOptions(name: "download", takesValue: ["retries": true, "connections": true]),
    ]

    private static func arguments(_ text: String, for command: String = "play") throws -> [String] {
        try ConfigFile(parsing: text, path: "c").arguments(for: command, of: commands)
    }

    @Test("lines are options by their names, for each command that has them")
    func lines() throws {
        let text = """
            # what I like
            retries = 3
              --fast
            header = "A: b = c"

            rate=-4
            [download]
            connections = 2
            retries = 9
            """
        #expect(try Self.arguments(text) == ["--retries=3", "--fast", "--header=A: b = c", "--rate=-4"])
        #expect(try Self.arguments(text, for: "download") == ["--retries=3", "--connections=2", "--retries=9"])
        #expect(try Self.arguments("fast = no\nretries = 'x'") == ["--retries=x"])
        #expect(try Self.arguments("fast = yes\r\n") == ["--fast"])
        #expect(try Self.arguments("").isEmpty)
    }

    @Test(
        "mistakes are reported with their line",
        arguments: [
            ("retries = 1\nspeed = 2", "c:2: hlsget has no option --speed"),
            ("[play]\nconnections = 2", "c:2: hlsget play has no option --connections"),
            ("[film]\nfast", "c:2: unknown command 'film'"), ("retries", "c:1: retries needs a value"),
            ("fast = 3", "c:1: fast is a flag: write yes or no"),
            ("two words", "c:1: write name = value, or the name of a flag"),
            ("= 3", "c:1: write name = value, or the name of a flag"),
        ])
    func mistakes(text: String, error: String) {
        #expect(throws: ArgumentValueError(error)) { try Self.arguments(text) }
    }

    private static func expanded(
        _ typed: [String], files: [String: String] = [:], defaultPath: String? = "home"
    ) throws -> [String] {
        try Invocation.expanded(typed, defaultPath: defaultPath, commands: { commands }) { files[$0] }
    }

    @Test("a file's options come before typed ones, which override them")
    func order() throws {
        let files = ["home": "retries = 3", "other": "fast"]
        #expect(try Self.expanded(["u", "--rate", "1"], files: files) == ["--retries=3", "u", "--rate", "1"])
        #expect(try Self.expanded(["download", "u"], files: files) == ["download", "--retries=3", "u"])
        #expect(try Self.expanded(["play", "u", "--config", "other"], files: files) == ["play", "--fast", "u"])
        #expect(try Self.expanded(["--config=other", "u"], files: files) == ["--fast", "u"])
        #expect(try Self.expanded(["u", "--no-config"], files: files) == ["u"])
        #expect(
            try Self.expanded(["u", "--", "--no-config"], files: files) == ["--retries=3", "u", "--", "--no-config"])
        #expect(try Self.expanded(["u"]) == ["u"], "there is no file")
        let play = try #require(
            try HLSGet.parseAsRoot(["--retries=3", "http://a/b", "--retries", "1"]) as? PlayCommand)
        #expect(try play.options().retries == .count(1))
    }

    @Test("M06: an option with an optional value is joined to it, and never takes the URL for it")
    func optionalValue() throws {
        for (typed, joined) in [
            (["--live-catch-up", "http://a/b"], ["--live-catch-up=jump", "http://a/b"]),
            (["u", "--live-catch-up"], ["u", "--live-catch-up=jump"]),
            (["--live-catch-up", "1.05", "u"], ["--live-catch-up=1.05", "u"]),
            (["--live-catch-up", "jump", "u"], ["--live-catch-up=jump", "u"]),
            (["--live-catch-up=1.1", "u"], ["--live-catch-up=1.1", "u"]),
            (["--live-catch-up", "--fast", "u"], ["--live-catch-up=jump", "--fast", "u"]),
            (["--", "--live-catch-up", "1.05"], ["--", "--live-catch-up", "1.05"]),
        ] {
            #expect(try Self.expanded(typed) == joined)
            if joined[0] != "--" { #expect(RecordedOptions.kept(of: typed) == joined.filter { $0.hasPrefix("--") }) }
        }
        let commands = [CommandOptions(name: "play", takesValue: ["live-catch-up": true])]
        for (text, joined) in [("live-catch-up", "jump"), ("live-catch-up = 1.05", "1.05")] {
            let arguments = try ConfigFile(parsing: text, path: "c").arguments(for: "play", of: commands)
            #expect(arguments == ["--live-catch-up=\(joined)"])
            #expect(try PlayCommand.parse(arguments + ["u"]).options().catchesUp == (joined == "jump"))
        }
        #expect(try RecordedOptions.checked(["--live-catch-up"]) == ["--live-catch-up=jump"])
        #expect(try RecordedOptions.checked(["--live-catch-up", "1.05"]) == ["--live-catch-up=1.05"])
    }

    @Test("typed options override the same ones in the file, also by letter; headers are added")
    func instead() throws {
        let files = ["home": "retries = 3\noutput = a.ts\nheader = A: b\nfast"]
        #expect(
            try Self.expanded(["u", "--retries=1", "-o", "b.ts", "-H", "C: d", "--fast"], files: files)
                == ["--header=A: b", "u", "--retries=1", "-o", "b.ts", "-H", "C: d", "--fast"])
        #expect(
            try Self.expanded(["u", "--", "--retries"], files: ["home": "retries = 3"])
                == ["--retries=3", "u", "--", "--retries"])
    }

    @Test(
        "typed options also override their opposites in the file",
        arguments: [
            ("quiet", ["-v"]), ("verbose", ["-q"]), ("progress = bar", ["-q"]),
            ("key = k", ["--key-uri", "http://h/k"]),
            ("key-uri = http://h/k", ["--key=00000000000000000000000000000000"]), ("duration = 5", ["--to", "3"]),
            ("to = 3", ["--duration", "5"]), ("adaptive", ["--one-quality"]), ("rate = 1.5", ["--fast"]),
            ("cache = c", ["--record-trace", "t"]), ("insecure", ["--cacert", "/dev/null"]),
        ])
    func opposites(file: String, typed: [String]) throws {
        let arguments = try Invocation.expanded(
            ["https://h/a"] + typed, defaultPath: "home", commands: { CommandOptions.all(of: HLSGet.self) }
        ) { _ in file }
        #expect(arguments == ["https://h/a"] + typed)
        let play = try #require(try HLSGet.parseAsRoot(arguments) as? PlayCommand)
        #expect(throws: Never.self) { try play.options() }
        let kept = try Invocation.expanded(
            ["https://h/a", "-q"], defaultPath: "home", commands: { CommandOptions.all(of: HLSGet.self) }
        ) { _ in "progress = json" }
        #expect(kept == ["--progress=json", "https://h/a", "-q"])
    }

    @Test("every opposite is an option of some command")
    func oppositesExist() {
        let known = Set(CommandOptions.all(of: HLSGet.self).flatMap(\.takesValue.keys))
        #expect(CommandOptions.opposites.allSatisfy { $0.one.union($0.other).isSubset(of: known) })
    }

    @Test("help is available whatever a file contains")
    func help() throws {
        let files = ["home": "nonsense = 1"]
        for typed in [["--help"], ["help", "play"], ["play", "-h"], ["--version"], ["---completion", "x"], []] {
            #expect(try Self.expanded(typed, files: files) == typed)
        }
        #expect(throws: ArgumentValueError.self) { try Self.expanded(["u"], files: files) }
        #expect(throws: ArgumentValueError.self, "a file of that name") {
            try Self.expanded(["u", "-o", "help"], files: files)
        }
        #expect(throws: ArgumentValueError.self) { try Self.expanded(["u", "--config", "none"]) }
        #expect(throws: ArgumentValueError.self) { try Self.expanded(["u", "--config"]) }
        #expect(throws: ArgumentValueError.self) { try Self.expanded(["u", "--config", "home", "--no-config"]) }
    }

    @Test("binary and oversized config files are refused, and their names are escaped")
    func unreadable() throws {
        let folder = try ScratchFolder()
        let bytes = try folder.write([0x66, 0xFF, 0xFE], to: "bytes")
        let large = try folder.write([UInt8](repeating: 0x23, count: (1 << 20) + 1), to: "large")
        for path in [bytes, large, folder.path] {
            let error = #expect(throws: ArgumentValueError.self) { try Invocation.read(path) }
            #expect(error?.description.contains("\(path) cannot be read") == true)
        }
        #expect(try Invocation.read(folder.path + "/none") == nil)
        #expect(throws: ArgumentValueError("a\\x1b:1: write name = value, or the name of a flag")) {
            try ConfigFile(parsing: "=", path: "a\u{1b}")
        }
    }

    @Test("a pipe is read until its writer leaves; one without a writer is not waited for endlessly")
    func pipe() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: ArgumentValueError("\(path) cannot be read: the pipe has no writer")) {
            try Invocation.read(path, pipePatience: 0)
        }
        Thread.detachNewThread {
            guard let file = fopen(path, "w") else { return }
            fputs("fast\n", file)
            fclose(file)
        }
        #expect(try Invocation.read(path) == "fast\n")
    }

    @Test("the default config file is in the configuration folder")
    func place() {
        #expect(Invocation.defaultPath(["HOME": "/h"]) == "/h/.config/hlsget/config")
        #expect(Invocation.defaultPath(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]) == "/x/hlsget/config")
        #expect(Invocation.defaultPath(["HOME": "/h", "XDG_CONFIG_HOME": "x"]) == "/h/.config/hlsget/config")
        #expect(Invocation.defaultPath([:]) == nil)
    }

    @Test("a file may contain every option of every command")
    func everyOption() throws {
        let commands = CommandOptions.all(of: HLSGet.self)
        #expect(commands.count >= HLSGet.configuration.subcommands.count)
        let play = try #require(commands.first { $0.name == "play" })
        #expect(play.takesValue["retries"] == true && play.takesValue["fast"] == false)
        #expect(play.letters["o"] == "output" && play.letters["h"] == nil)
        #expect(CommandOptions.adding.isSubset(of: play.takesValue.keys))
        #expect(play.takesValue["help"] == nil && play.takesValue["url"] == nil)
        #expect(play.takesValue.count > 60)
    }

    @Test("the command reads options from the named file", .timeLimit(.minutes(10)))
    func command() async throws {
        let folder = try ScratchFolder()
        try folder.write(Array("fast\nto = 2\nquality = 180p\n[play]\noutput = a.ts\n".utf8), to: "options")
        let master = SampleMedia.folder + "/master.m3u8"
        let result = try await hlsget("--config", "options", master, in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.ts", "options"])
        try folder.write(Array("fast\nspeed = 2\n".utf8), to: "options")
        let wrong = try await hlsget("--config", "options", master, in: folder)
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("options:2: hlsget has no option --speed"))
    }
}
