import HLSKitEngine
import HLSKitMedia

/// Decides which samples outputs get that take them undecoded: those of a window, with what leads up to its first
/// picture, and none twice.
///
/// Copies are in decoding order and are handed over at the time at which they are decoded.
struct CopySelection: Sendable {
    enum Verdict: Sendable {
        /// It was handed over before, or is of no use.
        case dropped
        /// It lies outside of the window. A picture is kept for those that need it.
        case outside
        /// It is wanted.
        case wanted
    }

    /// When a sample is decoded and shown, in item time, and for how long.
    struct Timing: Sendable {
        var decoding: Duration
        var presentation: Duration
        var length: Duration
    }

    private var leadIn = LeadIn()
    private var overlap = OverlapFilter()
    private var window = PresentationWindow()
    private var isVideo = false
    /// What was handed over may come once more.
    private var comesAgain = false

    /// Samples are read once more, from before the last that was handed over or it.
    mutating func continueAnew() {
        leadIn = LeadIn()
        comesAgain = true
    }

    /// Samples of a new run follow.
    mutating func begin(_ track: MediaTrack, in window: PresentationWindow) {
        leadIn = LeadIn()
        overlap.begin(track, dropsOverlap: window.dropsOverlap || comesAgain)
        comesAgain = false
        self.window = window
        isVideo = track.mediaType == .video
    }

    /// Samples are asked for in their order.
    mutating func judge(_ sample: MediaSample, _ timing: Timing) -> Verdict {
        guard
            overlap.admits(
                sample, decodingTime: timing.decoding, time: timing.presentation, length: timing.length)
        else { return .dropped }
        let isWanted =
            isInside(timing.decoding, timing.length)
            // Once pictures are copied, those that are shown before the window are needed by others.
            || isVideo && leadIn.isPassed && (window.until.map { timing.decoding < $0 } ?? true)
            || isVideo && isInside(timing.presentation, timing.length)
        guard !isWanted else { return .wanted }
        if isVideo { leadIn.hold(sample) }
        return .outside
    }

    /// What is handed over for a sample that is wanted: pictures that lead up to it, and it.
    mutating func take(_ sample: MediaSample, _ timing: Timing) -> [MediaSample] {
        overlap.note(sample, decodingTime: timing.decoding, time: timing.presentation)
        return leadIn.pass(with: sample)
    }

    private func isInside(_ time: Duration, _ length: Duration) -> Bool {
        if let from = window.from, time + length <= from || window.isEmpty { return false }
        return window.until.map { time < $0 } ?? true
    }
}
