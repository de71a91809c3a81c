package import HLSGetKit
package import HLSKitCore

/// The additional parts of `watch` and `listen`: a window, the sound device, and the clock that both follow.
package final class WatchStage: Sendable {
    /// The player's clock, which follows the sound device.
    package let clock: SteeredClock
    package let audioError: HLSError?

    private let library: SDLLibrary
    private let scene: WatchScene
    /// `nil` for audio only.
    private let window: WindowThread?
    private let audio: AudioDevice?
    private let log: PresentationLog?
    private let screenshotFolder: String?
    private let makeThumbnails: @Sendable (String) -> ThumbnailSource?

    /// Opens the window and the sound device, as the options require.
    ///
    /// - Throws: An error if SDL is not installed, if there is no display, or if audio only is requested without a
    ///   sound device. With a window, a missing sound device is not an error.
    package init(_ options: PlayOptions, transport: any ResourceTransport, diskCache: DiskCache?) async throws(HLSError)
    {
        let clock = SteeredClock(showing: SourceClock.host.now)
        library = try SDLLibrary.open()
        log = try options.presentationLogPath.map { path throws(HLSError) in
            try PresentationLog(path: path, overwrite: options.overwritesFiles)
        }
        let size = options.display?.size ?? PixelSize(width: 1280, height: 720)
        let scene = WatchScene(clock: clock, windowSize: size)
        if options.opensWindow {
            window = try await WindowThread.open(
                library, scene: scene,
                options: WindowOptions(
                    title: "hlsget: " + Self.name(of: options.url), size: size, isFullscreen: options.isFullscreen,
                    showsDetails: options.verbosity == .verbose), log: log)
        } else {
            window = nil
        }
        let (imageOptions, hasWindow) = (
            options.imageOptions(transport: transport, diskCache: diskCache), options.opensWindow
        )
        makeThumbnails = { url in
            guard hasWindow else { return nil }
            return ThumbnailSource(Asset(urlString: url, options: imageOptions)) { Self.edge(of: scene.player) }
        }
        var failure: HLSError?
        var device: AudioDevice?
        if options.includesAudio {
            do throws(HLSError) {
                device = try AudioDevice.open(library, clock: clock, log: log)
            } catch {
                guard options.opensWindow else { throw error }
                failure = error
            }
        }
        scene.follow(device)
        screenshotFolder = options.screenshotFolder
        self.clock = clock
        self.scene = scene
        audio = device
        audioError = failure
    }

    /// The user's requests, or `nil` without a window.
    package var requests: AsyncStream<WindowThread.Request>? { window?.requests }

    package func add(_ item: PlayerItem, isInterstitial: Bool = false) throws(HLSError) {
        if !isInterstitial { scene.add(item.id, url: item.urlString, makeThumbnails: makeThumbnails) }
        try scene.add(item, audio: audio, showsFrames: window != nil)
    }

    package func show(_ state: PlayerState) { scene.show(state) }
    package func say(_ line: String) { scene.say(line) }

    /// Saves the frame in the window without its captions, and returns a message for the viewer.
    package func saveFrame() -> String {
        guard let shown = scene.shownFrame else { return "no frame to save" }
        do throws(HLSError) {
            let name = scene.stream.map { DownloadTarget.name(of: $0.url, or: "screenshot") } ?? "screenshot"
            let screenshots = Screenshots(folder: screenshotFolder, name: name)
            let image = try StillImage(shown.frame, appliesPreferredTransform: true)
            return "saved \(TerminalText.escaped(try screenshots.save(image, at: shown.itemTime)))"
        } catch {
            return "cannot save the frame: \(TerminalText.escaped("\(error)"))"
        }
    }

    /// Closes window and device. Call it once.
    ///
    /// - Returns: The error of the log, if any.
    package func close(clock: some Clock<Duration>) async -> HLSError? {
        audio?.close(library)
        await window?.close(clock: clock)
        return log?.finish()
    }

    /// The item time of the live edge, or `nil` for VOD.
    private static func edge(of state: PlayerState) -> Double? {
        guard let offset = state.liveOffset, let now = state.currentTime.finiteSeconds else { return nil }
        return now + offset / .seconds(1)
    }

    /// The name of a stream: the part of the URL that names its files, otherwise the last part of the path.
    static func name(of url: String) -> String {
        let path = ErrorLine.bare(url: url).prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return TerminalText.escaped(String(DownloadTarget.name(of: url, or: last).prefix(80)))
    }
}

extension PlayOptions {
    func imageOptions(transport: any ResourceTransport, diskCache: DiskCache?) -> AssetOptions {
        var options = AssetOptions(transport: transport)
        options.fields = fields
        options.credentialOrigins = credentialOrigins
        options.allowsFilesAnywhere = allowsFilesOutside
        options.hooks.keyOverride = keyOverride
        options.diskCache = diskCache
        apply(to: &options.retryPolicies)
        if let timeout { options.timeouts.firstByte = timeout }
        return options
    }
}
