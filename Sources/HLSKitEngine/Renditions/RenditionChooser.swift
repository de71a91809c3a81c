import HLSKitPlaylist
import HLSKitSelection

/// Decides which renditions to load with a variant, and how a new one replaces loaded media.
package struct RenditionChooser: Sendable {
    /// The minimum time between selecting an audio rendition and hearing it, needed to prepare the change.
    package static let audioChangeLead = Duration.milliseconds(250)

    /// Whether only audio is played. Video is then not loaded if the audio is separate.
    private(set) var isAudioOnly = false
    @Shared private(set) var audibleOption: AudioRendition? = nil
    /// The language of the loaded subtitles, or `nil` if it is undeclared.
    private(set) var legibleLanguage: String?
    /// Whether audio inside the variant is loaded separately.
    ///
    /// This is necessary if it was selected after the video was loaded.
    private(set) var loadsAudioOfVariant = false

    struct Facts: Sendable {
        var playsAudio = true
        var playhead = Duration.zero
        /// `nil` until a playlist determines the item's start.
        var start: Duration?
        /// The playlist of the video, the start of its next segment if known, and the end of its media.
        var mainURL: String?
        var mainPlace: Duration?
        var mainEnd: Duration?
        var hasAudio = false
        var hasSubtitles = false
    }

    enum Action: Sendable, Hashable {
        /// Add a lane, call ``join(_:_:)``, and request its playlist.
        case open(LaneID, url: String)
        case redirect(LaneID, to: String)
        case remove(LaneID)
        /// Cancel the lane's current segments.
        case release(LaneID)
        /// Continue the lane at this item time.
        case move(LaneID, to: Duration)
        /// Drop loaded video except the segment after the playing one.
        case discardForwardBuffer
        /// Ignore the lane's loaded media (`empty`), or hide its visible cues (`clear`).
        case empty(LaneID)
        case clear(LaneID)
        /// Do not wait for the lane's media in this range.
        case cover(LaneID, Range<Duration>)
        /// End the lane's loaded media at this time.
        case endLoaded(LaneID, at: Duration)
        /// Restart the lane at this time, as after a jump.
        case rejoin(LaneID, at: Duration)
        /// Play loaded audio until new media from this time on is available.
        case replaceAudio(from: Duration)
        /// The tracks that playback cannot do without.
        case require(ForwardBuffer.Tracks)
        /// Keep audio inside the variant from its next segment on.
        case takeAudioFromVariant
        /// Call ``beginAudioOfVariant()``.
        case beginAudioOfVariant
    }

    // MARK: Choice

    mutating func open(isAudioOnly: Bool) { self.isAudioOnly = isAudioOnly }

    /// Called when the media selection has been made.
    ///
    /// - Parameter isAudibleWanted: Whether the audio determines the variant. Otherwise the variant determines the
    ///   audio.
    mutating func select(_ selection: MediaSelection, isAudibleWanted: Bool) {
        if isAudibleWanted {
            audibleOption = selection[.audible]?.renditions.first.map(AudioRendition.init)
        }
        legibleLanguage = selection[.legible]?.extendedLanguageTag
    }

    // MARK: Renditions of a variant

    mutating func playAudio(of variant: VariantStream, from sources: VariantSources, _ facts: Facts) -> [Action] {
        let audible = sources.audio(of: variant)
        audibleOption = audible.map(AudioRendition.init)
        if loadsAudioOfVariant, audible?.uri ?? variant.uri == variant.uri, let url = facts.mainURL {
            return [.redirect(.audio, to: url)]
        }
        loadsAudioOfVariant = false
        let isApart = facts.playsAudio && !isAudioOnly
        let url = isApart ? Self.url(of: audible, except: variant, in: sources) : nil
        return lead(.audio, to: url, isThere: facts.hasAudio)
    }

    func required(_ facts: Facts) -> [Action] { [.require(facts.hasAudio ? [.video, .audio] : .video)] }

    func playSubtitles(
        _ rendition: Rendition?, of variant: VariantStream, from sources: VariantSources, _ facts: Facts
    ) -> [Action] {
        lead(.subtitles, to: Self.url(of: rendition, except: variant, in: sources), isThere: facts.hasSubtitles)
    }

    /// Determines where a new lane begins.
    ///
    /// Audio added during playback begins where its variant's next segment does. Subtitles begin at the playhead,
    /// because cues for the current frame are needed.
    func join(_ id: LaneID, _ facts: Facts) -> [Action] {
        guard id == .audio, let time = facts.mainPlace else { return [] }
        let place = Action.move(id, to: time)
        // Loaded media has its own audio up to that time.
        guard facts.playhead < time else { return [place] }
        return [place, .empty(id), .cover(id, facts.playhead..<time), .endLoaded(id, at: time)]
    }

    /// The URL of a rendition's playlist, or `nil` if the variant's playlist contains the rendition.
    private static func url(
        of rendition: Rendition?, except variant: VariantStream, in sources: VariantSources
    ) -> String? {
        guard let uri = rendition?.uri, uri != variant.uri else { return nil }
        return sources.url(uri)
    }

    /// Without a URL, no lane is needed: the audio is inside the variant, or there is none.
    private func lead(_ id: LaneID, to url: String?, isThere: Bool) -> [Action] {
        guard let url else { return [.remove(id)] }
        return [isThere ? .redirect(id, to: url) : .open(id, url: url)]
    }

    // MARK: Subtitles

    /// Called when other subtitles are selected. Old cues disappear at once, and new ones are loaded from now on.
    func leaveSubtitles() -> [Action] { [.remove(.subtitles), .empty(.subtitles), .clear(.subtitles)] }

    /// The position of the subtitles after the playhead has moved back to loaded media.
    struct Cues: Sendable {
        /// The start of the next segment, and the start of the playlist.
        var resume: Duration
        var listStart: Duration
        /// The duration of loaded cues after the playhead.
        var ahead: Duration
    }

    /// Loads earlier cues if the playhead is before the time at which the subtitles were selected.
    func rejoin(_ cues: Cues, at time: Duration) -> [Action] {
        guard cues.resume > time, time >= cues.listStart, cues.ahead <= .zero else { return [] }
        return [.release(.subtitles), .empty(.subtitles), .rejoin(.subtitles, at: time)]
    }

    // MARK: Another view

    /// Loads another view from the segment after the next one. Media loaded up to there is played.
    func changeMain(of variant: VariantStream, from sources: VariantSources, _ facts: Facts) -> [Action] {
        guard let url = sources.mainURL(of: variant), url != facts.mainURL else { return [] }
        return [.discardForwardBuffer, .redirect(.main, to: url)]
    }

    // MARK: Other audio

    enum AudioChange: Sendable, Hashable {
        /// Switch to another variant. `dropsAhead` means that only audio is played, so other loaded media is useless.
        case variant(Int, dropsAhead: Bool)
        /// Switch the main lane to another playlist.
        case main
        case rendition(url: String)
        case insideVariant
    }

    /// - Parameters:
    ///   - index: The loaded variant.
    ///   - eligible: The variants that have the selected audio.
    ///   - throughput: The throughput in bits per second, or `nil` if it is unknown.
    func changeAudio(
        of variant: VariantStream, at index: Int, from sources: VariantSources, eligible: [AssetVariant],
        throughput: Double?, playsAudio: Bool
    ) -> AudioChange {
        if !eligible.isEmpty, !eligible.contains(where: { $0.index == index }) {
            if isAudioOnly,
                let other = AudioOnlyRule().choose(from: eligible, isApart: { sources.audioURL(of: $0.index) != nil })
            {
                return .variant(other.index, dropsAhead: true)
            }
            if let decision = InitialVariantRule().choose(from: eligible, knownThroughput: throughput) {
                return .variant(eligible.playlistIndex(of: decision.variantID) ?? index, dropsAhead: false)
            }
        }
        if isAudioOnly { return .main }
        guard playsAudio, let url = Self.url(of: sources.audio(of: variant), except: variant, in: sources) else {
            return .insideVariant
        }
        return .rendition(url: url)
    }

    /// Uses the variant's audio until separate audio is loaded.
    func standIn(_ facts: Facts) -> [Action] {
        let end = facts.mainEnd ?? facts.playhead
        let cover = facts.playhead < end ? [Action.cover(.audio, facts.playhead..<end)] : []
        return [.empty(.audio)] + cover + [.require([.video, .audio])]
    }

    /// Loads the audio again from the playhead on. Loaded audio is played until the new audio is available.
    mutating func replaceAudio(with url: String, _ facts: Facts) -> [Action] {
        loadsAudioOfVariant = false
        guard let start = facts.start else { return [.redirect(.audio, to: url)] }
        let begin = max(facts.playhead + Self.audioChangeLead, start)
        return [
            .release(.audio), .move(.audio, to: begin), .redirect(.audio, to: url), .replaceAudio(from: begin),
        ]
    }

    /// Plays the audio inside the variant, which was not kept so far.
    ///
    /// It is loaded separately, like a rendition, until loaded media is dropped for another reason. So playback does
    /// not have to wait.
    mutating func playAudioOfVariant(_ facts: Facts) -> [Action] {
        guard facts.hasAudio, let url = facts.mainURL else { return [] }
        guard facts.start != nil else { return keepAudioOfVariant() }
        return (facts.playsAudio ? replaceAudio(with: url, facts) : []) + [.beginAudioOfVariant]
    }

    mutating func leaveAudio() -> [Action] {
        loadsAudioOfVariant = false
        return [.remove(.audio), .empty(.audio), .require(.video), .clear(.audio)]
    }

    mutating func beginAudioOfVariant() { loadsAudioOfVariant = true }

    /// Keeps the audio inside the variant along with its video from now on.
    mutating func keepAudioOfVariant() -> [Action] {
        loadsAudioOfVariant = false
        return [.remove(.audio), .empty(.audio), .require(.video), .clear(.audio), .takeAudioFromVariant]
    }
}
