package import HLSKitMedia

/// Knows which kinds of media are switched off, and decides whether the playlist of the frames is loaded for them.
///
/// Media of a kind that is switched off is not decoded. Where it has a playlist of its own, that is not loaded: the frames
/// rest while the audio is a rendition's. Playing goes on meanwhile and when they come back: until as much of them is
/// loaded as of the audio, nothing waits for them.
///
/// See docs/behaviour/media-selection.md; I04.
package struct TrackSwitches: Sendable {
    /// Frames that are ahead by this are waited for again, however much audio is.
    private static let safeLead = Duration.seconds(10)

    package private(set) var disabled: Set<MediaKind> = []

    mutating func set(_ type: MediaKind, isEnabled: Bool) {
        if isEnabled { disabled.remove(type) } else { disabled.insert(type) }
    }

    func isEnabled(_ type: MediaKind) -> Bool { !disabled.contains(type) }

    /// What the answer depends on.
    struct Facts: Sendable {
        /// The lane of the variant.
        var frames = MediaLane.Presence.required
        /// No further segment of it comes.
        var areFramesComplete = false
        /// The audio has a lane of its own.
        var hasSeparateAudio = false
        /// Media that is loaded ahead of the playhead.
        var framesAhead = Duration.zero
        var audioAhead = Duration.zero
    }

    enum Step: Sendable, Hashable {
        /// The frames are not loaded any more, and what is loaded of them goes.
        case rest
        /// They are loaded again from the playhead on, and not waited for.
        case join
        /// They are waited for like the audio.
        case require
    }

    func step(_ facts: Facts) -> Step? {
        let mayRest = !isEnabled(.video) && isEnabled(.audio) && facts.hasSeparateAudio
        switch facts.frames {
        case .required: return mayRest ? .rest : nil
        case .resting: return mayRest ? nil : .join
        case .joining:
            if mayRest { return .rest }
            let isThere = facts.areFramesComplete || facts.framesAhead >= min(facts.audioAhead, Self.safeLead)
            return isThere || !facts.hasSeparateAudio ? .require : nil
        }
    }
}
