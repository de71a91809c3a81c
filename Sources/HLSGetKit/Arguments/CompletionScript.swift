/// The completion scripts that Swift Argument Parser generates, with fixes.
package enum CompletionScript {
    private static let option = "--generate-completion-script"

    /// - Parameters:
    ///   - text: The output for `arguments`, which is returned unchanged if they ask for no script.
    ///   - commands: The names of all subcommands. The default command is `play`.
    package static func fixed(_ text: String, for arguments: [String], commands: [String]) -> String {
        let separate = zip(arguments, arguments.dropFirst()).first { $0.0 == option }?.1
        let joined = arguments.first { $0.hasPrefix("\(option)=") }?.dropFirst(option.count + 1)
        switch separate ?? joined.map(String.init) {
        case "bash": return BashCompletions.fixed(text, commands: commands)
        case "zsh": return ZshCompletions.fixed(text, commands: commands)
        case "fish": return FishCompletions.fixed(text)
        default: return text
        }
    }

    /// Returns a script with code after the first line that is `start`, and with another line replaced.
    static func adding(
        _ code: String, after start: String, to script: String, replacing old: String, with new: String
    ) -> String {
        var isAdded = false
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            if line == old { return new }
            guard !isAdded, line == start else { return String(line) }
            isAdded = true
            return "\(line)\n\(code)"
        }
        return lines.joined(separator: "\n")
    }
}
