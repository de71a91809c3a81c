import ArgumentParser
import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Revoked options and unknown ones")
struct OptionFormsTests {
    private static let commands = [
        CommandOptions(
            name: "play",
            takesValue: ["fast": false, "throttle": true, "no-video": false, "audio": true, "from": true],
            letters: ["t": "throttle"]),
        CommandOptions(name: "download", takesValue: ["connections": true, "overwrite": false]),
    ]

    @Test(
        "--no-X revokes X and its value, and --X revokes --no-X",
        arguments: [
            (["--fast", "u", "--no-fast"], ["u"]), (["--throttle=1M", "u", "--no-throttle"], ["u"]),
            (["--throttle", "1M", "-t", "2M", "-t3M", "u", "--no-throttle"], ["u"]),
            (["u", "--no-video", "--video"], ["u"]), (["--no-fast", "u", "--fast"], ["u", "--fast"]),
            (["download", "--overwrite", "u", "--no-overwrite"], ["download", "u"]),
            (["--no-fast", "u", "--", "--no-fast"], ["u", "--", "--no-fast"]),
            (["--throttle", "--no-fast", "--no-fast", "u"], ["--throttle", "--no-fast", "u"]),
        ])
    func takenBack(typed: [String], left: [String]) {
        #expect(OptionForms.resolved(typed, Self.commands) == left)
    }

    @Test(
        "other arguments are unchanged",
        arguments: [
            ["u"], ["--no-video", "u"], ["--no-such", "u"], ["--audio", "--no-fast", "u"], ["--", "--no-fast"],
        ])
    func none(typed: [String]) {
        #expect(OptionForms.resolved(typed, Self.commands) == nil)
    }

    @Test(
        "an unknown option gets a suggestion, or the command that has it",
        arguments: [
            ("--start", ". Did you mean '--from'?"), ("--frmo", ". Did you mean '--from'?"),
            ("--connections", ", an option of hlsget download and not of hlsget play."), ("--zzz", ""),
        ])
    func unknown(option: String, hint: String) {
        let message = "hlsget: error: Unknown option '\(option)'\nUsage: x"
        let improved = Suggestion.improved(message, command: "play") { Self.commands }
        #expect(improved == "hlsget: error: Unknown option '\(option)'\(hint)\nUsage: x")
    }

    @Test("a unique prefix is suggested as its option")
    func shortened() {
        let commands = CommandOptions.all(of: HLSGet.self)
        for (typed, hint) in [("dur", ". Did you mean '--duration'?"), ("no-v", ". Did you mean '--no-video'?")] {
            let text = Suggestion.improved("x: Unknown option '--\(typed)'", command: "play") { commands }
            #expect(text == "x: Unknown option '--\(typed)'\(hint)")
        }
    }

    @Test(
        "with one argument too many, the error names the one taken for the stream",
        arguments: [
            (["--json", "x", "URL"], ": 'x' was taken for the stream, because it is not a value of --json"),
            (["play", "-k", "x", "URL"], ": 'x' was taken for the stream, because it is not a value of -k"),
            (
                ["--live-catch-up", "abc", "URL"],
                ": 'abc' was taken for the stream, because it is not a value of --live-catch-up"
            ),
            (["--live-catch-up", "1.1", "--to", "5", "one", "URL"], ": 'one' was taken for the stream"),
            (["-", "URL"], ": '-' was taken for the stream"),
            (["--quality=720", "one", "URL"], ": 'one' was taken for the stream"),
            (["URL"], ""),
        ])
    func tooMany(arguments: [String], reason: String) {
        let commands = CommandOptions.all(of: HLSGet.self)
        let text = Suggestion.improved(
            "hlsget: error: Unexpected argument 'URL'\nUsage: x", command: "play", arguments: arguments
        ) { commands }
        #expect(text == "hlsget: error: Unexpected argument 'URL'\(reason)\nUsage: x")
    }

    @Test(
        "an unknown option is named before a missing stream",
        arguments: [
            (["-V"], "Unknown option '-V'. Did you mean '--version'?"),
            (["--helpp"], "Unknown option '--helpp'. Did you mean '--help'?"),
            (["list", "--zzz=1"], "Unknown option '--zzz'"),
            (["-o", "-V"], "Missing expected argument '<url>'\nHelp:  <url>  x"),
            (["--fast", "-v"], "Missing expected argument '<url>'\nHelp:  <url>  x"),
        ])
    func missingStream(arguments: [String], reason: String) {
        let commands = CommandOptions.all(of: HLSGet.self)
        let text = Suggestion.improved(
            "hlsget: error: Missing expected argument '<url>'\nHelp:  <url>  x\nUsage: y",
            command: arguments[0] == "list" ? "list" : "play", arguments: arguments
        ) { commands }
        #expect(text == "hlsget: error: \(reason)\nUsage: y")
    }

