import HLSGetKit
import HLSKitCore

extension PlayOptions {
    /// The item time at which playback starts, or `nil` if the playlist decides.
    var startTime: MediaTime? {
        switch from {
        case .fromStart(let time): MediaTime(time, timescale: 1_000_000)
        case .fromEnd, .date, .segment: nil
        case nil: liveFromStart ? nil : .zero
        }
    }

    /// Sets the options of an item.
    func apply(to item: PlayerItem) {
        item.preferredForwardBufferDuration = forwardBufferDuration
        item.preferredPeakBitRate = peakBitRate
        item.preferredPeakBitRateForExpensiveNetworks = expensivePeakBitRate
        item.preferredMaximumResolution = maximumResolution
        item.displaySize = display.map { display in
            PixelSize(
                width: Int((Double(display.size.width) * display.scale).rounded()),
                height: Int((Double(display.size.height) * display.scale).rounded()))
        }
        if hasOneVariant { item.variantPolicy = .best() }
        item.startsOnFirstEligibleVariant = startsOnFirstEligibleVariant
        item.quality = quality
        item.preferredPathway = pathway
        item.audio = audio
        item.subtitles = subtitles
        item.video = video
        switch from {
        case let from?: item.startPosition = from.start
        // Reverse playback from the start would show nothing.
        case nil where rate < 0: item.startPosition = .time(.milliseconds(-1))
        case nil: item.startPosition = liveFromStart ? .oldest : .automatic
        }
        if let to {
            item.endPosition = to.end
        } else if let duration {
            item.endPosition = .duration(MediaTime(duration))
        }
        item.automaticallyHandlesInterstitialEvents = interstitialAction != .skip
        item.skipRule =
            interstitialAction == .only
            ? .primary : SkipRule(dateRanges: skipsDateRanges, segmentURIs: skipsURIs)
        item.configuredTimeOffsetFromLive = liveOffset.map { MediaTime($0, timescale: 1_000_000) }
        item.automaticallyPreservesTimeOffsetFromLive = catchesUp
        if let rate = catchUpRate { item.liveCatchUpRate = rate }
        item.stalePolicy = stale.policy
        item.staleLimit = stale.limit
        item.fellBehindPolicy = fellBehindPolicy
    }

    /// Starts playback.
    func start(_ player: Player) {
        guard isPaced else { return player.play() }
        player.automaticallyWaitsToMinimizeStalling = automaticallyWaits
        player.defaultRate = rate
        player.play()
    }

    /// Returns the configuration of a player.
    ///
    /// - Parameter canSeek: Whether the user can seek.
    func playerConfiguration(
        clock: any Clock<Duration>, transport: any ResourceTransport, canSeek: Bool
    ) -> PlayerConfiguration {
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.pacing = isPaced ? .realTime : .unpaced
        if !canSeek {
            // Without seeking, presented media is not needed any more.
            configuration.buffering.backDuration = .zero
            configuration.buffering.maxBackBufferBytes = 0
        }
        configuration.fields = fields
        configuration.credentialOrigins = credentialOrigins
        configuration.allowsFilesAnywhere = allowsFilesOutside
        configuration.decodingThreadCount = threads
        configuration.deinterlacesVideo = deinterlaces && isWatched
        if !media.video { configuration.mediaTypes.remove(.video) }
        if !media.audio { configuration.mediaTypes.remove(.audio) }
        if outputs.isEmpty, decodes, !isWatched {
            configuration.decodesWithoutOutput = configuration.mediaTypes
        }
        configuration.preferredLanguages = languages
        configuration.networkConditions.isExpensive = isExpensive
        configuration.demuxesMedia = !outputs.isEmpty || decodes
        configuration.acceptsAllCodecs = !needsDecoder
        if let command = refreshCommand {
            configuration.hooks.urlRefresher = RefreshCommand(command: command)
        }
        configuration.allowsLowLatency = allowsLowLatency
        configuration.clientData = clientData.clientData
        configuration.playbackSessionID = clientData.sessionID
        configuration.hooks.keyOverride = keyOverride
        apply(to: &configuration.retryPolicies)
        if let timeout = timeout { configuration.timeouts.firstByte = timeout }
        return configuration
    }
}
