package import HLSKitMedia

/// Tracks the disabled media types, and decides whether to load the variant's playlist for video.
///
/// Media of a disabled type is not decoded. If it has its own playlist, that is not loaded: video loading is suspended
/// if the audio has a separate rendition. Playback continues during the suspension. It also does not wait for resumed
/// video until as much video as audio is loaded.
package struct TrackSwitches: Sendable {
    /// The amount of buffered video that suffices, even if more audio is buffered.
    private static let safeLead = Duration.seconds(10)

    package private(set) var disabled: Set<MediaKind> = []

    mutating func set(_ type: MediaKind, isEnabled: Bool) {
        if isEnabled { disabled.remove(type) } else { disabled.insert(type) }
    }

    func isEnabled(_ type: MediaKind) -> Bool { !disabled.contains(type) }

    struct Facts: Sendable {
        /// The state of the main lane.
        var frames = MediaLane.Presence.required
        var areFramesComplete = false
        var hasSeparateAudio = false
        var framesAhead = Duration.zero
        var audioAhead = Duration.zero
    }

    enum Step: Sendable, Hashable {
        /// Stop loading video and drop loaded video.
        case rest
        /// Load video again from the playhead on, without waiting for it.
        case join
        /// Wait for video as for audio.
        case require
    }

    func step(_ facts: Facts) -> Step? {
        let mayIdle = !isEnabled(.video) && isEnabled(.audio) && facts.hasSeparateAudio
        switch facts.frames {
        case .required: return mayIdle ? .rest : nil
        case .idle: return mayIdle ? nil : .join
        case .joining:
            if mayIdle { return .rest }
            let isThere = facts.areFramesComplete || facts.framesAhead >= min(facts.audioAhead, Self.safeLead)
            return isThere || !facts.hasSeparateAudio ? .require : nil
        }
    }
}
