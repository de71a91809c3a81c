import ArgumentParser
import HLSGetKit
import HLSGetWatch
import HLSKitCore

struct WatchCommand: PlayingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch a stream: a window with video, audio and captions.",
        usage: "hlsget watch URL|FILE ... [options]",
        discussion: """
            Same as hlsget play --window, with all options of play. With --preview, video appears in the terminal instead. \
            Needs SDL 2 (Debian: \(SDLLibrary.packageName)).

            \(WindowCommand.help). Click the bar to seek; turn the wheel to change the volume.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URLs or paths of playlists or media files, played in order.", valueName: "url"),
        completion: .file())
    var urls: [String]

    @OptionGroup var groups: PlayOptionGroups

    func options() throws -> PlayOptions {
        var groups = groups
        if !groups.video.preview { groups.video.window = true }
        return try groups.options(for: urls.first ?? "", then: urls.dropFirst())
    }
}

struct ListenCommand: PlayingCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Listen to a stream, without a window.",
        usage: "hlsget listen URL|FILE ... [options]",
        discussion: """
            Same as hlsget play --listen --no-video, with all options of play. --preview adds video in the terminal. Titles \
            that radio stations send are printed. Needs SDL 2 (Debian: \(SDLLibrary.packageName)) and a sound device.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URLs or paths of playlists or media files, played in order.", valueName: "url"),
        completion: .file())
    var urls: [String]

    @OptionGroup var groups: PlayOptionGroups

    func options() throws -> PlayOptions {
        var groups = groups
        groups.video.listen = true
        if !groups.video.preview { groups.output.noVideo = true }
        return try groups.options(for: urls.first ?? "", then: urls.dropFirst())
    }
}

protocol PlayingCommand: AsyncParsableCommand {
    var groups: PlayOptionGroups { get }

    func options() throws -> PlayOptions
}

extension PlayingCommand {
    mutating func validate() throws {
        do {
            _ = try options()
        } catch let error as ArgumentValueError {
            throw ValidationError(error.description)
        }
    }

    mutating func run() async throws { try await groups.run(options()) }
}

struct VideoOptions: ParsableArguments {
    @Flag(help: "Show video in a window, with audio (SDL 2).") var window = false
    @Flag(help: "Play audio without a window (SDL 2).") var listen = false
    @Flag(help: "Fill the screen.") var fullscreen = false
    @Option(
        help: ArgumentHelp("Volume at the start, from 0 to 100 (the default).", valueName: "n"),
        transform: NumberArgument.percent)
    var volume: Int?
    @Flag(help: "Start muted.") var mute = false
    @Flag(help: "Keep the last frame at the end, until you quit.") var keepOpen = false
    @Option(
        help: ArgumentHelp("Folder of the images that the key S saves (the current folder).", valueName: "folder"),
        completion: .directory)
    var screenshotDir: String?
    @Flag(help: "Show video in the terminal.") var preview = false
    @Option(
        help: ArgumentHelp(
            "Format of --preview: kitty, sixel or blocks (the best one that the terminal supports).", valueName: "name"),
        completion: .list(PreviewFormat.allCases.map(\.rawValue)),
        transform: { try ChoiceArgument.parse($0) })
    var previewFormat: PreviewFormat?
    @Option(
        help: ArgumentHelp(
            "Deinterlace displayed video (auto, the default), or show it unchanged (off).",
            valueName: "auto|off"),
        completion: .list(["auto", "off"]),
        transform: { try ChoiceArgument.parse($0) })
    var deinterlace: PlayOptions.Deinterlacing?
    @Option(
        help: ArgumentHelp(
            "Log when each frame was displayed and when audio was played, as JSON lines.", valueName: "file"),
        completion: .file())
    var presentationLog: String?

    func apply(to options: inout PlayOptions) {
        options.opensWindow = window
        options.isHeard = listen
        options.deinterlaces = deinterlace != .off
        options.isFullscreen = fullscreen
        options.volume = volume
        options.isMuted = mute
        options.keepsOpen = keepOpen
        options.screenshotFolder = screenshotDir
        options.showsPreview = preview
        options.previewFormat = previewFormat
        options.presentationLogPath = presentationLog
    }
}
