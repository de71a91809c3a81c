import HLSKitPlaylist
import HLSKitSelection

/// Decides which renditions are loaded beside a variant, and how another one takes the place of what is loaded.
package struct RenditionChooser: Sendable {
    /// A new audio rendition is heard no earlier than this after it was chosen, so that the change is prepared.
    package static let audioChangeLead = Duration.milliseconds(250)

    /// Only audio is played, and loaded as far as it is apart from frames.
    private(set) var isSoundOnly = false
    /// The audio that is played.
    @Shared private(set) var audibleOption: AudioRendition? = nil
    /// The language of the subtitles that are loaded; nil where undeclared.
    private(set) var legibleLanguage: String?
    /// Audio inside the variant is loaded beside its frames: it was chosen when they were loaded already.
    private(set) var loadsAudioOfVariant = false

    /// What the lanes of the item are like.
    struct Facts: Sendable {
        var playsAudio = true
        var playhead = Duration.zero
        /// nil until a playlist tells where the item starts.
        var start: Duration?
        /// The playlist of the frames; where its next segment begins, if that is known by time; where its media ends.
        var mainURL: String?
        var mainPlace: Duration?
        var mainEnd: Duration?
        var hasAudio = false
        var hasSubtitles = false
    }

    enum Action: Sendable, Hashable {
        /// A lane is added; then ``join(_:_:)`` is asked, and its playlist is requested.
        case open(LaneID, url: String)
        case redirect(LaneID, to: String)
        case remove(LaneID)
        /// Its segments under way are let go.
        case release(LaneID)
        /// It continues at this item time.
        case move(LaneID, to: Duration)
        /// What is loaded of the frames is dropped, but for the segment after the one that is played.
        case dropAhead
        /// Media that is loaded of it counts no longer; cues that are shown go.
        case empty(LaneID)
        case clear(LaneID)
        /// Nothing of it is to be waited for there.
        case cover(LaneID, Range<Duration>)
        /// What is loaded of it ends there.
        case endLoaded(LaneID, at: Duration)
        /// It begins again there, as after a jump.
        case rejoin(LaneID, at: Duration)
        /// What is loaded of the audio plays until media from there on is there.
        case replaceAudio(from: Duration)
        /// Lanes without whose media nothing is played.
        case require(ForwardBuffer.Tracks)
        /// Audio inside the variant is kept from its next segment on.
        case takeAudioFromVariant
        /// ``beginAudioOfVariant()`` is to be called.
        case beginAudioOfVariant
    }

    // MARK: Choice

    mutating func open(isSoundOnly: Bool) { self.isSoundOnly = isSoundOnly }

    /// The selection was made.
    ///
    /// - Parameter isAudibleWanted: variants are chosen by the audio; otherwise it is chosen by the variant.
    mutating func select(_ selection: MediaSelection, isAudibleWanted: Bool) {
        if isAudibleWanted {
            audibleOption = selection[.audible]?.renditions.first.map(AudioRendition.init)
        }
        legibleLanguage = selection[.legible]?.extendedLanguageTag
    }

    // MARK: Beside a variant

    /// The audio of a variant that is loaded from now on.
    mutating func playAudio(of variant: VariantStream, from sources: VariantSources, _ facts: Facts) -> [Action] {
        let audible = sources.audio(of: variant)
        audibleOption = audible.map(AudioRendition.init)
        if loadsAudioOfVariant, audible?.uri ?? variant.uri == variant.uri, let url = facts.mainURL {
            return [.redirect(.audio, to: url)]
        }
        loadsAudioOfVariant = false
        let isApart = facts.playsAudio && !isSoundOnly
        let url = isApart ? Self.url(of: audible, besides: variant, in: sources) : nil
        return lead(.audio, to: url, isThere: facts.hasAudio)
    }

    /// What is waited for, once the lane of the audio is there or not.
    func required(_ facts: Facts) -> [Action] { [.require(facts.hasAudio ? [.video, .audio] : .video)] }

    /// The subtitles of a variant that is loaded from now on.
    func playSubtitles(
        _ rendition: Rendition?, of variant: VariantStream, from sources: VariantSources, _ facts: Facts
    ) -> [Action] {
        lead(.subtitles, to: Self.url(of: rendition, besides: variant, in: sources), isThere: facts.hasSubtitles)
    }

    /// A lane that was added begins. Audio that comes in mid-play begins where the variant that it belongs to does.
    /// Subtitles begin at the playhead always: cues are wanted of what is being shown.
    func join(_ id: LaneID, _ facts: Facts) -> [Action] {
        guard id == .audio, let time = facts.mainPlace else { return [] }
        let place = Action.move(id, to: time)
        // Up to there what is loaded has audio of its own.
        guard facts.playhead < time else { return [place] }
        return [place, .empty(id), .cover(id, facts.playhead..<time), .endLoaded(id, at: time)]
    }

    /// A rendition's playlist, if it is none of the variant itself.
    private static func url(
        of rendition: Rendition?, besides variant: VariantStream, in sources: VariantSources
    ) -> String? {
        guard let uri = rendition?.uri, uri != variant.uri else { return nil }
        return sources.url(uri)
    }

    /// Audio inside the variant, and none at all, need no lane.
    private func lead(_ id: LaneID, to url: String?, isThere: Bool) -> [Action] {
        guard let url else { return [.remove(id)] }
        return [isThere ? .redirect(id, to: url) : .open(id, url: url)]
    }

    // MARK: Subtitles

    /// Others are selected. Cues of before leave at once, and those of now are loaded from here on.
    func leaveSubtitles() -> [Action] { [.remove(.subtitles), .empty(.subtitles), .clear(.subtitles)] }

    /// Where the subtitles are when the playhead has gone back to media that is loaded.
    struct Cues: Sendable {
        /// Where the next segment begins, and where the list does.
        var resume: Duration
        var listStart: Duration
        /// Cues that are loaded ahead of where the playhead is now.
        var ahead: Duration
    }

    /// The playhead is before where the subtitles were chosen: cues of there are loaded.
    func rejoin(_ cues: Cues, at time: Duration) -> [Action] {
        guard cues.resume > time, time >= cues.listStart, cues.ahead <= .zero else { return [] }
        return [.release(.subtitles), .empty(.subtitles), .rejoin(.subtitles, at: time)]
    }

    // MARK: Another view

    /// The other view is loaded from the segment after next on; what is loaded up to there plays on.
    func changeMain(of variant: VariantStream, from sources: VariantSources, _ facts: Facts) -> [Action] {
        guard let url = sources.mainURL(of: variant), url != facts.mainURL else { return [] }
        return [.dropAhead, .redirect(.main, to: url)]
    }

    // MARK: Other audio

    /// What brings the audio that was selected.
    enum AudioChange: Sendable, Hashable {
        /// Another variant has it. `dropsAhead`: only audio is played, and nothing else of it is of use.
        case variant(Int, dropsAhead: Bool)
        /// The playlist that takes the place of the frames'.
        case main
        case rendition(url: String)
        case insideVariant
    }

    /// - Parameters:
    ///   - index: the variant that is loaded.
    ///   - eligible: the variants that have it.
    ///   - throughput: in bits per second; nil where nothing is known.
    func changeAudio(
        of variant: VariantStream, at index: Int, from sources: VariantSources, eligible: [AssetVariant],
        throughput: Double?, playsAudio: Bool
    ) -> AudioChange {
        if !eligible.isEmpty, !eligible.contains(where: { $0.index == index }) {
            if isSoundOnly,
                let other = SoundOnlyRule().choose(from: eligible, isApart: { sources.audioURL(of: $0.index) != nil })
            {
                return .variant(other.index, dropsAhead: true)
            }
            if let decision = InitialVariantRule().choose(from: eligible, knownThroughput: throughput) {
                return .variant(eligible.playlistIndex(of: decision.variantID) ?? index, dropsAhead: false)
            }
        }
        if isSoundOnly { return .main }
        guard playsAudio, let url = Self.url(of: sources.audio(of: variant), besides: variant, in: sources) else {
            return .insideVariant
        }
        return .rendition(url: url)
    }

    /// Separate audio is to come: until it is there, that of the variant is what counts.
    func standIn(_ facts: Facts) -> [Action] {
        let end = facts.mainEnd ?? facts.playhead
        let cover = facts.playhead < end ? [Action.cover(.audio, facts.playhead..<end)] : []
        return [.empty(.audio)] + cover + [.require([.video, .audio])]
    }

    /// Loads the audio again from the playhead on. What is loaded plays until the new one is there.
    mutating func replaceAudio(with url: String, _ facts: Facts) -> [Action] {
        loadsAudioOfVariant = false
        guard let start = facts.start else { return [.redirect(.audio, to: url)] }
        let begin = max(facts.playhead + Self.audioChangeLead, start)
        return [
            .release(.audio), .move(.audio, to: begin), .redirect(.audio, to: url), .replaceAudio(from: begin),
        ]
    }

    /// Plays the audio inside the variant, which was not kept until now: it is loaded beside the frames, like that of a
    /// rendition, until what is loaded is dropped for some other reason. So nothing has to wait.
    mutating func playAudioOfVariant(_ facts: Facts) -> [Action] {
        guard facts.hasAudio, let url = facts.mainURL else { return [] }
        guard facts.start != nil else { return keepAudioOfVariant() }
        return (facts.playsAudio ? replaceAudio(with: url, facts) : []) + [.beginAudioOfVariant]
    }

    /// No audio is played: what is loaded of that of a rendition goes.
    mutating func leaveAudio() -> [Action] {
        loadsAudioOfVariant = false
        return [.remove(.audio), .empty(.audio), .require(.video), .clear(.audio)]
    }

    /// The audio inside the variant is loaded beside its frames from now on.
    mutating func beginAudioOfVariant() { loadsAudioOfVariant = true }

    /// From here on the audio inside the variant is kept as its frames are.
    mutating func keepAudioOfVariant() -> [Action] {
        loadsAudioOfVariant = false
        return [.remove(.audio), .empty(.audio), .require(.video), .clear(.audio), .takeAudioFromVariant]
    }
}
