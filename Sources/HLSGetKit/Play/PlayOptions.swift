package import HLSKitCore
import HLSKitSimulation

/// The options of `play`, checked and in the types of the library.
package struct PlayOptions: Sendable, Equatable {
    /// The absolute URL of the stream; `file:` for a path.
    package var url: String
    /// The URL stands for standard input.
    package var readsStandardInput = false
    /// What it was, once it is read.
    package var standardInput: StandardInput?
    /// Empty means the null sink.
    package var outputs: [OutputArgument] = []
    /// Of outputs whose names have words, the names as they were typed, by their paths.
    package var templates: [String: String] = [:]
    /// Where an output goes on in another file.
    package var split: SplitArgument?
    package var includesVideo = true
    package var includesAudio = true
    /// False with `--no-decode`.
    package var decodes = true
    /// nil leaves it to where the media goes; see ``isPaced``.
    package var pace: Pace?
    package var overwritesFiles = false

    /// Shown in a window, with sound.
    package var opensWindow = false
    package var isFullscreen = false
    /// The volume at the start, from 0 to 100, or `nil` for the player's.
    package var volume: Int?
    package var isMuted = false
    /// Interlaced video is shown as whole pictures.
    package var deinterlaces = true
    /// Heard by the sound device, without a window.
    package var isHeard = false
    /// Shown in the terminal.
    package var showsPreview = false
    /// nil asks the terminal.
    package var previewFormat: PreviewFormat?
    /// File that tells when what was presented.
    package var presentationLogPath: String?

    package var rate: Float = 1
    package var startsImmediately = false
    package var automaticallyWaits = true
    /// nil leaves it to the player.
    package var forwardBufferDuration: Duration?
    /// Bits per second; nil means no limit.
    package var peakBitRate: Double?
    /// Whether the network costs money.
    package var isExpensive = false
    package var usesLinkMemory = true
    /// Bits per second while it does; nil means no limit of its own.
    package var expensivePeakBitRate: Double?
    package var maximumResolution: PixelSize?
    package var display: DisplaySize?
    package var startsOnFirstEligibleVariant = false
    /// Whether the variant may change in what is written.
    package var isAdaptive = false
    /// Whether it may not where nothing is written.
    package var keepsVariant = false
    package var from: TimePosition?
    package var to: TimePosition?
    package var duration: Duration?
    /// What becomes of the interstitials that the stream schedules.
    package var interstitialAction = InterstitialAction.play
    /// What is left out.
    package var skipsDateRanges: [DateRangeExpression] = []
    package var skipsURIs: [TextPattern] = []
    /// How many times it is played.
    package var passCount = 1
    package var liveFromStart = false
    /// Distance from the live edge; nil leaves it to the playlist.
    package var liveOffset: Duration?
    /// Whether it skips ahead to its distance from the edge after a wait.
    package var catchesUp = false
    /// The highest rate that brings it back there.
    package var catchUpRate: Float?
    /// Whether servers may hold requests for playlists.
    package var allowsLowLatency = true
    /// How long a stream is waited for that has not begun; nil for not at all.
    package var wait: WaitArgument?
    /// When playing ends on the clock.
    package var until: UntilArgument?
    package var stale = StaleArgument()
    /// nil leaves it to where the media goes.
    package var fellBehindAction: FellBehindAction?

    package var quality: QualityExpression?
    /// The pathway to use before others.
    package var pathway: String?
    package var audio: QualityExpression?
    package var subtitles: QualityExpression?
    /// nil leaves them to the environment.
    package var languages: [String]?
    /// File of captions.
    package var subtitlesPath: String?

    package var fields: [TransportField] = []
    /// A channel of the list that the URL names.
    package var channel: String?
    /// Parameters of URLs, encoded.
    var query: [String] = []
    /// Besides the URL's own.
    package var credentialOrigins: Set<URLOrigin> = []
    var cookieFile: String?
    var netrcFile: String?
    var clientCertificateFile: String?
    var clientKeyFile: String?
    /// nil leaves it to the environment.
    var proxy: TransportConfiguration.Proxy?
    /// nil means no limit.
    var maximumBytesPerSecond: Int?
    var maximumConnectionsPerHost: Int?
    var connectionTargets: [TransportConfiguration.ConnectionTarget] = []
    /// nil leaves it to the system.
    var interface: String?
    var addressFamily = TransportConfiguration.AddressFamily.any
    /// Path of the certificates (PEM) that are trusted instead of the system's.
    var certificateFile: String?
    var verifiesCertificates = true
    var forcesHTTP11 = false
    package var allowsFilesOutside = false
    var throttle: ThrottleArgument?
    /// Folder of the cache; nil keeps nothing.
    package var cacheFolder: String?
    /// File of the recording.
    package var recordingPath: String?
    /// The part of the command line that a recording keeps.
    package var recordedOptions: [String] = []
    /// Attempts after the first; nil leaves it to the library.
    var retries: RetriesArgument?
    /// Waits before them; nil leaves them to the library.
    var retryBackoff: BackoffArgument?
    /// What becomes of a segment that cannot be had.
    package var gapAction = GapAction.skip
    /// Deadline of a first byte; nil leaves it to the library.
    package var timeout: Duration?
    var deniesPrivateAddresses = false
    var deniedAddresses: [AddressArgument] = []
    var allowsDowngrade = false
    /// Metrics of requests say until when certificates are valid.
    package var reportsCertificates = false
    /// What servers are told.
    package var clientData = ClientDataWish()
    /// Prints a fresh URL where the one that plays runs out.
    package var refreshCommand: String?
    /// Keys by hand.
    package var keyOverride: ContentKeyOverride?

    package var isStrict = false
    /// Threads of each decoder; nil leaves it to the decoder.
    package var threads: Int?
    package var progress: ProgressStyle?
    /// File of the access log.
    package var accessLogPath: String?
    /// File of the error log.
    package var errorLogPath: String?
    /// File of the report.
    package var reportPath: String?
    package var printsSummaryDocument = false
    package var verbosity = Verbosity.normal

    /// Where a live stream continues whose window moved past what was not loaded (R44).
    package enum FellBehindAction: String, Sendable, Equatable, CaseIterable { case edge, oldest, fail }
    /// How fast media is played.
    package enum Pace: Sendable, Equatable { case fast, realTime }
    package enum Deinterlacing: String, Sendable, Equatable, CaseIterable { case auto, off }
    package enum InterstitialAction: String, Sendable, Equatable, CaseIterable { case play, skip, only }
    package enum ProgressStyle: String, Sendable, Equatable, CaseIterable { case bar, json, none }
    package enum Verbosity: Sendable, Equatable { case quiet, normal, verbose }

    /// - Parameter url: may have header fields behind it; see ``FieldsInURL``.
    package init(url: String) {
        let parts = FieldsInURL(url)
        self.url = parts.url
        fields = parts.fields
    }

    /// Whether decoded media reaches an output.
    package var needsDecoder: Bool { outputs.isEmpty ? decodes : outputs.contains { $0.format.needsDecoder } }

    /// As asked; else media that is kept continues with the oldest segment that is listed, and what is watched at the
    /// edge.
    package var fellBehindPolicy: FellBehindPolicy {
        switch fellBehindAction {
        case .edge: .jumpToEdge
        case .oldest: .jumpToOldest
        case .fail: .fail
        case nil: outputs.contains { $0.format != .null } ? .jumpToOldest : .jumpToEdge
        }
    }

    /// How requests that failed are made again.
    package func apply(to policies: inout RetryPolicies) {
        retries?.apply(to: &policies)
        retryBackoff?.apply(to: &policies)
        if gapAction == .fail { policies.skipsSegments = false }
    }

    /// How servers are reached.
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

    /// Where bytes come from. Nothing is started before the first request.
    ///
    /// - Throws: where the trace of `--throttle` cannot be read.
    package func makeTransport() throws(ArgumentValueError) -> any ResourceTransport {
        let network = CurlTransport(configuration: transportConfiguration)
        var transport: any ResourceTransport = SchemeTransport(
            network: query.isEmpty ? network : QueryTransport(base: network, parameters: query),
            local: LocalTransport())
        if let input = standardInput { transport = input.transport(over: transport) }
        guard let throttle else { return transport }
        return ConditionedTransport(base: transport, trace: try throttle.networkTrace(), clock: SourceClock.host)
    }

    /// Outputs have one quality. Without outputs, changes do no harm.
    package var hasOneVariant: Bool { !isAdaptive && (keepsVariant || !outputs.isEmpty) }

    /// The kinds of media that someone gets.
    package var media: (video: Bool, audio: Bool) {
        let isForAll = outputs.isEmpty
        return (
            includesVideo && (isForAll || outputs.contains { $0.media.video }),
            includesAudio && (isForAll || outputs.contains { $0.media.audio })
        )
    }

    var writesToStandardOutput: Bool { outputs.contains { $0.destination == .standardOutput } }

    /// The command that gets what is played.
    package var player: String? {
        outputs.lazy.compactMap { if case .program(let command) = $0.destination { command } else { nil } }.first
    }

    /// Whether somebody looks at it here.
    package var isWatched: Bool { opensWindow || showsPreview || isHeard }

    /// Whether it plays in real time.
    ///
    /// What is kept is written as fast as it comes, unless somebody watches meanwhile, a player reads it, or another option
    /// is about time.
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

    /// How progress is shown: as asked, otherwise by the status line on a terminal and not at all elsewhere.
    package func progressStyle(standardErrorIsTerminal: Bool) -> ProgressStyle {
        switch progress {
        case .json: .json
        case .none?: .none
        case .bar: .bar
        case nil: standardErrorIsTerminal && verbosity != .quiet ? .bar : .none
        }
    }

    /// Finds contradictions between options that are fine each by itself.
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
                throw ArgumentValueError("--split needs files, and - or --player is none")
            }
            if passCount > 1 { throw ArgumentValueError("--split and --loop are mutually exclusive") }
        } else if outputs.contains(where: { $0.destination.path.contains(SplitNames.word) }) {
            throw ArgumentValueError("-o: {part} needs --split")
        }
        try checkWatching()
        if writesToStandardOutput && printsSummaryDocument {
            throw ArgumentValueError("--json and -o - both need standard output")
        }
        if pace == .realTime && outputs.isEmpty {
            throw ArgumentValueError("--pace is how playing goes without -o anyway; remove it")
        }
        if startsImmediately && pace == .fast {
            throw ArgumentValueError("--immediately has no effect with --fast; remove it")
        }
        if rate != 1 && pace == .fast { throw ArgumentValueError("--rate has no effect with --fast; remove it") }
        if rate < 0 || rate > 2, !outputs.isEmpty {
            throw ArgumentValueError("--rate outside 0–2 plays I-frames only and cannot be combined with -o")
        }
        if rate < 0 || rate > 2, !includesVideo {
            throw ArgumentValueError("--rate outside 0–2 plays I-frames only, and --no-video leaves them out")
        }
        if rate < 0 || rate > 2, !skipsDateRanges.isEmpty || !skipsURIs.isEmpty {
            let option = skipsURIs.isEmpty ? "--skip-dateranges" : "--skip-uri"
            throw ArgumentValueError("--rate outside 0–2 plays I-frames only, which \(option) does not leave out")
        }
        if interstitialAction == .only {
            if rate < 0 || rate > 2 {
                throw ArgumentValueError("--rate outside 0–2 plays I-frames of the stream, and no interstitials")
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
        if recordingPath != nil {
            if keyOverride != nil {
                throw ArgumentValueError(
                    "--record-trace does not record --key, --iv and --key-uri, so its replay could not decrypt")
            }
            if cacheFolder != nil {
                throw ArgumentValueError("--record-trace records the network, not what --cache has; remove one")
            }
        }
        if cacheFolder != nil, recordingPath != nil {
            throw ArgumentValueError("--record-trace does not record what --cache has; remove --cache")
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
        if opensWindow && isHeard { throw ArgumentValueError("a window has sound; remove --listen") }
        if isHeard && !includesAudio { throw ArgumentValueError("--no-audio leaves nothing to hear") }
        let name = opensWindow ? "a window" : showsPreview ? "--preview" : "--listen"
        if isWatched {
            if pace == .fast { throw ArgumentValueError("--fast is no speed to watch at; remove it, or \(name)") }
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
        guard !opensWindow else { return }
        if isFullscreen { throw ArgumentValueError("--fullscreen has no effect without --window") }
        if presentationLogPath != nil { throw ArgumentValueError("--presentation-log has no effect without --window") }
    }
}
