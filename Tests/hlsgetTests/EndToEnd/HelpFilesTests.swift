import ArgumentParser
import TestSupport
import Testing

@testable import hlsget

/// What is made of the help for shells and for `man`.
@Suite("completions and the manual page", .timeLimit(.minutes(10)))
struct HelpFilesTests {
    /// One of each command.
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

    @Test("Q08: the manual page has every option", .enabled(if: Tool.exists("/usr/bin/python3")))
    func manualPage() throws {
        let script = SampleMedia.fixtures + "/../../scripts/make-man"
        let page = try Tool.run(["env", "HLSGET=\(Command.productFolder)/hlsget", "python3", script])
        let text = String(decoding: page, as: UTF8.self).replacing("\\-", with: "-")
        for option in Self.options { #expect(text.contains("--\(option)"), "\(option)") }
        for section in ["NAME", "SYNOPSIS", "OPTIONS"] { #expect(text.contains("\n.SH \(section)\n")) }
    }
}
