import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    // MARK: Choice

    /// Determines the groups of the item and their initial selection, before a variant is chosen.
    mutating func openMediaSelection(of playlist: MultivariantPlaylist) {
        mediaSelection.setGroups(of: playlist, canDecode: configuration.canPlayCodec ?? { _ in true })
        refreshMediaSelection(base: item?.multivariantURL)
    }

    /// Selects the user's choice or preference in each group.
    ///
    /// If no option matches a preference, the item fails at its start. Later, the selection does not change.
    ///
    /// - Returns: The groups whose option has changed.
    @discardableResult
    private mutating func refreshMediaSelection(base: String?, isStart: Bool = true) -> [MediaCharacteristic] {
        let changes: [MediaCharacteristic]
        do {
            changes = try mediaSelection.select(
                audio: preferences.audio, subtitles: preferences.subtitles, video: preferences.video)
        } catch {
            let error = error.error(url: base)
            if isStart { failItem(error) } else { effects.append(.publish(.warning("\(base ?? ""): \(error.cause)"))) }
            return []
        }
        let isWanted = mediaSelection.isWanted(.audible, preference: preferences.audio)
        let selected = mediaSelection.current
        let declared = mediaSelection.declaredSelection
        item?.renditions.select(declared, isAudibleWanted: isWanted)
        followAudioTrackRule()
        if !changes.isEmpty { effects.append(.publish(.mediaSelectionChanged(selected))) }
        return changes
    }

    func mainURL(of variant: VariantStream, in playlist: MultivariantPlaylist, base: String) -> String? {
        variantSources(of: playlist, base: base).mainURL(of: variant)
    }

    mutating func chooseRenditions(for variant: VariantStream, of playlist: MultivariantPlaylist, base: String) {
        guard item?.error == nil else { return }
        let (sources, facts) = (variantSources(of: playlist, base: base), renditionFacts)
        carryOut(item?.renditions.playAudio(of: variant, from: sources, facts))
        carryOut(item?.renditions.required(renditionFacts))
        playSubtitles(of: variant, from: sources)
    }

    private mutating func playSubtitles(of variant: VariantStream, from sources: VariantSources) {
        guard item?.tracks.isEnabled(.text) == true else { return }
        let rendition = subtitles(of: variant, in: sources.playlist)
        carryOut(item?.renditions.playSubtitles(rendition, of: variant, from: sources, renditionFacts))
    }

    /// Called when the playhead has moved back to loaded media.
    mutating func rejoinSubtitles(at time: Duration) {
        guard let lane = item?.lanes[.subtitles], let tracker = lane.tracker, lane.cursor != nil else { return }
        let ahead = buffer.forwardDuration(of: .legible, ForwardBuffer.Situation(playhead: time))
        let cues = RenditionChooser.Cues(
            resume: lane.resumeTime(in: tracker), listStart: tracker.start, ahead: ahead)
        carryOut(item?.renditions.rejoin(cues, at: time))
    }

    // MARK: Changing

    mutating func changeMediaSelection(_ change: (inout MediaSelectionState) -> Void) {
        change(&mediaSelection)
        applyMediaSelection()
    }

    mutating func applyMediaSelection() {
        guard item != nil, item?.error == nil, item?.pendingFailure == nil else { return }
        followAudioTrackRule()
        guard let playlist = item?.multivariant else {
            applyAudioInside()
            return applyClosedCaptions()
        }
        guard let index = item?.variantIndex, let base = item?.multivariantURL else { return }
        let changes = refreshMediaSelection(base: base, isStart: false)
        // The normal media, with the selection, returns after trick play.
        guard item?.trick == nil else { return }
        let sources = variantSources(of: playlist, base: base)
        for group in changes {
            switch group {
            case .legible:
                carryOut(item?.renditions.leaveSubtitles())
                if let variant = sources[index] { playSubtitles(of: variant, from: sources) }
            case .audible: changeAudible(of: index, from: sources)
            default: changeMain(sources)
            }
        }
    }

    private mutating func changeMain(_ sources: VariantSources) {
        guard let index = item?.variantIndex, let variant = sources[index] else { return }
        carryOut(item?.renditions.changeMain(of: variant, from: sources, renditionFacts))
    }

    private mutating func changeAudible(of index: Int, from sources: VariantSources) {
        guard let variant = sources[index] else { return }
        if mediaSelection.isAudioInside { return changeAudioInside() }
        let change = item?.renditions.changeAudio(
            of: variant, at: index, from: sources, eligible: eligibility().eligible,
            throughput: loading.estimatedBitsPerSecond(at: now), playsAudio: playsAudio)
        switch change {
        case .variant(let other, dropsAhead: true):
            discardForwardBuffer()
            use(other, explanation: "it has the audio that was chosen")
        case .variant(let other, dropsAhead: false):
            // Video continues in that variant with the next segment.
            use(other, explanation: "it has the audio that was chosen")
            if let url = item?.lanes[.audio]?.playlistURL { replaceAudio(with: url) }
        case .main: changeMain(sources)
        case .rendition(let url): replaceAudio(with: url)
        case .insideVariant where hasSeveralAudioTracks: changeAudioInside()
        case .insideVariant:
            let facts = renditionFacts
            carryOut(item?.renditions.playAudioOfVariant(facts))
        case nil: break
        }
    }

    private mutating func replaceAudio(with url: String) {
        if item?.lanes[.audio] == nil {
            // The empty URL differs from any `url`, so the lane is redirected like an existing one.
            item?.lanes[.audio] = MediaLane(id: .audio, playlistURL: "")
            carryOut(item?.renditions.standIn(renditionFacts))
        }
        let facts = renditionFacts
        carryOut(item?.renditions.replaceAudio(with: url, facts))
    }

    /// Plays another audio track of the segments, by loading it in addition to the current media.
    mutating func changeAudioInside() {
        guard playsAudio, hasSeveralAudioTracks, item?.start != nil, let url = item?.lanes[.main]?.playlistURL else {
            return
        }
        replaceAudio(with: url)
        carryOut(.beginAudioOfVariant)
    }

    /// Loads audio with the variant's video again. After loaded media was dropped, separate audio is no longer needed.
    mutating func keepAudioOfVariant() { carryOut(item?.renditions.keepAudioOfVariant()) }

    /// Called when the first media of a new rendition arrives. The old rendition's media after `time` has been dropped.
    mutating func noteReplaced(_ id: LaneID, by number: Int, from time: Duration) {
        guard item?.lanes[id]?.replacement == number else { return }
        item?.lanes[id]?.endReplacement(at: time)
        buffer.removeMedia(from: time, in: id.bufferTrack)
    }

    // MARK: Switching tracks

    private var playsAudio: Bool { configuration.playsAudio && item?.tracks.isEnabled(.audio) != false }

    mutating func switchSubtitles() {
        carryOut(item?.renditions.leaveSubtitles())
        guard let (index, sources) = sourcesInUse, let variant = sources[index] else { return }
        playSubtitles(of: variant, from: sources)
    }

    /// Called when audio is enabled or disabled. Separately loaded audio is dropped, but video is kept.
    mutating func switchAudio() {
        guard let (index, sources) = sourcesInUse, item?.isAudioOnly == false else { return }
        if playsAudio {
            changeAudible(of: index, from: sources)
            // Drop audio that was buffered earlier.
            guard item?.start != nil, item?.lanes[.audio] != nil else { return }
            effects.append(.take([.audio], of: .audio, from: .exact(playhead)))
        } else if item?.lanes[.audio] != nil {
            carryOut(item?.renditions.leaveAudio())
        }
    }

    private var sourcesInUse: (index: Int, VariantSources)? {
        guard let playlist = item?.multivariant, let index = item?.variantIndex, let base = item?.multivariantURL
        else { return nil }
        return (index, variantSources(of: playlist, base: base))
    }

    // MARK: Audio alone

    /// The variants with separate audio if only audio is played, or `nil` otherwise.
    var variantsWithSeparateAudio: Set<Int>? {
        guard item?.renditions.isAudioOnly == true else { return nil }
        return Set((item?.candidates ?? []).map(\.index).filter { audioURL(of: $0) != nil })
    }

    // MARK: Actions

    private var renditionFacts: RenditionChooser.Facts {
        var facts = RenditionChooser.Facts(
            playsAudio: playsAudio, playhead: playhead, start: item?.start,
            mainURL: item?.lanes[.main]?.playlistURL, mainEnd: item?.lanes[.main]?.loadedEnd,
            hasAudio: item?.lanes[.audio] != nil, hasSubtitles: item?.lanes[.subtitles] != nil)
        if let time = item?.lanes[.main]?.cursor?.time { facts.mainPlace = time }
        return facts
    }

    private mutating func carryOut(_ actions: [RenditionChooser.Action]?) {
        for action in actions ?? [] { carryOut(action) }
    }

    private mutating func carryOut(_ action: RenditionChooser.Action) {
        switch action {
        case .open(let id, let url):
            item?.lanes[id] = MediaLane(id: id, playlistURL: url)
            carryOut(item?.renditions.join(id, renditionFacts))
            requestPlaylist(of: id)
        case .redirect(let id, let url): redirect(id, to: url)
        case .remove(let id): removeLane(id)
        case .release(let id):
            for flight in (item?.lanes[id]?.segments ?? SegmentWindow()).reversed() { cancel(flight) }
            item?.lanes[id]?.segments.removeAll()
        case .move(let id, let time): item?.lanes[id]?.move(to: .time(time))
        case .discardForwardBuffer: discardForwardBuffer()
        case .empty(let id): buffer.removeAll(in: id.bufferTrack)
        case .clear(let id): effects.append(.clearLane(id))
        case .cover(let id, let range):
            buffer.insert(ForwardBuffer.Piece(range: range, byteCount: 0, isGap: true), in: id.bufferTrack)
        case .endLoaded(let id, let time): item?.lanes[id]?.setLoadedEnd(time)
        case .rejoin(let id, let time):
            guard item?.lanes[id]?.begin(.jump(loadedEnd: time), at: .time(time)) == true else { return }
            effects.append(.reopenLane(id))
            followPlaylist(of: id)
        case .replaceAudio(let time):
            guard item?.lanes[.audio] != nil else { return }
            let number = mediaSelection.numberReplacement()
            guard item?.lanes[.audio]?.begin(.replacement(number), at: .time(time)) == true else { return }
            item?.extent.reopen()
            effects.append(.reopenLane(.audio))
        case .require(let tracks): requireTracks(tracks)
        case .takeAudioFromVariant: effects.append(.takeAudioFromVariant)
        case .beginAudioOfVariant: item?.renditions.beginAudioOfVariant()
        }
    }
}
