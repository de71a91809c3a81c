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
        if let known = knownBandwidth(of: playlist) { loading.hint = known }
        let eligibility = eligibility()
        let choice = InitialVariantRule().choose(
            from: eligibility.eligible, knownThroughput: loading.estimatedBitsPerSecond(at: now),
            startsOnFirstEligibleVariant: preferences.startsOnFirstEligibleVariant)
        guard let choice else { return failItem(noEligibleVariant(eligibility)) }
        buffer.setRequiredTracks([.video])
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "")
        item?.choice = eligibility.eligible.sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
        use(choice.variantIndex, explanation: choice.explanation)
        preloadKeys(of: playlist)
    }

    private func noEligibleVariant(_ eligibility: VariantEligibility) -> PlayerError {
        if let quality = preferences.quality, eligibility.exclusions.values.allSatisfy({ $0 == .limits }) {
            let offered = (item?.candidates ?? []).map { candidate in
                (candidate.resolution.map { "\($0.height)p " } ?? "") + "\(Int(clamping: Int64(candidate.bandwidth)))"
            }
            return PlayerError(
                code: .noEligibleVariant, url: item?.multivariantURL, cause: "no variant matches \"\(quality)\"",
                detail: "there are: " + offered.prefix(16).joined(separator: ", "))
        }
        let reasons = eligibility.exclusions.sorted { $0.key < $1.key }
            .prefix(8)
            .map { "#\($0.key): \($0.value)" }
        return PlayerError(
            code: .noEligibleVariant, url: item?.multivariantURL, cause: "no variant can be played",
            detail: reasons.joined(separator: ", "))
    }

    /// Which variants may be used now.
    func eligibility() -> VariantEligibility {
        var context = SelectionContext()
        context.isPassThrough = configuration.canPlayCodec == nil
        if let canPlay = configuration.canPlayCodec { context.canDecode = canPlay }
        context.unplayableVariants = item?.unplayableVariants ?? []
        context.penalizedVariants = loading.penalizedVariants(at: now)
        let limits = preferences.limits(in: networkConditions)
        context.preferredPeakBitRate = limits.peakBitRate
        context.preferredMaximumResolution = limits.resolution
        context.prefersLosslessAudio = preferences.variantPreferences.contains(.lossless)
        if case .pinned(let index, _) = preferences.variantPolicy { context.pinnedVariant = index }
        context.display = preferences.displaySize.map { SelectionContext.Display(size: $0) }
        context.quality = preferences.quality
        context.audibleOption = item?.audibleOption
        return VariantEligibility(item?.candidates ?? [], in: context)
    }

    // MARK: Use of a variant

    /// Loads from the variant at `index` from the next segment on, with the renditions that belong to it.
    mutating func use(_ index: Int, explanation: String) {
        guard let playlist = item?.multivariant, playlist.variants.indices.contains(index),
            let base = item?.multivariantURL
        else { return }
        let variant = playlist.variants[index]
        guard let url = URIReference.resolve(variant.uri, against: base) else {
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
        guard var lane = item?.lanes[id], lane.playlistURL != url else { return }
        if let request = lane.playlistRequest {
            loading.requests[request] = nil
            effects.append(.cancel(request))
            lane.playlistRequest = nil
        }
        if let tracker = lane.tracker {
            item?.previousTracker = tracker
            lane.cursor = .time(Self.resumeTime(of: lane, tracker))
            lane.startsNewSequence = true
            lane.dropsOverlap = true
        }
        lane.tracker = nil
        lane.playlistURL = url
        item?.lanes[id] = lane
        loading.waiting[.mediaPlaylist(id)] = nil
        effects.append(.disarm(.reload(id)))
        if let known = item?.knownPlaylists[url] {
            attach(known.playlist, url: known.url, to: id, known: known.tracker)
        } else {
            requestPlaylist(of: id)
        }
    }

    /// The item time at which the next segment begins.
    static func resumeTime(of lane: MediaLane, _ tracker: PlaylistTracker) -> Duration {
        switch lane.cursor {
        case .time(let time): return time
        case .position(let position):
            if let index = tracker.index(of: position) { return tracker.starts[index] }
            return tracker.end
        case nil: return tracker.start
        }
    }

    // MARK: Renditions

    mutating func chooseRenditions(
        for variant: Variant, of playlist: MultivariantPlaylist, base: String
    ) {
        let audio = playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio }
        do {
            let choice = try choose(among: audio, by: preferences.audio, what: "audio", base: base)
            item?.audibleOption = choice.map {
                VariantCandidate.AudioOption(id: $0.optionID, language: $0.language, channelCount: $0.channelCount)
            }
            setLane(.audio, to: configuration.playsAudio ? choice : nil, variantURI: variant.uri, base: base)
            var required: ForwardBuffer.Tracks = [.video]
            if item?.lanes[.audio] != nil { required.insert(.audio) }
            buffer.setRequiredTracks(required)
            guard preferences.subtitles != nil else { return }
            let subtitles = playlist.renditions.filter { $0.type == .subtitles && $0.groupID == variant.subtitles }
            let legible = try choose(among: subtitles, by: preferences.subtitles, what: "subtitles", base: base)
            item?.legibleLanguage = legible?.language
            setLane(.subtitles, to: legible, variantURI: variant.uri, base: base)
        } catch {
            failItem(error)
        }
    }

    /// The rendition to play; nil where there is none. Throws where one was asked for that is not there.
    private func choose(
        among renditions: [Rendition], by wish: QualityExpression?, what: String, base: String
    ) throws(PlayerError) -> Rendition? {
        guard let wish else {
            return renditions.first { $0.isDefault } ?? renditions.first { $0.isAutoselect } ?? renditions.first
        }
        let candidates = renditions.enumerated().map { index, rendition in
            RenditionCandidate(
                index: index, language: rendition.language, name: rendition.name,
                channelCount: rendition.channelCount, codecs: [], isForced: rendition.isForced)
        }
        guard let index = wish.matches(candidates).first else {
            let offered = renditions.map { "\($0.name) (\($0.language ?? "-"))" }.joined(separator: ", ")
            throw PlayerError(
                code: .noEligibleVariant, url: base, cause: "no \(what) rendition matches \"\(wish)\"",
                detail: offered.isEmpty ? "there is none" : "there are: \(offered)")
        }
        return renditions[index]
    }

    private mutating func setLane(_ id: LaneID, to rendition: Rendition?, variantURI: String, base: String) {
        guard let uri = rendition?.uri, uri != variantURI, let url = URIReference.resolve(uri, against: base) else {
            // Audio inside the variant, or none.
            removeLane(id)
            return
        }
        if item?.lanes[id] == nil {
            item?.lanes[id] = MediaLane(id: id, playlistURL: url)
            join(id)
            requestPlaylist(of: id)
        } else {
            redirect(id, to: url)
        }
    }

    /// A lane that comes in mid-play begins where the variant that it belongs to does.
    private mutating func join(_ id: LaneID) {
        guard let item, let main = item.lanes[.main], case .time(let time) = main.cursor else { return }
        self.item?.lanes[id]?.cursor = .time(time)
        // Up to there what is loaded has audio of its own.
        let playhead = playhead
        guard playhead < time else { return }
        buffer.removeAll(in: id.bufferTrack)
        buffer.insert(ForwardBuffer.Piece(range: playhead..<time, byteCount: 0, isGap: true), in: id.bufferTrack)
        self.item?.lanes[id]?.loadedEnd = time
    }

    // MARK: Switching

    /// Asks the rule which variant the segment at `index` is to come from. True when that is another one, so that the
    /// lane waits for its playlist.
    mutating func considerSwitch(at index: Int) -> Bool {
        guard let count = item?.candidates.count, count > 1, let tracker = item?.lanes[.main]?.tracker,
            item?.decidedFor != tracker.starts[index]
        else { return false }
        guard refreshChoice(), let choice = item?.choice, let current = item?.variantIndex else { return false }
        item?.decidedFor = tracker.starts[index]
        if statistics.numberOfSegments == 0, item?.lanes.values.contains(where: \.hasLoadedSegment) == false,
            choice.contains(where: { $0.index == current })
        {
            // Nothing was measured since the first choice.
            return false
        }
        let decision =
            choice.count == 1
            ? SelectionDecision(variantIndex: choice[0].index, explanation: "the only one that may be used")
            : loading.selector.decide(selectionInput(at: index, in: tracker, candidates: choice))
        item?.maximumForwardBuffer = decision.maximumForwardBuffer
        guard decision.variantIndex != current else { return false }
        use(decision.variantIndex, explanation: decision.explanation)
        return true
    }

    /// Works out what the rule can choose from, anew if anything that limits it has changed. False where nothing is left.
    private mutating func refreshChoice() -> Bool {
        let limits = SelectionLimits(
            preferences: preferences, networkConditions: networkConditions,
            penalized: loading.penalizedVariants(at: now),
            unplayable: item?.unplayableVariants ?? [], audibleOption: item?.audibleOption)
        guard limits != item?.choiceLimits else { return true }
        let eligible = eligibility().eligible
        guard !eligible.isEmpty else { return false }
        item?.choiceLimits = limits
        item?.choice = eligible.sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) }
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
