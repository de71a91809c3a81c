package import ArgumentParser
import FoundationEssentials
import Glibc
package import Synchronization

/// Options that are kept in a file, by the names that they have on the command line.
///
/// A line is `name = value`, or the name of a flag alone. Lines before the first `[command]` count for each command that
/// has such an option; those behind it for that command alone. `#` begins a comment at the start of a line.
///
/// Source: docs/guide/configuration.md.
struct ConfigFile {
    private struct Entry {
        var command: String?
        var name: String
        var value: String?
        var line: Int
    }

    private let path: String
    private var entries: [Entry] = []

    /// - Parameter path: for what is said of it.
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

    /// What a command is given, each value joined to its name.
    ///
    /// - Parameter typed: the options that were typed, which take the place of the file's.
    func arguments(
        for command: String, of commands: [CommandOptions], typed: Set<String> = []
    ) throws(ArgumentValueError) -> [String] {
        var arguments: [String] = []
        for entry in entries {
            if let section = entry.command, !commands.contains(where: { $0.name == section }) {
                throw error(entry, "there is no command '\(section)'")
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

/// The options of a command that a file may hold.
package struct CommandOptions: Sendable {
    var name: String
    /// By the long name.
    var takesValue: [String: Bool]
    /// Long names by their letters.
    var letters: [String: String] = [:]

    /// A typed one of these is one more, and none in the place of the file's.
    static let adding: Set<String> = ["header", "send-credentials-to", "deny-address"]

    /// What options are by themselves whose value may be left out.
    static let defaults = ["live-catch-up": "jump"]

    /// Options that the command refuses to have beside each other.
    static let opposites: [(one: Set<String>, other: Set<String>)] = [
        (["quiet"], ["verbose"]), (["quiet"], ["progress"]), (["adaptive"], ["one-quality"]),
        (["key"], ["key-uri"]), (["keep-encrypted"], ["key", "iv", "key-uri"]),
        (["to"], ["duration"]), (["live-from-start"], ["live-offset"]), (["from"], ["live-from-start", "live-offset"]),
        (["fast"], ["pace"]),
        (["fast"], ["immediately", "rate", "no-auto-wait", "live-catch-up"]), (["no-auto-wait"], ["live-catch-up"]),
        (["no-video"], ["no-audio"]), (["no-audio"], ["audio"]), (["no-decode"], ["threads"]),
        (["insecure"], ["cacert"]), (["record-trace"], ["cache", "key", "iv", "key-uri"]),
        (["overwrite"], ["skip-existing"]), (["split"], ["loop"]),
        (["subs"], ["subs-file", "service"]), (["count"], ["times", "every"]), (["times"], ["every"]),
    ]

    /// Whether an option of a file gives way to its opposite, which was typed.
    static func excludes(_ name: String, _ value: String?, _ typed: Set<String>) -> Bool {
        // Of the kinds of progress only the line is the opposite of silence.
        if name == "progress", value != "bar" { return false }
        return opposites.contains { pair in
            pair.one.contains(name) && !pair.other.isDisjoint(with: typed)
                || pair.other.contains(name) && !pair.one.isDisjoint(with: typed)
        }
    }

    /// The long names of what is typed.
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

    /// Those of all commands, as the argument parser knows them.
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

/// What the command was called with, what a file adds included.
package enum Invocation {
    /// Without the name of the program.
    package static let arguments = Mutex(Array(CommandLine.arguments.dropFirst()))

    /// Asks for what has nothing to do with a file's options.
    private static let unaffected: Set<String> = ["-h", "--help", "--version"]

    /// Puts what a file holds before what was typed, which so counts more.
    ///
    /// - Parameters:
    ///   - defaultPath: of the file that is read where none is named, if there is one.
    ///   - commands: asked only where there is a file.
    ///   - read: the text of a file; nil where there is none.
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

    /// Where the file is by default: as the XDG Base Directory Specification says.
    package static func defaultPath(_ environment: [String: String]) -> String? {
        // Relative ones are to be ignored.
        if let base = environment["XDG_CONFIG_HOME"], base.hasPrefix("/") { return base + "/hlsget/config" }
        return environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.config/hlsget/config" }
    }

    /// The longest file that is read.
    private static let maximumByteCount = 1 << 20

    /// Who writes to a pipe has so long to begin, and between two writes, in milliseconds.
    private static let pipePatience: Int32 = 10_000
    private static let pipeStep: Int32 = 50

    /// The text of a file; nil where there is none.
    package static func read(_ path: String) throws(ArgumentValueError) -> String? {
        try read(path, pipePatience: pipePatience)
    }

    /// As above.
    static func read(_ path: String, pipePatience: Int32) throws(ArgumentValueError) -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        func failure(_ cause: String) -> ArgumentValueError {
            ArgumentValueError("\(TerminalText.escaped(path)) cannot be read: \(cause)")
        }
        // Once only: the writer of a pipe that is closed again may have written already. Opening one that nobody writes
        // to would wait without end.
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
            // At the end of a file; of a pipe only where somebody has written.
            if count == 0, !isPipe || !bytes.isEmpty { break }
            guard waited < pipePatience else { throw failure("nobody writes to the pipe") }
            var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // A writer that has left without a word.
            if poll(&awaited, 1, pipeStep) > 0, awaited.revents == Int16(POLLHUP) { break }
            waited += pipeStep
        }
        guard bytes.count <= maximumByteCount, let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("not a text of at most 1 MiB")
        }
        return text
    }
}
