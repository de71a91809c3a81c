import HLSPlaylist
import HLSTime

/// Audible, legible and visual options: which is played, and changing it while playing.
///
/// See docs/behaviour/media-selection.md.
extension PlaybackEngine {
    /// A new audio rendition is heard no earlier than this after it was chosen, so that the change is prepared.
    static let audioChangeLead = Duration.milliseconds(250)

    // MARK: Choice

    /// Works out what the groups of the item offer, and what is selected of them before there is a variant.
    mutating func openMediaSelection(of playlist: MultivariantPlaylist) {
        mediaSelection.setGroups(of: playlist, canDecode: configuration.canPlayCodec ?? { _ in true })
        refreshMediaSelection(base: item?.multivariantURL)
    }

    /// Selects what the user chose, or prefers, in each group. A preference that nothing meets fails the item at its
    /// start; later, the selection stays as it is.
    private mutating func refreshMediaSelection(base: String?, isStart: Bool = true) {
        let hasChanged: Bool
        do {
            hasChanged = try mediaSelection.select(audio: preferences.audio, subtitles: preferences.subtitles)
        } catch {
            let error = error.error(url: base)
            guard isStart else { return effects.append(.publish(.warning("\(base ?? ""): \(error.cause)"))) }
            return failItem(error)
        }
        let selected = mediaSelection.current
        if mediaSelection.isWanted(.audible, wish: preferences.audio) {
            item?.audibleOption = selected[.audible]?.renditions.first.map(VariantCandidate.AudioOption.init)
        }
        item?.legibleLanguage = selected[.legible]?.extendedLanguageTag
        if hasChanged { effects.append(.publish(.mediaSelectionChanged(selected))) }
    }

    /// The playlist of a variant's pictures: that of the visual option that is selected, else the variant's own. Where
    /// only sound is wanted, the playlist of that.
    func mainURL(of variant: Variant, in playlist: MultivariantPlaylist, base: String) -> String? {
        if item?.isSoundOnly == true, let uri = audio(of: variant, in: playlist)?.uri {
            return URIReference.resolve(uri, against: base)
        }
        let views = playlist.renditions.filter { $0.type == .video && $0.groupID == variant.video }
        let uri = mediaSelection.current[.visual]?.rendition(in: views)?.uri ?? variant.uri
        return URIReference.resolve(uri, against: base)
    }

    /// Chooses among the renditions of the variant that is loaded from now on.
    mutating func chooseRenditions(for variant: Variant, of playlist: MultivariantPlaylist, base: String) {
        guard item?.error == nil else { return }
        let audio = playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio }
        let audible = mediaSelection.current[.audible]?.rendition(in: audio)
        item?.audibleOption = audible.map(VariantCandidate.AudioOption.init)
        if item?.loadsAudioOfVariant == true, audible?.uri ?? variant.uri == variant.uri,
            let url = item?.lanes[.main]?.playlistURL
        {
            redirect(.audio, to: url)
        } else {
            item?.loadsAudioOfVariant = false
            let isApart = configuration.playsAudio && item?.isSoundOnly != true
            setLane(.audio, to: isApart ? audible : nil, variantURI: variant.uri, base: base)
        }
        var required: ForwardBuffer.Tracks = [.video]
        if item?.lanes[.audio] != nil { required.insert(.audio) }
        buffer.setRequiredTracks(required)
        setLane(.subtitles, to: subtitles(of: variant, in: playlist), variantURI: variant.uri, base: base)
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

    /// Audio that comes in mid-play begins where the variant that it belongs to does. Subtitles begin at the playhead
    /// always: cues are wanted of what is being shown.
    private mutating func join(_ id: LaneID) {
        guard id == .audio, let item, let main = item.lanes[.main], case .time(let time) = main.cursor else { return }
        self.item?.lanes[id]?.move(to: .time(time))
        // Up to there what is loaded has audio of its own.
        let playhead = playhead
        guard playhead < time else { return }
        buffer.removeAll(in: id.bufferTrack)
        buffer.insert(ForwardBuffer.Piece(range: playhead..<time, byteCount: 0, isGap: true), in: id.bufferTrack)
        self.item?.lanes[id]?.setLoadedEnd(time)
    }

    /// The playhead has gone back to media that is loaded, to before the subtitles were chosen: cues of there are loaded.
    mutating func rejoinSubtitles(at time: Duration) {
        guard let lane = item?.lanes[.subtitles], let tracker = lane.tracker, lane.cursor != nil,
            lane.resumeTime(in: tracker) > time, time >= tracker.start,
            buffer.forwardDuration(of: .legible, ForwardBuffer.Situation(playhead: time)) <= .zero
        else { return }
        for flight in lane.segments.reversed() { cancel(flight) }
        buffer.removeAll(in: .legible)
        guard item?.lanes[.subtitles]?.begin(.jump(loadedEnd: time), at: .time(time)) == true else { return }
        effects.append(.reopenLane(.subtitles))
        followPlaylist(of: .subtitles)
    }

    // MARK: Changing

    /// The user's choice, or criteria, have changed. Playback goes on meanwhile.
    mutating func applyMediaSelection() {
        guard let item, item.error == nil, item.pendingFailure == nil else { return }
        guard item.multivariant != nil else { return applyClosedCaptions() }
        guard let playlist = item.multivariant, let index = item.variantIndex, let base = item.multivariantURL
        else { return }
        let before = mediaSelection.current
        refreshMediaSelection(base: base, isStart: false)
        // The media itself, with what is selected of it, comes back later.
        guard self.item?.trick == nil, before != mediaSelection.current else { return }
        if before[.legible] != mediaSelection.current[.legible] { changeLegible(playlist, index, base: base) }
        if before[.audible] != mediaSelection.current[.audible] { changeAudible(playlist, index, base: base) }
        if before[.visual] != mediaSelection.current[.visual] { changeVisual(playlist, base: base) }
    }

