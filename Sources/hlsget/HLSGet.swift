import ArgumentParser
import CMalloc
import FoundationEssentials
import Glibc
import Synchronization

@main
struct HLSGet: AsyncParsableCommand {
    /// The version of the command and of the library, in one place.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "hlsget", abstract: "Play, check and record HTTP Live Streaming.", version: version,
        subcommands: [
            PlayCommand.self, WatchCommand.self, DownloadCommand.self, InspectCommand.self, LintCommand.self,
            ThumbnailsCommand.self,
            CaptionsCommand.self, SimulateCommand.self, ReplayCommand.self,
        ],
        defaultSubcommand: PlayCommand.self)
    static let _errorLabel = "hlsget: error"

    static func main() async {
        // Media comes in pieces of a few hundred kilobytes on one thread and is released on another: two heaps serve
        // all, and their threshold does not grow with what passes through (mallopt(3)). What is free at their end is
        // kept for the next pieces, or each of them would have to be mapped again.
        _ = CMalloc_set_mmap_threshold(1 << 20)
        _ = CMalloc_set_trim_threshold(2 << 20)
        _ = CMalloc_set_arena_max(2)
        let arguments = arguments()
        if HelpPage.isAskedFor(by: arguments) {
            print(HelpPage.text(commands: configuration.subcommands))
        } else if arguments.isEmpty {
            StandardStream.error.writeLine("hlsget: error: no stream: give a URL or a file (see hlsget --help)")
            end(ExitStatus.usage.exitCode)
        } else {
            do {
                var command = try parseAsRoot(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch {
                let status = exitCode(for: error)
                let message = SecretArgument.hidden(in: Suggestion.filtered(fullMessage(for: error)), arguments)
                if !message.isEmpty {
                    if status.isSuccess { print(message) } else { StandardStream.error.writeLine(message) }
                }
                end(status)
            }
        }
        end(.success)
    }

    /// What the command is called with, and what a file adds to that.
    private static func arguments() -> [String] {
        do {
            let path = Invocation.defaultPath(ProcessInfo.processInfo.environment)
            let arguments = try Invocation.expanded(
                Array(CommandLine.arguments.dropFirst()), defaultPath: path,
                commands: { CommandOptions.all(of: Self.self) },
                read: Invocation.read)
            Invocation.arguments.withLock { $0 = arguments }
            return arguments
        } catch {
            StandardStream.error.writeLine("hlsget: error: \(error.description)")
            end(ExitStatus.usage.exitCode)
        }
    }

    /// Ends the process without the cleaning up of its libraries: that of OpenSSL takes from threads that may still be
    /// closing a connection what they work with.
    private static func end(_ status: ExitCode) -> Never {
        fflush(nil)
        _exit(status.rawValue)
    }
}
