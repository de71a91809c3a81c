import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection

extension PlaybackEngine {
    // MARK: First choice

    mutating func openVariant(of written: MultivariantPlaylist) {
        let playlist = openSteering(of: written)
        guard !playlist.variants.isEmpty else {
            return failItem(
                HLSError(code: .badPlaylist, urlString: item?.multivariantURL, cause: "the playlist lists no variant"))
        }
        let isAudioOnly = configuration.wantsAudioOnly
        item?.renditions.open(isAudioOnly: isAudioOnly)
        let context = SelectionContext(configuration, wantsFrames: !isAudioOnly)
        let base = item?.multivariantURL
        let penalty = configuration.retryPolicies.penalty
        item?.variants.open(
            AssetVariant.list(of: playlist), base: base, in: context, penalty: penalty,
            steering: playlist.contentSteering)
        followSteering()
        noteVariantPolicy()
        openMediaSelection(of: playlist)
        guard item?.error == nil else { return }
        if let known = knownBandwidth(of: playlist) { loading.hint = known }
        let (limits, separateAudio) = (selectionLimits, variantsWithSeparateAudio)
        let throughput = loading.estimatedBitsPerSecond(at: now)
        let startsOnFirst = preferences.startsOnFirstEligibleVariant
        guard
            let (eligibility, choice) = item?.variants.first(
                in: limits, separateAudio: separateAudio, throughput: throughput, startsOnFirst: startsOnFirst)
        else { return }
        note(.choices) { .eligibility(eligibility) }
        guard let choice, let index = item?.variants.index(of: choice.variantID) else {
            return failItem(noVariant(of: eligibility))
        }
        note(.choices) { .firstVariant(index: index, explanation: choice.explanation) }
        buffer.setRequiredTracks([.video])
        item?.lanes[.main] = MediaLane(id: .main, playlistURL: "")
        use(index, explanation: choice.explanation)
        preloadKeys(of: playlist)
        beginSteering()
    }

    private func noVariant(of eligibility: VariantEligibility) -> HLSError {
        HLSError(
            noneOf: item?.candidates ?? [], eligibility, quality: preferences.quality, url: item?.multivariantURL,
            decoderFailure: configuration.decoderFailure())
    }

    func eligibility() -> VariantEligibility {
        item?.variants.eligibility(in: selectionLimits) ?? VariantEligibility([], in: SelectionContext())
    }

    package func ineligibilityReasons(for id: AssetVariant.ID) -> [IneligibilityReason] {
        item?.variants.reasons(against: id, in: selectionLimits) ?? []
    }

    /// The variants that a viewer can choose, the lowest quality first. Empty if only audio is played.
    package var selectableVariants: [AssetVariant] {
        configuration.wantsAudioOnly ? [] : item?.variants.selectable(in: selectionLimits) ?? []
    }

    var selectionLimits: SelectionLimits {
        SelectionLimits(
            preferences: preferences, networkConditions: networkConditions, outputs: outputLimits,
            penalized: penalizedVariants(), pathways: item?.variants.pathways.order(at: now) ?? [],
            audibleOption: item?.audibleOption, serverPeakBitRate: serverHints.maximumBitRate)
    }

    // MARK: Use of a variant

    mutating func use(_ index: Int, explanation: String) {
        let place = placeOfMain
        guard
            let change = item?.variants.change(to: index, at: place ?? item?.start ?? .zero, because: explanation)
        else { return }
        use(change)
    }

    mutating func use(_ change: VariantChooser.VariantSwitch) {
        guard let sources = variantSources, let variant = sources[change.to] else { return }
        guard let url = sources.mainURL(of: variant) else {
            return failVariant(change.to, because: "its URI cannot be resolved")
        }
        guard let description = item?.candidates.first(where: { $0.index == change.to }) else { return }
        effects.append(
            .publish(.variantSwitched(from: item?.variant, to: description, explanation: change.because)))
        if item?.variant != nil { tally.switchVariant() }
        if let move = item?.variants.carryOut(change, as: description) { publish(move) }
        redirect(.main, to: url)
        chooseRenditions(for: variant, of: sources.playlist, base: sources.base)
    }

    mutating func redirect(_ id: LaneID, to url: String) {
        guard let old = item?.lanes[id]?.playlistURL, old != url else { return }
        if let request = item?.lanes[id]?.playlist.request {
            cancel(request)
            item?.lanes[id]?.playlist.forgetRequest()
        }
        item?.lanes[id]?.redirect(to: url)
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
        /// The variant has changed, and the lane waits for its playlist.
        case switched
        /// The app has not answered yet.
        case asked
    }

