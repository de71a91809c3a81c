/// Fixes the bash completions that Swift Argument Parser generates.
///
/// They complete the options of a command only after its name, even for the default command, and complete nothing in
/// unknown positions. The fixed script treats words without a command as arguments of `play`, and offers files in
/// unknown positions.
enum BashCompletions {
    private static let start = "    local -r prev=\"${3}\""
    private static let end = "complete -o filenames -F _hlsget hlsget"

    static func fixed(_ script: String, commands: [String]) -> String {
        CompletionScript.adding(
            """

                # The default command. Its first word may still become the name of another one.
                if [[ "${COMP_CWORD}" -gt 1 || "${COMP_WORDS[1]}" = -* ]]; then
                    case "${COMP_WORDS[1]}" in
                    \((commands + ["help"]).joined(separator: "|"))) ;;
                    *)
                        local -a COMP_WORDS=("${COMP_WORDS[0]}" play "${COMP_WORDS[@]:1}")
                        local -i COMP_CWORD="$((COMP_CWORD + 1))"
                        ;;
                    esac
                fi
            """, after: start, to: script, replacing: end,
            with: "complete -o default" + end.dropFirst("complete".count))
    }
}
