import ArgumentParser
import HLSGetKit
import HLSKitCore

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show the contents of a playlist or media file.",
        usage: "hlsget inspect URL|FILE|- [options]")
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a playlist or media file, or - for standard input.", valueName: "url"),
        completion: .file())
    var input: String
    @Flag(help: "Print one JSON object instead of a table.") var json = false
    @Flag(help: "List all segments, not only the first and last 50.") var all = false
    @Option(help: ArgumentHelp("URL that the playlist's URIs are relative to.", valueName: "url"))
    var baseURL: String?
    @Flag(help: "Reject a playlist that breaks a rule instead of reading it leniently.") var strict = false
    @OptionGroup var saying: VerbosityOptions
    @OptionGroup(title: "Network") var connection: ConnectionOptions

    mutating func validate() throws {
        try connection.check()
        if all && json { throw ValidationError("--all has no effect with --json, which has all segments; remove it") }
    }

    mutating func run() async throws {
        var source = PlaylistInput(name: input, baseURL: baseURL, connection: connection)
        source.saying = saying
        let status = await Self.inspect(source, json: json, all: all, mode: strict ? .strict : .lenient)
        if status != .done { throw status.exitCode }
    }

    static func inspect(
        _ input: PlaylistInput, json: Bool, all: Bool, mode: PlaylistParser.Mode
    ) async -> ExitStatus {
        var options = PlaylistParser.Options(mode: mode)
        // A media playlist on its own has no multivariant playlist to import variables from.
        options.importedVariables = nil
        do {
            let playlist = try await input.read(options)
            let steering = await input.steering(of: playlist)
            let tracks = await input.tracks(of: playlist)
            let encryption = await input.encryption(of: playlist)
            if json {
                StandardStream.output.writeLine(
                    PlaylistJSON.document(playlist, steering, encryption, tracks: tracks).text)
            } else {
                StandardStream.output.write(
                    PlaylistTable.text(
                        playlist, steering, encryption, tracks: tracks,
                        limit: all ? .max : PlaylistTable.maximumRowCount, errorsOnly: input.saying.quiet))
            }
            return .done
        } catch {
            var error = error
            do {
                if error.isOfOtherKind, let report = try await mediaFile(input) {
                    if json {
                        StandardStream.output.writeLine(report.document.text)
                    } else {
                        StandardStream.output.write(report.text)
                    }
                    return .done
                }
            } catch let failure as HLSError where failure.code == .badMedia {
                error = PlaylistInput.Failure(failure)
            } catch {}
            if json { StandardStream.output.writeLine(PlaylistJSON.document(error, name: input.name).text) }
            StandardStream.error.writeLine(error.text(for: input.name))
            return error.status
        }
    }

    /// The description of a media file, or `nil` if the input is something else.
    private static func mediaFile(_ input: PlaylistInput) async throws -> MediaFileReport? {
        guard let url = (try? input.url()) ?? nil else { return nil }
        let options = try input.connection.assetOptions(of: url, allowsFilesOutside: true) { input.saying.wrap($0) }
        return try await MediaFileReport.load(url, options)
    }
}
