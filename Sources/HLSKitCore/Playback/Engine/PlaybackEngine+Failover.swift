import HLSPlaylist

/// Going on elsewhere: with another variant, or with the same option of another group.
///
/// `docs/behaviour/failures.md` says what leads where.
extension PlaybackEngine {
    // MARK: Whether

    /// There is a variant to go to that has not failed of late.
    var hasAlternative: Bool { hasAlternative(for: .main) }

    /// What a lane plays can be had elsewhere, where it has not failed of late.
    func hasAlternative(for id: LaneID) -> Bool {
        guard let item, item.trick == nil else { return false }
        switch id {
        case .main,
            .audio where item.loadsAudioOfVariant:
            guard item.candidates.count > 1, !isVariantFixed else { return false }
            let penalized = penalizedVariants()
            return eligibility().eligible.contains {
                !sharesMain($0) && !penalized.contains($0.index) && !item.variants.isExcluded($0.index)
            }
        case .audio: return !variantsWithOtherAudio().isEmpty
        case .subtitles: return otherSubtitles() != nil
        }
    }

    /// Variants that failed of late, and those whose audio did.
    func penalizedVariants() -> Set<Int> {
        var penalized = loading.failures.penalizedVariants(at: now)
        let urls = loading.failures.penalizedRenditions(at: now)
        guard !urls.isEmpty, let candidates = item?.candidates else { return penalized }
        for candidate in candidates where audioURL(of: candidate.index).map(urls.contains) == true {
            penalized.insert(candidate.index)
        }
        return penalized
    }

    // MARK: Where

    /// What a lane plays is loaded from elsewhere from now on.
    mutating func leave(_ id: LaneID, because error: PlayerError) {
        switch id {
        case .main,
            .audio where item?.loadsAudioOfVariant == true:
            leaveVariant(because: error)
        case .audio: leaveAudio(because: error)
        case .subtitles: leaveSubtitles(because: error)
        }
    }

    /// Goes on with another variant, and does not come back for a while.
    mutating func leaveVariant(because error: PlayerError) {
        guard let item, let current = item.variantIndex else { return failWhenPlayed(error, in: .main) }
        effects.append(.publish(.recoverableError(error)))
        let time = now
        // Variants that differ in their audio only share a playlist, and its faults.
        for candidate in item.candidates where sharesMain(candidate) {
            loading.failures.penalize(variant: candidate.index, at: time)
        }
        let place = item.lanes[.main]?.tracker.map { resumeTimeOfMain($0) } ?? .zero
        self.item?.variants.noteFailure(at: place)
        let eligible = eligibility().eligible.filter { !sharesMain($0) }
        guard let next = nearest(of: eligible) else { return failWhenPlayed(error, in: .main) }
        use(next.index, explanation: "variant \(current) failed: \(error.cause)")
    }

    /// Goes on with a variant whose group has the same audio.
    private mutating func leaveAudio(because error: PlayerError) {
        guard let lane = item?.lanes[.audio] else { return }
        effects.append(.publish(.recoverableError(error)))
        loading.failures.penalize(rendition: lane.playlistURL, at: now)
        guard let next = nearest(of: variantsWithOtherAudio()) else { return failWhenPlayed(error, in: .audio) }
        use(next.index, explanation: "audio \(lane.playlistURL) failed: \(error.cause)")
    }

    /// Goes on with the same subtitles of another group; pictures and sound stay as they are.
    private mutating func leaveSubtitles(because error: PlayerError) {
        guard let lane = item?.lanes[.subtitles] else { return }
        loading.failures.penalize(rendition: lane.playlistURL, at: now)
        guard let url = otherSubtitles() else { return dropLane(.subtitles, because: error.description) }
        effects.append(.publish(.recoverableError(error)))
        redirect(.subtitles, to: url)
    }

    /// As near to what was chosen as can be, rather below than above.
    private func nearest(of variants: [VariantCandidate]) -> VariantCandidate? {
        if item?.isSoundOnly == true { return cheapestSound(of: variants) }
        let bandwidth = Double(item?.variant?.bandwidth ?? 0)
        func distance(_ variant: VariantCandidate) -> Double {
            variant.bandwidth <= bandwidth ? bandwidth - variant.bandwidth : (variant.bandwidth - bandwidth) * 4
        }
        return variants.min { distance($0) < distance($1) }
    }

