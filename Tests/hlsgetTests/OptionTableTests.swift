import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Q08: Options mean the same in every command")
struct OptionTableTests {
    private static let commands = CommandOptions.all(of: HLSGet.self)

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
