import Foundation
import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

/// Compares the pages in `docs/cli`, which `scripts/make-options` writes, with the options of the argument parser.
@Suite("Q08: Options mean the same in every command")
struct OptionTableTests {
    private static let commands = CommandOptions.all(of: HLSGet.self)
    /// Hidden options that a command has only to refuse them with a hint.
    private static let hidden: [String: Set<String>] = [
        "download": ["--skip-dateranges", "--skip-uri"], "captions": ["--skip-dateranges", "--skip-uri"],
    ]

    private static func page(_ name: String) throws -> [Substring] {
        let path = SampleMedia.fixtures + "/../../docs/cli/\(name).md"
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    }

    private static func names(in text: Substring) -> Set<String> {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        return Set(
            parts.filter { $0.offset % 2 == 1 && $0.element.hasPrefix("-") }
                .map { String($0.element.prefix { $0 != " " }) })
    }

    private static func options(of command: String) throws -> Set<String> {
        var found: Set<String> = []
        for line in try page(command) {
            if line.hasPrefix("| `-"), let end = line.firstRange(of: " | ") {
                found.formUnion(names(in: line[..<end.lowerBound]))
            } else if line.contains("](network.md)") {
                found.formUnion(try options(of: "network"))
            } else if line.contains("all options of [`hlsget play`](play.md)") {
                found.formUnion(try options(of: "play").subtracting(names(in: line)))
            }
        }
        return found
    }

    @Test(
        "the page of each command has all of its options, and no other",
        arguments: commands.map(\.name).filter { $0 != "help" })
    func complete(name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name })
        let expected = Set(command.takesValue.keys.map { "--\($0)" }).subtracting(Self.hidden[name] ?? [])
        let documented = try Self.options(of: name)
        #expect(documented.filter { $0.hasPrefix("--") } == expected, "run scripts/make-options")
        let letters = Set(command.letters.keys.map { "-\($0)" })
        #expect(letters.isSubset(of: documented), "run scripts/make-options")
    }

    @Test("an option takes a value in all commands or in none, and has one letter")
    func alike() {
        var kinds: [String: Bool] = [:]
        var letters: [String: Set<String>] = [:]
        for command in Self.commands {
            for (name, takesValue) in command.takesValue {
                #expect(kinds[name, default: takesValue] == takesValue, "\(command.name) --\(name)")
                kinds[name] = takesValue
            }
            for (letter, name) in command.letters { letters[letter, default: []].insert(name) }
        }
        for (letter, names) in letters { #expect(names.count == 1, "-\(letter): \(names.sorted())") }
    }

    @Test(
        "common options are in each command that supports them",
        arguments: [
            ("quiet", "play download list inspect lint thumbnails captions replay"),
            ("verbose", "play download list inspect lint thumbnails captions replay"),
            ("json", "play download list inspect lint thumbnails captions simulate replay"),
            ("throttle", "play download list inspect lint thumbnails captions"),
            ("header", "play download list inspect lint thumbnails captions"),
            ("user-agent", "play download list inspect lint thumbnails captions"),
            ("cookies", "play download list inspect lint thumbnails captions"),
            ("strict", "play download inspect lint captions replay"), ("access-log", "play captions replay"),
            ("from", "play download captions"), ("to", "play download captions"),
            ("duration", "play download captions"),
            ("base-url", "play download list inspect lint captions"),
            ("allow-file", "play download list lint thumbnails captions"),
        ])
    func common(option: String, names: String) {
        let have = Set(Self.commands.filter { $0.takesValue[option] != nil }.map(\.name))
        let expected = Set(names.split(separator: " ").map(String.init))
        #expect(expected.isSubset(of: have), "--\(option): \(expected.subtracting(have))")
    }
}
