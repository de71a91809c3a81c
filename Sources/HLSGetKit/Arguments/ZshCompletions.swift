/// Fixes the zsh completions that Swift Argument Parser generates.
///
/// They complete the options of a command only after its name, even for the default command, and offer no files for the
/// first word. The fixed script treats words without a command as arguments of `play`.
enum ZshCompletions {
    private static let start = "    local -i ret=1"
    private static let commands = "        _describe -V subcommand subcommands && ret=0"

    static func fixed(_ script: String, commands names: [String]) -> String {
        var isFixed = false
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            if line == commands { return "\(line)\n        _files && ret=0" }
            guard !isFixed, line == start else { return String(line) }
            isFixed = true
            return """
                \(line)

                    # The default command. Its first word may still become the name of another one.
                    if [[ "${CURRENT}" -gt 2 || "${words[2]}" = -* ]]; then
                        case "${words[2]}" in
                        \((names + ["help"]).joined(separator: "|"))) ;;
                        *)
                            _hlsget_play
                            return
                            ;;
                        esac
                    fi
                """
        }
        return lines.joined(separator: "\n")
    }
}
