import HLSMedia
import HLSPlaylist

/// Variants and renditions: which are chosen, and changing between them.
extension PlaybackEngine {
    // MARK: First choice

    /// Chooses the first variant and its renditions, and asks for their playlists.
    mutating func openVariant(of playlist: MultivariantPlaylist) {
        guard !playlist.variants.isEmpty else {
            return failItem(
                PlayerError(code: .badPlaylist, url: item?.multivariantURL, cause: "the playlist lists no variant"))
        }
        item?.candidates = VariantCandidate.list(of: playlist)
        let isSoundOnly = wantsSoundOnly
        item?.isSoundOnly = isSoundOnly
        noteVariantPolicy()
        openMediaSelection(of: playlist)
        guard item?.error == nil else { return }
        if let known = knownBandwidth(of: playlist) { loading.hint = known }
        let eligibility = eligibility()
        let qualities = self.choice(from: eligibility.eligible)
        let choice =
            keepsVariant
            ? firstOfRecording(from: qualities)
            : InitialVariantRule().choose(
                from: qualities, knownThroughput: loading.estimatedBitsPerSecond(at: now),
                startsOnFirstEligibleVariant: preferences.startsOnFirstEligibleVariant)
        note(.choices) { .eligibility(eligibility) }
        guard let choice else { return failItem(noEligibleVariant(eligibility)) }
        note(.choices) { .firstVariant(index: choice.variantIndex, explanation: choice.explanation) }
        buffer.setRequiredTracks([.video])
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "")
        item?.choice = qualities.sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
        use(choice.variantIndex, explanation: choice.explanation)
        preloadKeys(of: playlist)
    }

    private func noEligibleVariant(_ eligibility: VariantEligibility) -> PlayerError {
        if let quality = preferences.quality, eligibility.exclusions.values.allSatisfy({ $0 == .limits }) {
            return PlayerError(
                code: .noEligibleVariant, url: item?.multivariantURL, cause: "no variant matches \"\(quality)\"",
                detail: (item?.candidates ?? []).offer)
        }
        var reasons = eligibility.exclusions.sorted { $0.key < $1.key }
            .prefix(8)
            .map { "#\($0.key): \($0.value)" }
        if configuration.canPlayCodec != nil, CodecLibrary.installed == nil {
            reasons.append("\(CodecLibrary.name) is not installed")
        }
        return PlayerError(
            code: .noEligibleVariant, url: item?.multivariantURL, cause: "no variant can be played",
            detail: reasons.joined(separator: ", "))
    }

    /// Which variants may be used now.
    func eligibility() -> VariantEligibility {
        var context = SelectionContext()
        context.limit(to: configuration.capabilities)
        context.isPassThrough = configuration.canPlayCodec == nil
        context.wantsPictures = item?.isSoundOnly != true
        if let canPlay = configuration.canPlayCodec {
            let needsVideo = context.wantsPictures
            context.canDecode = { codec in
                canPlay(codec) || !needsVideo && CodecString(rawValue: codec).mediaType == .video
            }
        }
        context.unplayableVariants = item?.unplayableVariants ?? []
        context.penalizedVariants = penalizedVariants()
        let limits = preferences.limits(in: networkConditions)
        context.preferredPeakBitRate = limits.peakBitRate
        context.preferredMaximumResolution = limits.resolution
        context.prefersLosslessAudio = preferences.variantPreferences.contains(.lossless)
        switch preferences.variantPolicy {
        case .automatic, .best: break
        case .bounded(let bitRates): context.bitRateBounds = bitRates
        case .pinned(let index, _): context.pinnedVariant = index
        }
        context.display = outputLimits.display ?? preferences.displaySize.map { SelectionContext.Display(size: $0) }
        if outputLimits.needsStandardRange { context.supportedVideoRanges = ["SDR"] }
        context.quality = preferences.quality
        context.audibleOption = item?.audibleOption
        if let count = outputLimits.maximumChannelCount {
            context.maximumChannelCount = min(count, context.maximumChannelCount ?? count)
        }
        return VariantEligibility(item?.candidates ?? [], in: context)
    }

    // MARK: Use of a variant

    /// Loads from the variant at `index` from the next segment on, with the renditions that belong to it.
    mutating func use(_ index: Int, explanation: String) {
        guard let playlist = item?.multivariant, playlist.variants.indices.contains(index),
            let base = item?.multivariantURL
        else { return }
        let variant = playlist.variants[index]
        guard let url = mainURL(of: variant, in: playlist, base: base) else {
            return failVariant(index, because: "its URI cannot be resolved")
        }
        let description = VariantDescription(variant, index: index)
        effects.append(.publish(.variantSwitched(from: item?.variant, to: description, explanation: explanation)))
        if item?.variant != nil { statistics.numberOfVariantSwitches += 1 }
        item?.variantIndex = index
        item?.variant = description
        item?.loadedBytes = 0
        item?.loadedDuration = .zero
        redirect(.main, to: url)
        chooseRenditions(for: variant, of: playlist, base: base)
    }

    /// Lets a lane go on with another media playlist.
    mutating func redirect(_ id: LaneID, to url: String) {
        guard let lane = item?.lanes[id], lane.playlistURL != url else { return }
        if let request = lane.playlist.request {
            cancel(request)
            item?.lanes[id]?.playlist.forgetRequest()
        }
        if let tracker = item?.lanes[id]?.redirect(to: url) { item?.previousTracker = tracker }
        _ = loading.requests.takeWaiting(.mediaPlaylist(id))
        effects.append(.disarm(.reload(id)))
        if let known = item?.knownPlaylists[url] {
            attach(known.playlist, url: known.url, to: id, known: known.tracker)
        } else {
            requestPlaylist(of: id)
        }
    }

    // MARK: Switching

    enum Switch {
        case stays
        /// It is another one: the lane waits for its playlist.
        case switched
        /// The program has not answered yet.
        case asked
    }

    /// Asks the rule which variant the segment at `index` is to come from.
    mutating func considerSwitch(at index: Int) -> Switch {
        guard let count = item?.candidates.count, count > 1, let tracker = item?.lanes[.main]?.tracker,
            item?.decidedFor != tracker.starts[index]
        else { return .stays }
        if keepsVariant { forgivePassed(upTo: tracker.starts[index]) }
        guard refreshChoice(), let choice = item?.choice, let current = item?.variantIndex else { return .stays }
        let start = tracker.starts[index]
        if statistics.numberOfSegments == 0, item?.lanes.values.contains(where: \.hasLoadedSegment) == false,
            choice.contains(where: { $0.index == current })
        {
            // Nothing was measured since the first choice.
            item?.decidedFor = start
            return .stays
        }
        let decision: SelectionDecision
        if keepsVariant, item?.isSoundOnly != true {
            decision = recordingDecision(at: index, in: tracker, among: choice)
        } else if choice.count == 1 {
            decision = SelectionDecision(variantIndex: choice[0].index, explanation: "the only one that may be used")
        } else if isSelectorOfProgram {
            guard let known = questions.takeDecision(for: start) else {
                ask(selectionInput(at: index, in: tracker, candidates: choice), for: .segment(start))
                return .asked
            }
            decision = known
        } else {
            let input = selectionInput(at: index, in: tracker, candidates: choice)
            decision = loading.selector.decide(input)
            note(.choices) { .variant(input, decision) }
        }
        item?.decidedFor = start
        item?.maximumForwardBuffer = decision.maximumForwardBuffer
        guard decision.variantIndex != current else { return .stays }
        use(decision.variantIndex, explanation: decision.explanation)
        return .switched
    }

    /// Works out what the rule can choose from, anew if anything that limits it has changed. False where nothing is left.
    private mutating func refreshChoice() -> Bool {
        let current = item?.variantIndex.flatMap { index in item?.candidates.first { $0.index == index } }
        let base = item?.multivariantURL
        let limits = SelectionLimits(
            place: current.map { VariantPlace($0, base: base) }, preferences: preferences,
            networkConditions: networkConditions, outputs: outputLimits,
            penalized: penalizedVariants(),
            unplayable: item?.unplayableVariants ?? [], audibleOption: item?.audibleOption)
        guard limits != item?.choiceLimits else { return true }
        let eligibility = eligibility()
        note(.choices) { .eligibility(eligibility) }
        let eligible = eligibility.eligible
        guard !eligible.isEmpty else { return false }
        item?.choiceLimits = limits
        let choice = self.choice(from: eligible)
        item?.choice = choice.sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
        return true
    }

    /// The rule wants the next segment loaded later: more is ahead than it said.
    var isHeldBack: Bool {
        guard let limit = item?.maximumForwardBuffer, configuration.pacing == .realTime, machine.status == .playing
        else {
            return false
        }
        return buffer.forwardDuration(of: .video, situation()) > limit
    }

    /// What a rule is to decide from, for the segment at `index`.
    func selectionInput(
        at index: Int, in tracker: PlaylistTracker, candidates: [VariantCandidate]
    ) -> SelectionInput {
        var input = SelectionInput(
            now: now, candidates: candidates, currentVariantIndex: item?.variantIndex, forwardBuffer: .zero,
            upcoming: upcomingSegments(at: index, in: tracker, candidates: candidates))
        input.bufferCapacity = configuration.buffering.forwardDurationLimit ?? configuration.buffering.forwardDuration
        if !tracker.isLive {
            input.segmentNumber = index
            input.segmentCount = tracker.segmentCount
        }
        update(&input)
        return input
    }

    /// Brings up to date what changes with time and with every byte.
    func update(_ input: inout SelectionInput) {
        input.now = now
        input.throughput = loading.estimate(at: now)
        input.recentTransfers = loading.estimator.recentTransfers
        input.forwardBuffer = buffer.forwardDuration(of: .video, situation())
        input.rate = machine.rate == 0 ? 1 : Double(machine.rate)
        input.isPlaying = machine.status == .playing
        if let outlook, outlook.isLive { input.availableAhead = max(.zero, outlook.listedEnd - playhead) }
    }
}

extension PlayerItemPreferences {
    /// The limits that hold: where the network is expensive the lower ones of both kinds.
    fileprivate func limits(in conditions: NetworkConditions) -> (peakBitRate: Double, resolution: PixelSize?) {
        var (peakBitRate, resolution) = (preferredPeakBitRate, preferredMaximumResolution)
        guard conditions.isExpensive else { return (peakBitRate, resolution) }
        let rate = preferredPeakBitRateForExpensiveNetworks
        if rate > 0 { peakBitRate = peakBitRate > 0 ? min(peakBitRate, rate) : rate }
        if let size = preferredMaximumResolutionForExpensiveNetworks {
            resolution = PixelSize(
                width: min(resolution?.width ?? .max, size.width), height: min(resolution?.height ?? .max, size.height))
        }
        return (peakBitRate, resolution)
    }
}

extension VariantDescription {
    init(_ variant: Variant, index: Int) {
        self.init(
            index: index, bandwidth: variant.bandwidth, averageBandwidth: variant.averageBandwidth,
            width: variant.resolution?.width ?? 0, height: variant.resolution?.height ?? 0,
            frameRate: variant.frameRate, codecs: variant.codecs.joined(separator: ","))
    }
}
