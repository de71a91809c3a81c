/// Fixes the fish completions that Swift Argument Parser generates.
///
/// For commands with many URLs, the generated script never ends. fish rejects option names that contain `.`
/// (`--http1.1`), and the script retries a rejected option forever.
enum FishCompletions {
    private static let function = "__hlsget_parse_subcommand "

    static func fixed(_ script: String) -> String {
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            let words = line.drop { $0 == " " }
            if words.hasPrefix(function) { return withoutDots(line) }
            if words == "argparse -s r -- $argv" { return line + "\n    set positional_count $argv[1]" }
            if words.hasPrefix("argparse -sn \"$commands\""), line.hasSuffix("2> /dev/null") {
                return line + " || break"
            }
            return String(line)
        }
        return lines.joined(separator: "\n")
    }

    /// Removes dots outside quotes.
    private static func withoutDots(_ line: Substring) -> String {
        let parts = line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
        return parts.map { index, part in
            index.isMultiple(of: 2) ? String(part) : String(part.map { $0 == "." ? "-" : $0 })
        }.joined(separator: "'")
    }
}
