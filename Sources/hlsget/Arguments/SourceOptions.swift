import ArgumentParser
import HLSGetKit

/// The options of commands that read playlists from standard input and local files.
struct SourceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("URL that the URIs of a playlist on standard input are relative to.", valueName: "url"))
    var baseURL: String?
    @Flag(help: "Let a local playlist name files outside its folder.") var allowFile = false

    /// - Parameter inputs: The URLs and paths that the command reads.
    func check(_ inputs: [String]) throws {
        guard baseURL == nil || inputs.contains(InputLocation.standardInput) else {
            throw ValidationError("--base-url is for a playlist on standard input; write - as the URL")
        }
    }
}
