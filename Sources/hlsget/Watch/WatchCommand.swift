import ArgumentParser
import HLSGetKit
import HLSGetWatch
import HLSKitCore

/// `hlsget watch URL`: `play` in a window, with audio.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch a stream: a window with video, audio and captions.",
        usage: "hlsget watch URL|FILE [options]",
        discussion: """
            The same as hlsget play --window, with all options of play. With --preview it is shown in the terminal \
            instead. Needs SDL 2 (Debian: \(SDLLibrary.packageName)).

            \(WindowCommand.help); the bar seeks by the mouse, the wheel changes the volume.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a playlist or of a media file.", valueName: "url"), completion: .file())
    var url: String

    @OptionGroup var groups: PlayOptionGroups

    mutating func validate() throws {
        do {
            _ = try options()
        } catch let error as ArgumentValueError {
            throw ValidationError(error.description)
        }
    }

    mutating func run() async throws { try await groups.run(options()) }

    func options() throws -> PlayOptions {
        var groups = groups
        if !groups.picture.preview { groups.picture.window = true }
        return try groups.options(for: url)
    }
}

/// `hlsget listen URL`: `play` with audio, without a window.
struct ListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Listen to a stream: its sound, without a window.",
        usage: "hlsget listen URL|FILE [options]",
        discussion: """
            The same as hlsget play --listen --no-video, with all options of play; with --preview there is video in the \
            terminal. Titles that a radio sends are printed. Needs SDL 2 (Debian: \(SDLLibrary.packageName)) and a sound device.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a playlist or of a media file.", valueName: "url"), completion: .file())
    var url: String

    @OptionGroup var groups: PlayOptionGroups

    mutating func validate() throws {
        do {
            _ = try options()
        } catch let error as ArgumentValueError {
            throw ValidationError(error.description)
        }
    }

    mutating func run() async throws { try await groups.run(options()) }

    func options() throws -> PlayOptions {
        var groups = groups
        groups.picture.listen = true
        if !groups.picture.preview { groups.output.noVideo = true }
        return try groups.options(for: url)
    }
}

/// Options for the presentation of video and audio.
struct PictureOptions: ParsableArguments {
    @Flag(help: "Show it in a window, with sound (SDL 2).") var window = false
    @Flag(help: "Let it be heard, without a window (SDL 2).") var listen = false
    @Flag(help: "Fill the screen.") var fullscreen = false
    @Flag(help: "Show it in the terminal.") var preview = false
    @Option(
        help: ArgumentHelp(
            "How: kitty, sixel or blocks; by default what the terminal says it can.", valueName: "name"),
        completion: .list(PreviewFormat.allCases.map(\.rawValue)),
        transform: { try ChoiceArgument.parse($0) })
    var previewFormat: PreviewFormat?
    @Option(
        help: ArgumentHelp(
            "Interlaced video: whole pictures where it is shown (auto, the default), or as it is.",
            valueName: "auto|off"),
        completion: .list(["auto", "off"]),
        transform: { try ChoiceArgument.parse($0) })
    var deinterlace: PlayOptions.Deinterlacing?
    @Option(
        help: ArgumentHelp(
            "Write when each frame was on the screen, and when audio was heard: JSON lines.", valueName: "file"),
        completion: .file())
    var presentationLog: String?

    func apply(to options: inout PlayOptions) {
        options.opensWindow = window
        options.isHeard = listen
        options.deinterlaces = deinterlace != .off
        options.isFullscreen = fullscreen
        options.showsPreview = preview
        options.previewFormat = previewFormat
        options.presentationLogPath = presentationLog
    }
}