    /// Loads the other view from the segment after next on; what is loaded up to there plays on.
    private mutating func changeVisual(_ playlist: MultivariantPlaylist, base: String) {
        guard let index = item?.variantIndex,
            let url = mainURL(of: playlist.variants[index], in: playlist, base: base),
            url != item?.lanes[.main]?.playlistURL
        else { return }
        dropAhead()
        redirect(.main, to: url)
    }

    private mutating func changeLegible(_ playlist: MultivariantPlaylist, _ index: Int, base: String) {
        let variant = playlist.variants[index]
        // Cues of before leave at once, and those of now are loaded from here on.
        removeLane(.subtitles)
        buffer.removeAll(in: LaneID.subtitles.bufferTrack)
        effects.append(.clearLane(.subtitles))
        setLane(.subtitles, to: subtitles(of: variant, in: playlist), variantURI: variant.uri, base: base)
    }

    private mutating func changeAudible(_ playlist: MultivariantPlaylist, _ index: Int, base: String) {
        let eligible = eligibility().eligible
        if !eligible.isEmpty, !eligible.contains(where: { $0.index == index }) {
            // Another variant has it: the pictures go on there with the next segment.
            let input = InitialVariantRule().choose(
                from: eligible, knownThroughput: loading.estimatedBitsPerSecond(at: now),
                startsOnFirstEligibleVariant: false)
            if item?.isSoundOnly == true, let other = cheapestSound(of: eligible) {
                dropAhead()
                return use(other.index, explanation: "it has the audio that was chosen")
            }
            if let input { return changeAudible(with: input.variantIndex) }
        }
        if item?.isSoundOnly == true { return changeVisual(playlist, base: base) }
        let variant = playlist.variants[index]
        let group = playlist.renditions.filter { $0.type == .audio && $0.groupID == variant.audio }
        let rendition = mediaSelection.current[.audible]?.rendition(in: group)
        guard configuration.playsAudio, let uri = rendition?.uri, uri != variant.uri,
            let url = URIReference.resolve(uri, against: base)
        else {
            return playAudioOfVariant()
        }
        replaceAudio(with: url)
    }

    private mutating func changeAudible(with index: Int) {
        use(index, explanation: "it has the audio that was chosen")
        if let url = item?.lanes[.audio]?.playlistURL { replaceAudio(with: url) }
    }

    /// Loads the audio anew from the playhead on. What is loaded plays until the new one is there.
    private mutating func replaceAudio(with url: String) {
        guard configuration.playsAudio else { return }
        item?.loadsAudioOfVariant = false
        if item?.lanes[.audio] == nil { standIn(for: url) }
        guard let item, item.start != nil, let old = item.lanes[.audio] else { return redirect(.audio, to: url) }
        for flight in old.segments.reversed() { cancel(flight) }
        let begin = max(playhead + Self.audioChangeLead, item.start ?? .zero)
        self.item?.lanes[.audio]?.segments.removeAll()
        self.item?.lanes[.audio]?.move(to: .time(begin))
        redirect(.audio, to: url)
        guard self.item?.lanes[.audio] != nil else { return }
        lastReplacement += 1
        let number = lastReplacement
        if self.item?.lanes[.audio]?.begin(.replacement(number), at: .time(begin)) == true {
            self.item?.extent.reopen()
            effects.append(.reopenLane(.audio))
        }
    }

    /// Until separate audio is there, that of the variant is what counts.
    private mutating func standIn(for url: String) {
        // Whatever it is called, it is not `url`: the lane is led there like one that was in use.
        item?.lanes[.audio] = MediaLane(id: .audio, playlistURL: "")
        let (playhead, end) = (playhead, item?.lanes[.main]?.loadedEnd ?? playhead)
        buffer.removeAll(in: .audio)
        if playhead < end {
            buffer.insert(ForwardBuffer.Piece(range: playhead..<end, byteCount: 0, isGap: true), in: .audio)
        }
        buffer.setRequiredTracks([.video, .audio])
    }

    /// Plays the audio inside the variant, which was not kept until now: it is loaded beside the pictures, like that of a
    /// rendition, until what is loaded is dropped for some other reason. So nothing has to wait.
    private mutating func playAudioOfVariant() {
        guard item?.lanes[.audio] != nil, let url = item?.lanes[.main]?.playlistURL else { return }
        guard item?.start != nil else { return keepAudioOfVariant() }
        replaceAudio(with: url)
        item?.loadsAudioOfVariant = true
    }

    /// From here on the audio inside the variant is kept as its pictures are.
    mutating func keepAudioOfVariant() {
        item?.loadsAudioOfVariant = false
        removeLane(.audio)
        buffer.removeAll(in: .audio)
        buffer.setRequiredTracks([.video])
        effects.append(.clearLane(.audio))
        effects.append(.takeAudioFromVariant)
    }

    /// The first media of a new rendition is there: what was loaded of the old one behind `time` is gone.
    mutating func noteReplaced(_ id: LaneID, by number: Int, from time: Duration) {
        guard item?.lanes[id]?.replacement == number else { return }
        item?.lanes[id]?.endReplacement(at: time)
        buffer.removeMedia(from: time, in: id.bufferTrack)
    }
}

extension VariantCandidate.AudioOption {
    fileprivate init(_ rendition: Rendition) {
        self.init(id: rendition.optionID, language: rendition.language, channelCount: rendition.channelCount)
    }
}
