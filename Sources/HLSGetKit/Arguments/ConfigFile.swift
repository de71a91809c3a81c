package import ArgumentParser
import FoundationEssentials
import Glibc
package import Synchronization

/// Options from a configuration file, with their names on the command line.
///
/// A line is `name = value`, or just the name of a flag. Lines before the first `[command]` apply to every command that
/// has the option. Later lines apply to that command only. `#` at the start of a line begins a comment.
struct ConfigFile {
    private struct Entry {
        var command: String?
        var name: String
        var value: String?
        var line: Int
    }

    private let path: String
    private var entries: [Entry] = []

    init(parsing text: String, path: String) throws(ArgumentValueError) {
        self.path = path
        var command: String?
        for (index, text) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = Self.trimmed(text)
            guard let first = line.first, first != "#" else { continue }
            if first == "[", line.last == "]" {
                command = String(Self.trimmed(line.dropFirst().dropLast()))
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            var name = Self.trimmed(parts[0])
            if name.hasPrefix("--") { name = name.dropFirst(2) }
            guard !name.isEmpty, !name.contains(where: \.isWhitespace) else {
                throw ArgumentValueError(
                    "\(TerminalText.escaped(path)):\(index + 1): write name = value, or the name of a flag")
            }
            let value = parts.count == 2 ? Self.unquoted(Self.trimmed(parts[1])) : nil
            entries.append(Entry(command: command, name: String(name), value: value, line: index + 1))
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return text
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, let first = text.first, first == text.last, first == "\"" || first == "'" else {
            return String(text)
        }
        return String(text.dropFirst().dropLast())
    }

    /// Returns the arguments for a command, each value joined to its name.
    ///
    /// - Parameter typed: The options on the command line, which override the file.
    func arguments(
        for command: String, of commands: [CommandOptions], typed: Set<String> = []
    ) throws(ArgumentValueError) -> [String] {
        var arguments: [String] = []
        for entry in entries {
            if let section = entry.command, !commands.contains(where: { $0.name == section }) {
                throw error(entry, "unknown command '\(section)'")
            }
            let among = commands.filter { entry.command == nil || $0.name == entry.command }
            guard among.contains(where: { $0.takesValue[entry.name] != nil }) else {
                let of = entry.command.map { "hlsget \($0)" } ?? "hlsget"
                throw error(entry, "\(of) has no option --\(entry.name)")
            }
            guard let takesValue = among.first(where: { $0.name == command })?.takesValue[entry.name],
                !typed.contains(entry.name) || CommandOptions.adding.contains(entry.name),
                !CommandOptions.excludes(entry.name, entry.value, typed)
            else { continue }
            if takesValue {
                guard let value = entry.value ?? CommandOptions.defaults[entry.name] else {
                    throw error(entry, "\(entry.name) needs a value")
                }
                arguments.append("--\(entry.name)=\(value)")
            } else {
                switch entry.value {
                case nil, "yes", "true": arguments.append("--\(entry.name)")
                case "no", "false": break
                default: throw error(entry, "\(entry.name) is a flag: write yes or no")
                }
            }
        }
        return arguments
    }

    private func error(_ entry: Entry, _ text: String) -> ArgumentValueError {
        ArgumentValueError("\(TerminalText.escaped(path)):\(entry.line): \(TerminalText.escaped(text))")
    }
}

package struct CommandOptions: Sendable {
    var name: String
    /// Whether each option takes a value, by long name.
    var takesValue: [String: Bool]
    /// Long names by their letters.
    var letters: [String: String] = [:]

    func takesValue(ofLetter letter: Character) -> Bool? { letters[String(letter)].flatMap { takesValue[$0] } }

    /// Options that add to the file's values when typed, instead of overriding them.
    static let adding: Set<String> = ["header", "send-credentials-to", "deny-address"]

    /// The defaults of options whose value may be omitted.
    static let defaults = ["live-catch-up": "jump"]

    static let opposites: [(one: Set<String>, other: Set<String>)] = [
        (["quiet"], ["verbose"]), (["quiet"], ["progress"]), (["adaptive"], ["one-quality"]),
        (["key"], ["key-uri"]), (["keep-encrypted"], ["key", "iv", "key-uri"]),
        (["to"], ["duration"]), (["live-from-start"], ["live-offset"]), (["from"], ["live-from-start", "live-offset"]),
        (["fast"], ["pace"]),
        (["fast"], ["immediately", "rate", "no-auto-wait", "live-catch-up"]), (["no-auto-wait"], ["live-catch-up"]),
        (["no-video"], ["no-audio", "video"]), (["no-audio"], ["audio"]), (["no-decode"], ["threads"]),
        (["insecure"], ["cacert"]), (["record-trace"], ["cache", "key", "iv", "key-uri"]),
        (["overwrite"], ["skip-existing"]), (["split"], ["loop", "skip-existing"]),
        (["subs"], ["subs-file", "service"]), (["count"], ["times", "every"]), (["times"], ["every"]),
    ]

    /// Whether a typed option overrides an opposite option of the file.
    static func excludes(_ name: String, _ value: String?, _ typed: Set<String>) -> Bool {
        // `--quiet` is only opposite to the progress bar.
        if name == "progress", value != "bar" { return false }
        return opposites.contains { pair in
            pair.one.contains(name) && !pair.other.isDisjoint(with: typed)
                || pair.other.contains(name) && !pair.one.isDisjoint(with: typed)
        }
    }

    func named(by arguments: some Sequence<String>) -> Set<String> {
        var names: Set<String> = []
        for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("-") {
            if argument.hasPrefix("--") {
                names.insert(String(argument.dropFirst(2).prefix { $0 != "=" }))
            } else if let name = letters[String(argument.dropFirst().prefix(1))] {
                names.insert(name)
            }
        }
        return names
    }

    package static func all(of command: (some ParsableCommand).Type) -> [CommandOptions] {
        guard let dump = try? JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8)) else { return [] }
        return (dump.command.subcommands ?? []).map { command in
            var options = CommandOptions(name: command.commandName, takesValue: [:])
            for argument in command.arguments ?? [] where argument.kind != "positional" {
                let names = argument.names ?? []
                let long = names.filter { $0.kind == "long" && !["help", "version"].contains($0.name) }.map(\.name)
                for name in long { options.takesValue[name] = argument.kind == "option" }
                for name in names where name.kind == "short" { options.letters[name.name] = long.first }
            }
            return options
        }
    }

    private struct Dump: Decodable {
        struct Command: Decodable {
            var commandName: String
            var subcommands: [Command]?
            var arguments: [Argument]?
        }
        struct Argument: Decodable {
            var kind: String
            var names: [Name]?
        }
        struct Name: Decodable {
            var kind: String
            var name: String
        }
        var command: Command
    }
}

