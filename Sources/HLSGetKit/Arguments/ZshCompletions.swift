/// Fixes the zsh completions that Swift Argument Parser generates.
///
/// They complete the options of a command only after its name, even for the default command, and offer no files for the
/// first word. The fixed script treats words without a command as arguments of `play`.
enum ZshCompletions {
    private static let start = "    local -i ret=1"
    private static let commands = "        _describe -V subcommand subcommands && ret=0"

    static func fixed(_ script: String, commands names: [String]) -> String {
        CompletionScript.adding(
            """

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
            """, after: start, to: script, replacing: commands, with: commands + "\n        _files && ret=0")
    }
}
