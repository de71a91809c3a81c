import ArgumentParser
import TestSupport
import Testing

@testable import hlsget

/// What is made of the help for shells and for `man`.
@Suite("completions and the manual page", .timeLimit(.minutes(1)))
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
