import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    // MARK: Availability

    var hasAlternative: Bool { hasAlternative(for: .main) }

    func hasAlternative(for id: LaneID) -> Bool {
        // Most items have no alternatives, so the cheap checks come first.
        item?.multivariantURL != nil && item?.trick == nil && failover(of: id).hasAlternative(for: id)
    }

    /// Whether the variant's media is available on another pathway that has not failed recently.
    func hasPathway(except name: String) -> Bool {
        guard item?.multivariantURL != nil, item?.trick == nil else { return false }
        let pathways = selectionLimits.pathways
        guard pathways.contains(where: { $0 != name && item?.variants.pathways.isPenalized($0, at: now) == false })
        else { return false }
        let failover = failover(of: .main)
        return !failover.isFixed && !failover.elsewhere.isEmpty
    }

    private func failover(of id: LaneID) -> Failover {
        var failover = Failover()
        failover.sources = variantSources
        failover.candidates = item?.candidates ?? []
        failover.current = item?.variantIndex
        failover.currentURI = item?.variantURI
        failover.bandwidth = Double(item?.variant?.bandwidth ?? 0)
        failover.mainURL = item?.lanes[.main]?.playlistURL
        failover.audioURL = item?.lanes[.audio]?.playlistURL
        failover.subtitlesURL = item?.lanes[.subtitles]?.playlistURL
        failover.place = placeOfMain ?? .zero
        failover.loadsAudioOfVariant = item?.loadsAudioOfVariant == true
        failover.isFixed = isVariantFixed
        failover.unplayable = item?.variants.unplayable ?? []
        failover.avoidedRenditions = item?.variants.avoided.renditions(at: now) ?? []
        guard id != .subtitles else { return failover }
        let limits = selectionLimits
        failover.eligible = item?.variants.eligibility(in: limits).eligible ?? []
        failover.avoided = limits.penalized
        guard let place = limits.pathways.first, let variants = item?.variants else { return failover }
        failover.elsewhere = variants.elsewhere(in: limits, at: now)
        let isFirst = { (variant: AssetVariant) in variants.pathways[variant.index] == place }
        failover.eligible = failover.eligible.filter(isFirst) + failover.eligible.filter { !isFirst($0) }
        return failover
    }

    /// The item time at which the variant's next segment begins, or `nil` until its playlist is known.
    var placeOfMain: Duration? {
        item?.lanes[.main].flatMap { lane in lane.tracker.map { lane.resumeTime(in: $0) } }
    }

    /// Variants that failed recently themselves, or whose audio or origin did.
    func penalizedVariants() -> Set<Int> {
        let avoided = item?.variants.avoided.variants(of: variantSources, at: now) ?? []
        guard let origins = item?.variants.pathways.penalizedVariants(at: now), !origins.isEmpty else { return avoided }
        return avoided.union(origins)
    }

    // MARK: Switching

    mutating func leaveVariant(because error: HLSError) { leave(.main, because: error) }

    mutating func leave(_ id: LaneID, because error: HLSError) {
        carryOut(failover(of: id).leave(id), of: id, because: error)
    }

    private mutating func carryOut(_ actions: [Failover.Action], of id: LaneID, because error: HLSError) {
        let time = now
        for action in actions {
            switch action {
            case .report: effects.append(.publish(.recoverableError(error)))
            case .avoid(let indices, let place): item?.variants.avoid(indices, from: place, at: time)
            case .leavePathway: item?.variants.leavePathway(at: time)
            case .avoidRendition(let url): item?.variants.avoid(rendition: url, at: time)
            case .resume: carryOut(failover(of: id).next(for: id, error), of: id, because: error)
            case .use(let index, let text): use(index, explanation: text)
            case .redirect(let url): redirect(id, to: url)
            case .drop: dropLane(id, because: error.description)
            case .fail(let id): failWhenPlayed(error, in: id)
            }
        }
    }

    /// Called when a variant's playlist cannot even be requested.
    mutating func failVariant(_ index: Int, because text: String) {
        item?.variants.exclude(index)
        let error = HLSError(code: .badPlaylist, urlString: item?.multivariantURL, cause: "variant \(index): \(text)")
        effects.append(.publish(.recoverableError(error)))
        guard let next = failover(of: .main).next(insteadOf: index) else { return failItem(error) }
        use(next, explanation: "variant \(index): \(text)")
    }

    // MARK: Playlists

    var variantSources: VariantSources? {
        guard let playlist = item?.multivariant, let base = item?.multivariantURL else { return nil }
        return variantSources(of: playlist, base: base)
    }

    func variantSources(of playlist: MultivariantPlaylist, base: String) -> VariantSources {
        VariantSources(
            playlist: playlist, base: base, selection: mediaSelection.current, isAudioOnly: item?.isAudioOnly == true)
    }

    func audioURL(of index: Int) -> String? { variantSources?.audioURL(of: index) }

    func subtitles(of variant: VariantStream, in playlist: MultivariantPlaylist) -> Rendition? {
        variantSources?.subtitles(of: variant, avoiding: item?.variants.avoided.renditions(at: now) ?? [])
    }

    /// Discards a segment and its successors so that they are loaded again. Returns `false` if the segment is not being
    /// loaded.
    @discardableResult
    mutating func goBack(to segment: SegmentID) -> Bool {
        guard let flight = item?.lanes[segment.lane]?.segments[segment] else { return false }
        // The lane returns to the start of the segment, but media that was already presented is not repeated.
        giveBack(from: flight)
        buffer.removeMedia(from: flight.job.start, in: segment.lane.bufferTrack)
        return true
    }
}