package enum Invocation {
    /// Without the name of the program.
    package static let arguments = Mutex(Array(CommandLine.arguments.dropFirst()))

    /// Flags for which the file is not read.
    private static let unaffected: Set<String> = ["-h", "--help", "--version"]

    /// Inserts the file's options before the typed ones, which therefore take precedence.
    ///
    /// - Parameters:
    ///   - defaultPath: The file to read if none is named, or `nil`.
    ///   - commands: Called only if there is a file.
    ///   - read: Returns the text of a file, or `nil` if it does not exist.
    package static func expanded(
        _ typed: [String], defaultPath: String?, commands: () -> [CommandOptions],
        read: (String) throws(ArgumentValueError) -> String?
    ) throws(ArgumentValueError) -> [String] {
        var (arguments, path, isOff) = ([String](), String?.none, false)
        var rest = CatchUpArgument.joined(typed)[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                arguments.append(argument)
                arguments += rest
                break
            }
            if argument == "--no-config" {
                isOff = true
            } else if argument == "--config" {
                guard let next = rest.popFirst() else { throw ArgumentValueError("--config needs a file") }
                path = next
            } else if argument.hasPrefix("--config=") {
                path = String(argument.dropFirst(9))
            } else {
                arguments.append(argument)
            }
        }
        if path != nil, isOff { throw ArgumentValueError("--config and --no-config are mutually exclusive") }
        let isAside =
            arguments.isEmpty || arguments[0] == "help" || arguments.contains(where: unaffected.contains)
            || ["---", "--generate-completion-script", "--experimental-dump-help"].contains {
                arguments[0].hasPrefix($0)
            }
        guard !isOff, !isAside, let named = path ?? defaultPath else { return arguments }
        guard let text = try read(named) else {
            guard path != nil else { return arguments }
            throw ArgumentValueError("--config \(TerminalText.escaped(named)): there is no such file")
        }
        let file = try ConfigFile(parsing: text, path: named)
        let known = commands()
        let isNamed = known.contains { $0.name == arguments[0] }
        let command = isNamed ? arguments[0] : "play"
        let typedNames = known.first { $0.name == command }?.named(by: arguments) ?? []
        let added = try file.arguments(for: command, of: known, typed: typedNames)
        return isNamed ? [arguments[0]] + added + arguments.dropFirst() : added + arguments
    }

    /// The default path of the file, by the XDG Base Directory Specification.
    package static func defaultPath(_ environment: [String: String]) -> String? {
        // The specification says to ignore relative paths.
        if let base = environment["XDG_CONFIG_HOME"], base.hasPrefix("/") { return base + "/hlsget/config" }
        return environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.config/hlsget/config" }
    }

    private static let maximumByteCount = 1 << 20

    /// How long a pipe's writer may take before its first write and between writes, in milliseconds.
    private static let pipePatience: Int32 = 10_000
    private static let pipeStep: Int32 = 50

    /// The text of a file, or `nil` if it does not exist.
    package static func read(_ path: String) throws(ArgumentValueError) -> String? {
        try read(path, pipePatience: pipePatience)
    }

    static func read(_ path: String, pipePatience: Int32) throws(ArgumentValueError) -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        func failure(_ cause: String) -> ArgumentValueError {
            ArgumentValueError("\(TerminalText.escaped(path)) cannot be read: \(cause)")
        }
        // Open the file only once, because a pipe's writer may already have written to the first reader. Without
        // O_NONBLOCK, opening a pipe without a writer would block forever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw failure("it is a folder")
        }
        let isPipe = status.st_mode & S_IFMT == S_IFIFO
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var waited: Int32 = 0
        while bytes.count <= maximumByteCount {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
                waited = 0
                continue
            }
            if count < 0, errno == EINTR { continue }
            guard count == 0 || errno == EAGAIN else { throw failure(String(cString: strerror(errno))) }
            // Zero bytes mean the end of a file; for a pipe only after something was written.
            if count == 0, !isPipe || !bytes.isEmpty { break }
            guard waited < pipePatience else { throw failure("the pipe has no writer") }
            var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // The writer has closed the pipe without writing.
            if poll(&awaited, 1, pipeStep) > 0, awaited.revents == Int16(POLLHUP) { break }
            waited += pipeStep
        }
        guard bytes.count <= maximumByteCount, let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("not a text of at most 1 MiB")
        }
        return text
    }
}
