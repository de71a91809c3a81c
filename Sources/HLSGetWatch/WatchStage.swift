package import HLSGetKit
package import HLSKitCore

/// What `watch` and `listen` have besides a player: a window, the sound device, and the clock that both are presented by.
package final class WatchStage: Sendable {
    /// That of the player: it follows the sound device.
    package let clock: SteeredClock
    /// Why nothing is heard; nil if something can be.
    package let soundError: HLSError?

    private let library: SDLLibrary
    private let scene: WatchScene
    /// nil where only sound is wanted.
    private let window: WindowThread?
    private let sound: SoundDevice?
    private let log: PresentationLog?

    /// Opens the window where one is wanted, and the sound device where audio is.
    ///
    /// - Throws: where SDL is not installed, there is no display, or only sound is wanted and there is no device for it. A
    ///   missing sound device is no reason to see nothing.
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
            let asset = Asset(
                urlString: options.url, options: options.imageOptions(transport: transport, diskCache: diskCache))
            let thumbnails = ThumbnailSource(asset) { Self.edge(of: scene.player) }
            window = try await WindowThread.open(
                library, scene: scene,
                options: WindowOptions(
                    title: "hlsget: " + Self.name(of: options.url), size: size, isFullscreen: options.isFullscreen,
                    showsDetails: options.verbosity == .verbose),
                thumbnails: thumbnails, log: log)
        } else {
            window = nil
        }
        var failure: HLSError?
        var device: SoundDevice?
        if options.includesAudio {
            do throws(HLSError) {
                device = try SoundDevice.open(library, clock: clock, log: log)
            } catch {
                guard options.opensWindow else { throw error }
                failure = error
            }
        }
        scene.follow(device)
        self.clock = clock
        self.scene = scene
        sound = device
        soundError = failure
    }

    /// nil where there is no window.
    package var wishes: AsyncStream<WindowThread.Wish>? { window?.wishes }

    /// Shows an item when it is its turn.
    package func add(_ item: PlayerItem) throws(HLSError) {
        try scene.add(item, sound: sound, showsPictures: window != nil)
    }

    package func show(_ state: PlayerState) { scene.show(state) }
    package func say(_ line: String) { scene.say(line) }

    /// Closes window and device. Called once.
    ///
    /// - Returns: what went wrong with the log.
    package func close(clock: some Clock<Duration>) async -> HLSError? {
        sound?.close(library)
        await window?.close(clock: clock)
        return log?.finish()
    }

    /// The item time of the live edge; nil of what has an end.
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
    /// How images of the stream are loaded beside it.
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
