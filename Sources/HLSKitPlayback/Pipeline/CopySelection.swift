import HLSKitEngine
import HLSKitMedia
import HLSKitOutput

/// Selects the samples for outputs that take undecoded media.
///
/// The selection contains the samples in a window and the samples that its first frame depends on, each once. Copies
/// are in decoding order and are delivered at their decoding time.
struct CopySelection: Sendable {
    enum Verdict: Sendable {
        /// The sample was delivered before or is not useful.
        case dropped
        /// The sample is outside the window. Video samples are kept for frames that depend on them.
        case outside
        case wanted
    }

    /// The decoding time, presentation time and duration of a sample, in item time.
    struct Timing: Sendable {
        var decoding: Duration
        var presentation: Duration
        var length: Duration
    }

    private var leadIn = Preroll()
    private var audioLeadIn = AudioLeadIn()
    private var pastEnd = FramesPastEnd<MediaSample>()
    private var overlap = OverlapFilter()
    private var window = PresentationWindow()
    private var isVideo = false
    private var comesAgain = false

    /// Called when samples are read again, starting at or before the last delivered sample.
    mutating func restart() {
        leadIn = Preroll()
        _ = audioLeadIn.take()
        comesAgain = true
    }

    mutating func begin(_ track: MediaTrack, in window: PresentationWindow) {
        leadIn = Preroll()
        audioLeadIn.begin()
        _ = pastEnd.take()
        overlap.begin(track, dropsOverlap: window.dropsOverlap || comesAgain)
        comesAgain = false
        self.window = window
        isVideo = track.mediaType == .video
    }

    /// Returns the verdict on a sample. Call it in the order of the samples.
    mutating func judge(_ sample: MediaSample, _ timing: Timing) -> Verdict {
        guard
            overlap.admits(
                sample, decodingTime: timing.decoding, time: timing.presentation, length: timing.length)
        else { return .dropped }
        let isWanted =
            isInside(timing.decoding, timing.length)
            // After the first copied frame, other frames depend on those shown before the window.
            || isVideo && leadIn.isPassed && (window.until.map { timing.decoding < $0 } ?? true)
            || isVideo && isInside(timing.presentation, timing.length)
        if isWanted, isVideo, let until = window.until, timing.presentation >= until {
            pastEnd.hold(sample)
            return .outside
        }
        guard !isWanted else { return .wanted }
        if isVideo { leadIn.hold(sample) } else { audioLeadIn.hold(sample) }
        return .outside
    }

    /// Returns the audio samples before the first one that was ever wanted, for files that begin with earlier video.
    mutating func takeAudioLeadIn() -> [MediaSample] { audioLeadIn.take() }

    mutating func take(_ sample: MediaSample, _ timing: Timing) -> [MediaSample] {
        overlap.note(sample, decodingTime: timing.decoding, time: timing.presentation)
        return leadIn.pass(with: pastEnd.take() + [sample])
    }

    private func isInside(_ time: Duration, _ length: Duration) -> Bool {
        if let from = window.from, time + length <= from || window.isEmpty { return false }
        return window.until.map { time < $0 } ?? true
    }
}
