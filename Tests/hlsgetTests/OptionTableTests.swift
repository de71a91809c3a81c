import Foundation
import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

/// `docs/options.md`, which `scripts/make-options` writes, against what the argument parser knows.
@Suite("Q08: Options mean the same in every command")
struct OptionTableTests {
    private static let commands = CommandOptions.all(of: HLSGet.self)

    /// By the long name of each option, the commands in whose columns the page has a mark, and its letters.
    private static func page() throws -> [String: (commands: Set<String>, names: Set<String>)] {
        let path = SampleMedia.fixtures + "/../../docs/options.md"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        var head: [String] = []
        var rows: [String: (commands: Set<String>, names: Set<String>)] = [:]
        for line in lines where line.hasPrefix("|") {
            let cells = line.replacing("\\|", with: "/").split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.contains("play") { head = cells }
            guard !head.isEmpty, cells.count == head.count, cells[1].hasPrefix("`") else { continue }
            let names = cells[1].split(separator: "`").filter { $0.hasPrefix("-") }.map(String.init)
            guard let long = names.first(where: { $0.hasPrefix("--") }) ?? names.first else { continue }
            let marked = zip(head, cells).filter { $0.1 == "x" }.map(\.0)
            rows[long] = (Set(marked), Set(names))
        }
        return rows
    }

    @Test("the page has exactly the options of all commands")
    func complete() throws {
        let page = try Self.page()
        var expected: [String: Set<String>] = [:]
        for command in Self.commands {
            for name in command.takesValue.keys { expected["--\(name)", default: []].insert(command.name) }
        }
        for (name, commands) in expected {
            // A name may be that of an option in one command, and another name for a second one elsewhere.
            let rows = page.filter { $0.key == name || $0.value.names.contains(name) }.values
            let marked = rows.reduce(into: Set<String>()) { $0.formUnion($1.commands) }
            #expect(marked == commands, "\(name): run scripts/make-options")
        }
        for (name, _) in page where name.hasPrefix("--") {
            #expect(expected[name] != nil, "\(name): run scripts/make-options")
        }
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