    mutating func considerSwitch(at index: Int) -> Switch {
        // Variants have the same segment boundaries, so a switch is possible if this segment allows one.
        guard let tracker = item?.lanes[.main]?.tracker, tracker.isEntry(index),
            item?.variants.isOpen(at: tracker.starts[index]) == true
        else { return .stays }
        let segment = VariantChooser.Segment(index: index, tracker: tracker, audio: item?.lanes[.audio]?.tracker)
        forgivePassed(upTo: segment.start)
        let (limits, separateAudio, facts) = (selectionLimits, variantsWithSeparateAudio, selectionFacts)
        var change: VariantChooser.VariantSwitch?
        for action in item?.variants.consider(segment, limits, separateAudio: separateAudio, facts) ?? [] {
            switch action {
            case .report(let eligibility): note(.choices) { .eligibility(eligibility) }
            case .choose(let choice): item?.variants.choose(from: choice, limits)
            case .take(let decision): change = item?.variants.take(decision, for: segment.start)
            case .takeBest: change = item?.variants.takeBest(for: segment, facts)
            case .ask(let input):
                guard let decision = decide(input, for: segment.start) else { return .asked }
                let spared = sparing(decision)
                change = item?.variants.take(spared, for: segment.start)
            }
        }
        guard let change else { return .stays }
        use(change)
        return .switched
    }

    /// Keeps the lowest variant on a link that is too slow even for it. A higher one would only cause another wait.
    private func sparing(_ decision: SelectionDecision) -> SelectionDecision {
        guard report.isLinkTooSlow, let lowest = item?.variants.choice.first, decision.variantID != lowest.id,
            let estimate = loading.estimatedBitsPerSecond(at: now),
            estimate < lowest.averageBitRate ?? lowest.bandwidth
        else { return decision }
        return SelectionDecision(
            variantID: lowest.id, explanation: "the link carries \(Int(estimate)) bit/s, less than the lowest variant")
    }

    /// Asks the rule. Returns `nil` while the app has not answered.
    private mutating func decide(_ input: SelectionInput, for start: Duration) -> SelectionDecision? {
        switch rule.answer(input, known: questions.takeDecision(for: start)) {
        case .known(let decision): return decision
        case .decided(let decision):
            note(.choices) { .variant(input, decision) }
            return decision
        case .asks:
            ask(input, for: .segment(start))
            return nil
        }
    }

    /// Whether the rule postpones the next segment because more media is buffered than it wants.
    var isHeldBack: Bool {
        configuration.pacing == .realTime && machine.status == .playing
            && item?.variants.holdsBack(buffer.forwardDuration(of: .video, situation())) == true
    }

    private var selectionFacts: VariantChooser.Facts {
        VariantChooser.Facts(
            moment: selectionMoment, bufferCapacity: bufferCapacity,
            startsOnFirst: preferences.startsOnFirstEligibleVariant, isAudioOnly: item?.isAudioOnly == true,
            isFixed: isVariantFixed,
            isFirstSegment: statistics.numberOfSegments == 0
                && LaneID.allCases.allSatisfy { item?.lanes[$0]?.hasLoadedSegment != true },
            throughput: loading.estimatedBitsPerSecond(at: now))
    }

    var bufferCapacity: Duration {
        configuration.buffering.forwardDurationLimit ?? configuration.buffering.forwardDuration
    }

    var selectionMoment: SelectionMoment {
        var moment = SelectionMoment(
            now: now, throughput: loading.estimate(at: now), recentTransfers: loading.estimator.recentTransfers,
            forwardBuffer: buffer.forwardDuration(of: .video, situation()),
            rate: machine.rate == 0 ? 1 : Double(machine.rate), isPlaying: machine.status == .playing)
        moment.serverData = serverHints.latest
        if let outlook, outlook.isLive { moment.availableAhead = max(.zero, outlook.listedEnd - playhead) }
        return moment
    }
}

// MARK: - Recording

/// One variant for the whole item (``VariantPolicy/best(isFixed:)``), as ``VariantChooser`` keeps it.
extension PlaybackEngine {
    /// Applies the current variant policy. The item's outlook then reflects whether there is a choice of variants.
    mutating func noteVariantPolicy() {
        let keepsBest = preferences.variantPolicy.keepsBest
        item?.variants.follow(keepsBest: keepsBest)
        preferPathway()
    }

    /// Whether the variant may no longer change, because media of it is loaded and the policy is fixed.
    var isVariantFixed: Bool { preferences.variantPolicy.isFixed && item?.hasPresentable == true }

    mutating func forgivePassed(upTo time: Duration) {
        let past = VariantChooser.Past(
            isPaced: configuration.pacing == .realTime, isLive: item?.isLive == true,
            next: item?.lanes[.main]?.segments.first?.job.start)
        if item?.variants.forgivesPassed(upTo: time, past) == true { item?.variants.forgive() }
    }

    mutating func forgiveLost(at start: Duration) {
        guard !isVariantFixed, item?.variants.forgivesLost(at: start) == true else { return }
        item?.variants.forgive()
        let (eligible, next) = (eligibility().eligible, item?.lanes[.main]?.segments.first)
        guard let next, item?.variants.isReloaded(from: next.job.start, after: start, among: eligible) == true else {
            return
        }
        goBack(to: next.id)
    }
}
