import ArgumentParser
import CMalloc
import FoundationEssentials
import Glibc
import HLSGetKit
import HLSGetMonitor
import HLSGetReport
import Synchronization

@main
struct HLSGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hlsget", abstract: "Play, check and record HTTP Live Streaming.",
        version: CommandInfo.version,
        subcommands: [
            PlayCommand.self, WatchCommand.self, ListenCommand.self, DownloadCommand.self, ListCommand.self,
            InspectCommand.self,
            LintCommand.self, ThumbnailsCommand.self, CaptionsCommand.self, MonitorCommand.self, SimulateCommand.self,
            ReplayCommand.self, ReportCommand.self,
        ],
        defaultSubcommand: PlayCommand.self)
    static let _errorLabel = CommandInfo.errorLabel

    static func main() async {
        // One thread allocates media in pieces of a few hundred kilobytes, and another releases it. Two heaps are
        // enough. A fixed threshold does not grow with the amount of media (mallopt(3)). Free memory at a heap's end is
        // kept, so that the next pieces need not be mapped again.
        _ = CMalloc_set_mmap_threshold(1 << 20)
        _ = CMalloc_set_trim_threshold(2 << 20)
        _ = CMalloc_set_arena_max(2)
        let arguments = arguments()
        if HelpPage.isAskedFor(by: arguments) {
            StandardStream.output.writeLine(HelpPage.text(commands: configuration.subcommands))
        } else if arguments.isEmpty {
            StandardStream.error.writeLine("hlsget: error: no stream: give a URL or a file (see hlsget --help)")
            end(ExitStatus.usage.exitCode)
        } else if let message = CommandSuggestion.message(for: arguments, commands: commandNames) {
            StandardStream.error.writeLine("hlsget: error: \(message)")
            end(ExitStatus.usage.exitCode)
        } else {
            do {
                var command: any ParsableCommand = try parsed(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch {
                let status = exitCode(for: error)
                let name = commandName(arguments)
                let usage = configuration.subcommands.first { $0.configuration.commandName == name }?.configuration
                    .usage
                let full = Suggestion.withUsage(fullMessage(for: error), of: name, usage)
                let text = Suggestion.improved(full, command: name, arguments: arguments) {
                    CommandOptions.all(of: Self.self)
                }
                let message = SecretArgument.hidden(in: text, arguments)
                if !message.isEmpty {
                    if status.isSuccess {
                        StandardStream.output.writeLine(
                            CompletionScript.fixed(message, for: arguments, commands: commandNames))
                    } else {
                        StandardStream.error.writeLine(message)
                    }
                }
                end(status)
            }
        }
        end(.success)
    }

    /// Parses the arguments. Options that undo others are resolved only if parsing fails without that.
    private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        do {
            return try parseAsRoot(arguments)
        } catch {
            guard !exitCode(for: error).isSuccess,
                let resolved = OptionForms.resolved(arguments, CommandOptions.all(of: Self.self))
            else { throw error }
            Invocation.arguments.withLock { $0 = resolved }
            return try parseAsRoot(resolved)
        }
    }

    private static var commandNames: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }

    private static func commandName(_ arguments: [String]) -> String {
        arguments.first.flatMap { commandNames.contains($0) ? $0 : nil } ?? "play"
    }

    private static func arguments() -> [String] {
        do {
            let path = Invocation.defaultPath(ProcessInfo.processInfo.environment)
            let arguments = try Invocation.expanded(
                CommandOrder.restored(Array(CommandLine.arguments.dropFirst()), commands: commandNames) {
                    CommandOptions.all(of: Self.self)
                },
                defaultPath: path,
                commands: { CommandOptions.all(of: Self.self) },
                read: Invocation.read)
            Invocation.arguments.withLock { $0 = arguments }
            return arguments
        } catch {
            StandardStream.error.writeLine("hlsget: error: \(error.description)")
            end(ExitStatus.usage.exitCode)
        }
    }

    /// Ends the process without the exit handlers of its libraries. OpenSSL's handler would free data that threads
    /// closing a connection may still use.
    private static func end(_ status: ExitCode) -> Never {
        fflush(nil)
        if let reason = StandardStream.outputFailure {
            StandardStream.error.writeLine("hlsget: error: cannot write: - (\(reason))")
            if status.isSuccess { _exit(ExitStatus.output.exitCode.rawValue) }
        }
        _exit(status.rawValue)
    }
}