    @Test("help of an unknown command is an error")
    func unknownHelp() async throws {
        let names = HLSGet.configuration.subcommands.compactMap { $0.configuration.commandName }
        let text = CommandSuggestion.message(for: ["help", "nosuch"], commands: names)
        #expect(text == "there is no command 'nosuch'; hlsget --help lists them")
        let near = CommandSuggestion.message(for: ["help", "downlod"], commands: names)
        #expect(near == "there is no command 'downlod'; did you mean hlsget help download?")
        for known in [["help", "list"], ["help"], ["help", "-h"]] {
            #expect(CommandSuggestion.message(for: known, commands: names) == nil)
        }
        #expect(try await hlsget("help", "nosuch").status == 64)
    }

    @Test("an error after parsing shows the usage of its command")
    func usage() async throws {
        let result = try await hlsget("monitor", "/none/list")
        #expect(result.status == 64)
        #expect(result.errors.contains("\nUsage: hlsget monitor LIST|URL ... [options]\n"), "\(result.errors)")
        #expect(result.errors.contains("See 'hlsget monitor --help'"))
    }

    @Test("other programs' option names get the matching suggestion")
    func synonyms() {
        let commands = CommandOptions.all(of: HLSGet.self)
        for (name, option) in ["ss": "from", "headers": "header", "sub-lang": "subs", "force": "overwrite"] {
            let text = Suggestion.improved("x: Unknown option '--\(name)'", command: "play") { commands }
            #expect(text.hasSuffix("Did you mean '--\(option)'?"), "\(text)")
        }
    }

    @Test(
        "an argument that is neither a command nor a file is reported with a suggestion",
        arguments: [
            ("downlod", "download"), ("info", "inspect"), ("thumbs", "thumbnails"), ("Info", "inspect"),
            ("formats", "list"), ("replai", "replay"),
        ])
    func commands(word: String, meant: String) {
        let names = HLSGet.configuration.subcommands.compactMap { $0.configuration.commandName }
        let message = CommandSuggestion.message(for: [word, "u"], commands: names)
        #expect(message == "there is no command or file '\(word)'; did you mean hlsget \(meant)?")
    }

    @Test(
        "arguments that may be streams are not treated as misspelled commands",
        arguments: [["film"], ["play", "u"], ["http://h/x"], ["--fast", "u"], ["a.m3u8"], [], ["x"], ["dev/null"]])
    func streams(arguments: [String]) {
        #expect(CommandSuggestion.message(for: arguments, commands: ["play", "download", "list"]) == nil)
    }

    @Test(
        "qualities may be written in common forms",
        arguments: [
            ("720", "720p"), ("BEST", "best"), ("1080P60,Worst", "1080p60,worst"), ("height <= 720", "height<=720"),
            ("height<= 720  codec = hevc", "height<=720  codec=hevc"), ("720p", "720p"),
        ])
    func qualities(text: String, expression: String) throws {
        #expect(QualityArgument.expression(text, for: .variants) == expression)
        #expect(try QualityExpression(argument: text, for: .variants).text == expression)
    }

    @Test(
        "a language code alone is a preference",
        arguments: [
            ("de", "lang=de"), ("en-GB", "lang=en-GB"), ("de,en channels=2", "lang=de,lang=en channels=2"),
            ("best", "best"),
        ])
    func languages(text: String, expression: String) throws {
        #expect(try QualityExpression(argument: text, for: .renditions).text == expression)
    }

    @Test("common option letters exist")
    func letters() throws {
        let play = try #require(
            try HLSGet.parseAsRoot(["-k", "-y", "-A", "me", "-e", "http://p/", "-o", "a.ts", "u"]) as? PlayCommand)
        let options = try play.options()
        #expect(!options.verifiesCertificates && options.overwritesFiles)
        #expect(options.fields.map(\.name) == ["User-Agent", "Referer"])
        #expect(options.fields.map(\.value) == ["me", "http://p/"])
        #expect(try (HLSGet.parseAsRoot(["-F", "u"]) as? PlayCommand)?.list == true)
    }
}