    /// A variant that cannot even be asked for.
    mutating func failVariant(_ index: Int, because text: String) {
        item?.variants.exclude(index)
        let error = PlayerError(code: .badPlaylist, url: item?.multivariantURL, cause: "variant \(index): \(text)")
        effects.append(.publish(.recoverableError(error)))
        guard let next = eligibility().eligible.first(where: { $0.index != index }) else { return failItem(error) }
        use(next.index, explanation: "variant \(index): \(text)")
    }

    // MARK: Who shares what

    /// A variant whose pictures come from the playlist that is loaded now.
    private func sharesMain(_ variant: VariantCandidate) -> Bool {
        guard item?.isSoundOnly == true else { return variant.uri == item?.variantURI }
        guard let playlist = item?.multivariant, let base = item?.multivariantURL,
            playlist.variants.indices.contains(variant.index)
        else { return false }
        return mainURL(of: playlist.variants[variant.index], in: playlist, base: base)
            == item?.lanes[.main]?.playlistURL
    }

    /// The playlist of the audio that a variant would be played with; nil where that is inside its own segments.
    func audioURL(of index: Int) -> String? {
        guard let playlist = item?.multivariant, playlist.variants.indices.contains(index),
            let base = item?.multivariantURL, let uri = audio(of: playlist.variants[index], in: playlist)?.uri
        else { return nil }
        return URIReference.resolve(uri, against: base)
    }

    func audio(of variant: Variant, in playlist: MultivariantPlaylist) -> Rendition? {
        mediaSelection.current[.audible]?.rendition(
            in: playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio })
    }

    /// Eligible variants with the audio that is played, but from another playlist, that have not failed of late.
    private func variantsWithOtherAudio() -> [VariantCandidate] {
        guard let item, !isVariantFixed, let playlist = item.multivariant,
            let url = item.lanes[.audio]?.playlistURL, let option = mediaSelection.current[.audible]
        else { return [] }
        let ids = Set(option.renditions.map(\.optionID))
        let penalized = penalizedVariants()
        return eligibility().eligible.filter { candidate in
            guard !penalized.contains(candidate.index), !isVariantFixed || sharesMain(candidate),
                playlist.variants.indices.contains(candidate.index),
                let audio = audio(of: playlist.variants[candidate.index], in: playlist), ids.contains(audio.optionID)
            else { return false }
            return audioURL(of: candidate.index) != url
        }
    }

    /// The subtitles that are selected, for a variant: those of its own group, unless they failed of late and another
    /// group has the same.
    func subtitles(of variant: Variant, in playlist: MultivariantPlaylist) -> Rendition? {
        guard let option = mediaSelection.current[.legible] else { return nil }
        let own = option.rendition(
            in: playlist.renditions.filter { $0.type == .subtitles && $0.groupID == variant.subtitles })
        guard let own, isPenalized(own) else { return own }
        return otherSubtitles(than: own) ?? own
    }

    private func otherSubtitles() -> String? {
        guard let base = item?.multivariantURL, let uri = otherSubtitles(than: nil)?.uri else { return nil }
        return URIReference.resolve(uri, against: base)
    }

    private func otherSubtitles(than own: Rendition?) -> Rendition? {
        guard let playlist = item?.multivariant, let base = item?.multivariantURL,
            let option = mediaSelection.current[.legible]
        else { return nil }
        let ids = Set(option.renditions.map(\.optionID))
        let url = item?.lanes[.subtitles]?.playlistURL
        return playlist.renditions.first { rendition in
            guard rendition.type == .subtitles, rendition != own, ids.contains(rendition.optionID),
                let uri = rendition.uri, let other = URIReference.resolve(uri, against: base)
            else { return false }
            return (own != nil || other != url) && !isPenalized(rendition)
        }
    }

    private func isPenalized(_ rendition: Rendition) -> Bool {
        guard let base = item?.multivariantURL, let uri = rendition.uri,
            let url = URIReference.resolve(uri, against: base)
        else { return false }
        return loading.failures.penalizedRenditions(at: now).contains(url)
    }
}
