import ArgumentParser
import TestSupport
import Testing

@testable import hlsget

@Suite("Completions and the manual page", .ownThread, .timeLimit(.minutes(10)))
struct HelpFilesTests {
    private static let options = ["retry-backoff", "keep-encrypted", "base-url", "storyboard", "buffer-cap"]

    @Test("Q08: each shell gets completions for the options of all commands", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let result = try await hlsget("--generate-completion-script", shell)
        #expect(result.status == 0 && result.errors.isEmpty)
        let text = String(decoding: result.output, as: UTF8.self)
        for option in Self.options { #expect(text.contains(option), "\(option)") }
        for command in HLSGet.configuration.subcommands {
            #expect(text.contains(command.configuration.commandName ?? "?"))
        }
        if shell == "fish" {
            let specifications = text.split(separator: "\n").filter { $0.contains("__hlsget_parse_subcommand ") }
            #expect(specifications.count > 10 && specifications.allSatisfy { !$0.contains(".") })
            guard Tool.exists("/usr/bin/fish") else { return }
            let folder = try ScratchFolder()
            let file = try folder.write(result.output, to: "hlsget.fish")
            let line = "source \(file); complete -C'hlsget monitor --http1.1 u --metrics-p'"
            let found = try Tool.run(["timeout", "30", "/usr/bin/fish", "-N", "-c", line])
            #expect(String(decoding: found, as: UTF8.self).hasPrefix("--metrics-port"))
        }
        guard shell == "bash", Tool.exists("/bin/bash") else { return }
        try Tool.run(["/bin/bash", "-n"], input: result.output)
    }

    @Test(
        "Q08: bash completes options without a command, values, and otherwise files",
        .enabled(if: Tool.exists("/bin/bash")),
        arguments: [
            (["--fas"], ["--fast"]), (["dow"], ["download"]), (["x.m3u8", "--on-g"], ["--on-gap"]),
            (["x.m3u8", "--on-gap", ""], ["skip", "fail", "fill"]), (["download", "--progress", "j"], ["json"]),
            (["download", "-o", "x", "-f", "mk"], ["mkv"]), (["inspect", "fil"], ["film.m3u8"]),
            (["--cacert", "fil"], ["film.m3u8"]), (["play", "fil"], ["film.m3u8"]),
            (["monitor", "--metrics-p"], ["--metrics-port"]),
        ] as [([String], [String])])
    func bash(typed: [String], offered: [String]) async throws {
        let folder = try ScratchFolder()
        let script = try folder.write(
            try await hlsget("--generate-completion-script", "bash").output, to: "hlsget.bash")
        try folder.write([], to: "film.m3u8")
        let words = (["hlsget"] + typed).map { "'\($0)'" }.joined(separator: " ")
        let program = """
            cd \(folder.path); source \(script)
            COMP_WORDS=(\(words)); COMP_CWORD=\(typed.count); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            _hlsget hlsget "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf '%s\\n' "${COMPREPLY[@]}"
            complete -p hlsget | grep -q -e '-o default' || echo 'no files'
            """
        let found = String(decoding: try Tool.run(["/bin/bash", "-c", program]), as: UTF8.self)
        #expect(found.split(separator: "\n").map(String.init) == offered)
    }

    @Test(
        "Q08: zsh completes options without a command, values, and files",
        .enabled(if: Tool.exists("/usr/bin/zsh")),
        arguments: [
            ("--fas", "--fast"), ("dow", "download"), ("x.m3u8 --on-g", "x.m3u8 --on-gap"),
            ("download --progress j", "download --progress json"), ("fil", "film.m3u8"),
            ("--cacert fil", "--cacert film.m3u8"), ("monitor --metrics-p", "monitor --metrics-port"),
        ])
    func zsh(typed: String, completed: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(try await hlsget("--generate-completion-script", "zsh").output, to: "_hlsget")
        try folder.write([], to: "film.m3u8")
        // Completion requires a terminal. Ctrl-X shows the line.
        let program = #"""
            zmodload zsh/zpty; zpty shell zsh -f -i
            zpty -w shell "cd \#(folder.path); PS1=; fpath=(\#(folder.path) \$fpath); autoload -Uz compinit; compinit -u -D"
            zpty -w shell "show() { print -r -- \"<\$BUFFER>\" }; zle -N show; bindkey '^X' show; print RE''ADY"
            zpty -r shell line '*READY*'
            zpty -n -w shell 'hlsget \#(typed)'$'\t\x18'
            zpty -r shell line '*<*>*' && print -rn -- "${line##*<}"
            """#
        let found = try Tool.run(["timeout", "60", "/usr/bin/zsh", "-f", "-c", program])
        #expect(String(decoding: found, as: UTF8.self).hasPrefix("hlsget \(completed) >"))
    }

    @Test("Q08: the manual page has every option", .enabled(if: Tool.exists("/usr/bin/python3")))
    func manualPage() throws {
        let script = SampleMedia.fixtures + "/../../scripts/make-man"
        let page = try Tool.run(["env", "HLSGET=\(Command.productFolder)/hlsget", "python3", script])
        let text = String(decoding: page, as: UTF8.self).replacing("\\-", with: "-")
        for option in Self.options { #expect(text.contains("--\(option)"), "\(option)") }
        for section in ["NAME", "SYNOPSIS", "OPTIONS"] { #expect(text.contains("\n.SH \(section)\n")) }
    }
}
