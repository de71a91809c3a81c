package import HLSKitCore
import HLSKitSimulation

package struct PlayOptions: Sendable, Equatable {
    /// The absolute URL of the stream; `file:` for a path.
    package var url: String
    package var followingURLs: [String] = []
    package var readsStandardInput = false
    package var standardInput: StandardInput?
    /// Empty for the null sink.
    package var outputs: [OutputArgument] = []
    /// The typed names of outputs with placeholders, by path.
    package var templates: [String: String] = [:]
    package var split: SplitArgument?
    package var includesVideo = true
    package var includesAudio = true
    package var decodes = true
    /// The pace, or `nil` to derive it from the outputs; see ``isPaced``.
    package var pace: Pace?
    package var overwritesFiles = false

    package var opensWindow = false
    package var isFullscreen = false
    /// The volume at the start, from 0 to 100, or `nil` for the player's.
    package var volume: Int?
    package var isMuted = false
    /// Whether the last frame stays until the viewer quits.
    package var keepsOpen = false
    /// The folder of screenshots, or `nil` for the current one.
    package var screenshotFolder: String?
    package var deinterlaces = true
    /// Whether to play audio on the sound device without a window.
    package var isHeard = false
    package var showsPreview = false
    /// The format, or `nil` to query the terminal.
    package var previewFormat: PreviewFormat?
    package var presentationLogPath: String?

    package var rate: Float = 1
    package var startsImmediately = false
    package var automaticallyWaits = true
    /// `nil` for the player's default.
    package var forwardBufferDuration: Duration?
    /// In bits per second, or `nil` for no limit.
    package var peakBitRate: Double?
    /// Whether the network is metered.
    package var isExpensive = false
    package var usesLinkMemory = true
    /// The additional limit on a metered network, in bits per second, or `nil` for none.
    package var expensivePeakBitRate: Double?
    package var maximumResolution: PixelSize?
    package var display: DisplaySize?
    package var startsOnFirstEligibleVariant = false
    /// Whether the variant may change within an output.
    package var isAdaptive = false
    /// Whether the variant must not change even without an output.
    package var keepsVariant = false
    package var from: TimePosition?
    package var to: TimePosition?
    package var duration: Duration?
    package var interstitialAction = InterstitialAction.play
    package var skipsDateRanges: [DateRangeExpression] = []
    package var skipsURIs: [TextPattern] = []
    package var passCount = 1
    package var liveFromStart = false
    /// The distance from the live edge, or `nil` for the playlist's.
    package var liveOffset: Duration?
    /// Whether playback skips ahead to its distance from the live edge after a wait.
    package var catchesUp = false
    package var catchUpRate: Float?
    package var allowsLowLatency = true
    /// How long to wait for a stream to start, or `nil` not to wait.
    package var wait: WaitArgument?
    package var until: UntilArgument?
    package var stale = StaleArgument()
    /// The action, or `nil` to derive it from the outputs.
    package var fellBehindAction: FellBehindAction?

    package var quality: QualityExpression?
    package var pathway: String?
    package var audio: QualityExpression?
    package var subtitles: QualityExpression?
    /// Whether several audio tracks or several subtitles are wanted.
    package var wantsSeveralTracks = false
    package var video: QualityExpression?
    /// The languages, or `nil` to use the environment.
    package var languages: [String]?
    package var subtitlesPath: String?

    package var fields: [TransportField] = []
    package var channel: String?
    /// Encoded URL parameters.
    var query: [String] = []
    /// In addition to the origin of the URL.
    package var credentialOrigins: Set<URLOrigin> = []
    var cookieFile: String?
    var netrcFile: String?
    var clientCertificateFile: String?
    var clientKeyFile: String?
    /// The proxy, or `nil` to use the environment.
    var proxy: TransportConfiguration.Proxy?
    /// `nil` for no limit.
    var maximumBytesPerSecond: Int?
    var maximumConnectionsPerHost: Int?
    var connectionTargets: [TransportConfiguration.ConnectionTarget] = []
    /// The interface, or `nil` for the system's choice.
    var interface: String?
    var addressFamily = TransportConfiguration.AddressFamily.any
    /// The file (PEM) with certificates to trust instead of the system's.
    var certificateFile: String?
    var verifiesCertificates = true
    var forcesHTTP11 = false
    package var allowsFilesOutside = false
    var throttle: ThrottleArgument?
    /// The folder of the cache, or `nil` for no cache.
    package var cacheFolder: String?
    package var recordingPath: String?
    /// The part of the command line that a recording keeps.
    package var recordedOptions: [String] = []
    /// The number of attempts after the first one, or `nil` for the library's default.
    var retries: RetriesArgument?
    /// The delays between attempts, or `nil` for the library's default.
    var retryBackoff: BackoffArgument?
    package var gapAction = GapAction.skip
    /// The deadline for the first byte, or `nil` for the library's default.
    package var timeout: Duration?
    var deniesPrivateAddresses = false
    var deniedAddresses: [AddressArgument] = []
    var allowsDowngrade = false
    package var reportsCertificates = false
    package var clientData = CMCDOptions()
    /// Prints a fresh URL when the current one expires.
    package var refreshCommand: String?
    package var keyOverride: ContentKeyOverride?

    package var isStrict = false
    /// The number of threads of each decoder, or `nil` for the decoder's default.
    package var threads: Int?
    package var progress: ProgressStyle?
    package var accessLogPath: String?
    package var errorLogPath: String?
    package var reportPath: String?
    package var printsSummaryDocument = false
    package var verbosity = Verbosity.normal

    /// Where a live stream continues after its window has moved past media that was not loaded (R44).
    package enum FellBehindAction: String, Sendable, Equatable, CaseIterable { case edge, oldest, fail }
    package enum Pace: Sendable, Equatable { case fast, realTime }
    package enum Deinterlacing: String, Sendable, Equatable, CaseIterable { case auto, off }
    package enum InterstitialAction: String, Sendable, Equatable, CaseIterable { case play, skip, only }
    package enum ProgressStyle: String, Sendable, Equatable, CaseIterable { case bar, json, none }
    package enum Verbosity: Sendable, Equatable { case quiet, normal, verbose }

    /// - Parameter url: A URL that may be followed by header fields; see ``FieldsInURL``.
    package init(url: String) {
        let parts = FieldsInURL(url)
        self.url = parts.url
        fields = parts.fields
    }

    package var needsDecoder: Bool { outputs.isEmpty ? decodes : outputs.contains { $0.format.needsDecoder } }

    /// The requested policy. By default, recordings continue with the oldest segment, and playback continues at the
    /// live edge.
    package var fellBehindPolicy: FellBehindPolicy {
        switch fellBehindAction {
        case .edge: .jumpToEdge
        case .oldest: .jumpToOldest
        case .fail: .fail
        case nil: outputs.contains { $0.format != .null } ? .jumpToOldest : .jumpToEdge
        }
    }

    package func apply(to policies: inout RetryPolicies) {
        retries?.apply(to: &policies)
        retryBackoff?.apply(to: &policies)
        if gapAction == .fail { policies.skipsSegments = false }
    }

    var transportConfiguration: TransportConfiguration {
        var network = TransportConfiguration(userAgent: "hlsget/\(CommandInfo.version)")
        network.caFile = certificateFile
        network.verifiesCertificates = verifiesCertificates
        network.forcesHTTP11 = forcesHTTP11
        network.allowsDowngradeRedirect = allowsDowngrade
        network.cookieFile = cookieFile
        network.netrcFile = netrcFile
        network.clientCertificateFile = clientCertificateFile
        network.clientKeyFile = clientKeyFile
        network.proxy = proxy ?? .environment
        network.maximumBytesPerSecond = maximumBytesPerSecond
        network.maximumConnectionsPerHost = maximumConnectionsPerHost
        network.connectionTargets = connectionTargets
        network.additionalCAFile = FileArgument.certificatesOfEnvironment
        network.interface = interface
        network.addressFamily = addressFamily
        var denied = deniesPrivateAddresses ? AddressPolicy.denyPrivate.denied : []
        denied += deniedAddresses.compactMap { AddressRange($0.text) }
        network.addressPolicy = AddressPolicy(denied: denied)
        network.reportsCertificates = reportsCertificates
        return network
    }

    /// Creates the transport. Nothing starts before the first request.
    ///
    /// - Throws: An error if the trace of `--throttle` cannot be read.
    package func makeTransport() throws(ArgumentValueError) -> any ResourceTransport {
        let network = CurlTransport(configuration: transportConfiguration)
        var transport: any ResourceTransport = SchemeTransport(
            network: query.isEmpty ? network : QueryTransport(base: network, parameters: query),
            local: LocalTransport())
        if let input = standardInput { transport = input.transport(over: transport) }
        guard let throttle else { return transport }
        return ConditionedTransport(base: transport, trace: try throttle.networkTrace(), clock: SourceClock.host)
    }

    /// Whether the variant must stay the same. By default it is fixed for outputs only.
    package var hasOneVariant: Bool { !isAdaptive && (keepsVariant || !outputs.isEmpty) }

    package var media: (video: Bool, audio: Bool) {
        let isForAll = outputs.isEmpty
        return (
            includesVideo && (isForAll || outputs.contains { $0.media.video }),
            includesAudio && (isForAll || outputs.contains { $0.media.audio })
        )
    }

    /// Whether a download writes the only output, because playback has one audio track and no subtitles for it.
    package var isDownload: Bool {
        guard outputs.count == 1, let output = outputs.first, case .file = output.destination,
            output.format.isContainer,
            !isWatched
        else { return false }
        return wantsSeveralTracks || subtitles != nil && (output.format == .mp4 || output.format == .mkv)
    }

    var writesToStandardOutput: Bool { outputs.contains { $0.destination == .standardOutput } }

    package var player: String? {
        outputs.lazy.compactMap { if case .program(let command) = $0.destination { command } else { nil } }.first
    }

    package var isWatched: Bool { opensWindow || showsPreview || isHeard }

    /// Whether playback runs in real time.
    ///
    /// Recordings are written as fast as possible, unless the media is also presented, a player reads it, or another
    /// option depends on time.
    package var isPaced: Bool {
        if let pace { return pace == .realTime }
        let isAboutTime =
            rate != 1 || startsImmediately || !automaticallyWaits || catchesUp || catchUpRate != nil
        return outputs.isEmpty || isWatched || player != nil || isAboutTime
    }

    /// Whether the throughput of earlier runs decides about the first variant.
    ///
    /// Files, recordings and simulated links do not depend on earlier runs.
    package var remembersLink: Bool {
        usesLinkMemory && outputs.isEmpty && isPaced && throttle == nil && recordingPath == nil
            && LinkMemory.isRemote(url)
    }

    /// The requested style or, by default, the status line on a terminal and nothing otherwise.
    package func progressStyle(standardErrorIsTerminal: Bool) -> ProgressStyle {
        switch progress {
        case .json: .json
        case .none?: .none
        case .bar: .bar
        case nil: standardErrorIsTerminal && verbosity != .quiet ? .bar : .none
        }
    }

    package func check() throws(ArgumentValueError) {
        if !includesVideo && !includesAudio {
            throw ArgumentValueError("--no-video and --no-audio together leave nothing to play")
        }
        for output in outputs {
            let format = output.format
            if !includesVideo && !output.media.audio {
                throw ArgumentValueError("--no-video leaves nothing to write as \(format.rawValue)")
            }
            if !includesAudio && !output.media.video {
                throw ArgumentValueError("--no-audio leaves nothing to write as \(format.rawValue)")
            }
            if isAdaptive, output.destination.path == "-", format == .mp4 || format == .mkv {
                throw ArgumentValueError(
                    "--adaptive changes tracks, which \(format.rawValue) cannot hold on a pipe; use -f ts")
            }
            if !decodes && format.needsDecoder {
                throw ArgumentValueError("--no-decode cannot write \(format.rawValue), which is decoded media")
            }
        }
        if split != nil {
            guard outputs.contains(where: { $0.format.isContainer }) else {
                throw ArgumentValueError("--split needs -o FILE")
            }
            if let output = outputs.first(where: { !$0.format.isContainer }) {
                throw ArgumentValueError("--split cannot cut \(output.format.rawValue); write ts, mp4, mkv, aac or mp3")
            }
            if writesToStandardOutput || player != nil {
                throw ArgumentValueError("--split needs files and cannot be used with - or --player")
            }
            if passCount > 1 { throw ArgumentValueError("--split and --loop are mutually exclusive") }
        } else if outputs.contains(where: { $0.destination.path.contains(SplitNames.word) }) {
            throw ArgumentValueError("-o: {part} needs --split")
        }
        if !followingURLs.isEmpty {
            if !outputs.isEmpty {
                throw ArgumentValueError("-o and --player take one stream; hlsget download saves several")
            }
            let single = [
                ("--channel", channel != nil), ("--wait", wait != nil), ("--record-trace", recordingPath != nil),
                ("--subs-file", subtitlesPath != nil),
            ]
            if let (option, _) = single.first(where: \.1) { throw ArgumentValueError("\(option) takes one stream") }
        }
        try checkWatching()
        if writesToStandardOutput && printsSummaryDocument {
            throw ArgumentValueError("--json and -o - both need standard output")
        }
        if pace == .realTime && outputs.isEmpty {
            throw ArgumentValueError("--pace has no effect without -o; remove it")
        }
        if startsImmediately && pace == .fast {
            throw ArgumentValueError("--immediately has no effect with --fast; remove it")
        }
        if rate != 1 && pace == .fast { throw ArgumentValueError("--rate has no effect with --fast; remove it") }
        if rate < 0 || rate > 2, !outputs.isEmpty {
            throw ArgumentValueError("--rate outside 0–2 plays I-frames only and cannot be combined with -o")
        }
        if rate < 0 || rate > 2, !includesVideo {
            throw ArgumentValueError("--rate outside 0–2 plays I-frames only, which --no-video excludes")
        }
        if rate < 0 || rate > 2, !skipsDateRanges.isEmpty || !skipsURIs.isEmpty {
            let option = skipsURIs.isEmpty ? "--skip-dateranges" : "--skip-uri"
            throw ArgumentValueError("--rate outside 0–2 plays I-frames only, which \(option) does not skip")
        }
        if interstitialAction == .only {
            if rate < 0 || rate > 2 {
                throw ArgumentValueError("--rate outside 0–2 plays I-frames of the stream only, and no interstitials")
            }
            if !skipsDateRanges.isEmpty || !skipsURIs.isEmpty {
                let option = skipsURIs.isEmpty ? "--skip-dateranges" : "--skip-uri"
                throw ArgumentValueError("\(option) has no effect with --interstitials only; remove it")
            }
        }
        if rate < 0, passCount > 1 {
            throw ArgumentValueError("--loop cannot be combined with a negative --rate")
        }
        if rate < 0, to != nil || duration != nil {
            let option = to != nil ? "--to" : "--duration"
            throw ArgumentValueError(
                "\(option) has no effect with a negative --rate, which plays to the start; remove it")
        }
        if !automaticallyWaits && pace == .fast {
            throw ArgumentValueError("--no-auto-wait has no effect with --fast; remove it")
        }
        if catchesUp || catchUpRate != nil, pace == .fast {
            throw ArgumentValueError("--live-catch-up has no effect with --fast; remove it")
        }
        if catchesUp && !automaticallyWaits {
            throw ArgumentValueError("--live-catch-up has no effect with --no-auto-wait, which never waits; remove it")
        }
        if audio != nil && !includesAudio {
            throw ArgumentValueError("--audio has no effect with --no-audio; remove it")
        }
        if wantsSeveralTracks, !isDownload {
            throw ArgumentValueError(
                "--audio and --subs: one of each is played at a time; several need one -o FILE (mp4, mkv, ts)")
        }
        if video != nil && !includesVideo {
            throw ArgumentValueError("--video has no effect with --no-video; remove it")
        }
        if threads != nil && !decodes {
            throw ArgumentValueError("--threads has no effect with --no-decode; remove it")
        }
        if isAdaptive && keepsVariant {
            throw ArgumentValueError("--adaptive and --one-quality are mutually exclusive")
        }
        if isAdaptive && outputs.isEmpty {
            throw ArgumentValueError("--adaptive requires -o; without -o the variant adapts anyway")
        }
        if to != nil && duration != nil { throw ArgumentValueError("--to and --duration both set the end") }
        try RangeOptions.check(from: from, to: to)
        if liveFromStart && liveOffset != nil {
            throw ArgumentValueError("--live-from-start and --live-offset both set the start")
        }
        if from != nil && (liveFromStart || liveOffset != nil) {
            let other = liveFromStart ? "--live-from-start" : "--live-offset"
            throw ArgumentValueError("--from and \(other) both set the start")
        }
        if !verifiesCertificates && certificateFile != nil {
            throw ArgumentValueError("--cacert has no effect with --insecure; remove it")
        }
        if subtitles != nil && subtitlesPath != nil {
            throw ArgumentValueError("--subs and --subs-file both choose the subtitles")
        }
        if recordingPath != nil, keyOverride != nil {
            throw ArgumentValueError(
                "--record-trace does not record --key, --iv and --key-uri, so its replay could not decrypt")
        }
        if recordingPath != nil, cacheFolder != nil {
            throw ArgumentValueError("--record-trace does not record media from --cache; remove one")
        }
        try clientData.check()
        if retries == .count(0), retryBackoff != nil {
            throw ArgumentValueError("--retry-backoff has no effect with --retries 0; remove it")
        }
        if verbosity == .quiet && progress == .bar {
            throw ArgumentValueError("-q and --progress bar are mutually exclusive")
        }
    }

    private func checkWatching() throws(ArgumentValueError) {
        if opensWindow && showsPreview { throw ArgumentValueError("--window and --preview are mutually exclusive") }
        if opensWindow && isHeard { throw ArgumentValueError("a window already plays audio; remove --listen") }
        if isHeard && !includesAudio { throw ArgumentValueError("--no-audio leaves nothing to hear") }
        let name = opensWindow ? "a window" : showsPreview ? "--preview" : "--listen"
        if isWatched {
            if pace == .fast { throw ArgumentValueError("--fast is too fast to watch; remove it, or \(name)") }
            if !decodes { throw ArgumentValueError("--no-decode leaves nothing to present; remove it, or \(name)") }
        }
        if showsPreview {
            if !includesVideo { throw ArgumentValueError("--no-video leaves nothing for --preview") }
            if progress == .json { throw ArgumentValueError("--preview and --progress json both need the terminal") }
        } else if previewFormat != nil {
            throw ArgumentValueError("--preview-format has no effect without --preview")
        }
        if volume != nil || isMuted, !opensWindow, !isHeard {
            let option = volume == nil ? "--mute" : "--volume"
            throw ArgumentValueError("\(option) has no effect without --window or --listen")
        }
        if keepsOpen, !opensWindow, !showsPreview {
            throw ArgumentValueError("--keep-open has no effect without --window or --preview")
        }
        guard !opensWindow else { return }
        if screenshotFolder != nil { throw ArgumentValueError("--screenshot-dir has no effect without --window") }
        if isFullscreen { throw ArgumentValueError("--fullscreen has no effect without --window") }
        if presentationLogPath != nil { throw ArgumentValueError("--presentation-log has no effect without --window") }
    }
}
