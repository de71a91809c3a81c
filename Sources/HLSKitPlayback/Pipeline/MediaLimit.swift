import HLSKitEngine
import HLSKitMedia

/// Removes media presented after the start of a break, if it was loaded before the break was known.
struct MediaLimit: Sendable {
    var until: Duration?
    /// Whether a sample past the limit has arrived. All later samples are past it, too.
    private(set) var isPassed = false
    private var hidden = NonDisplayedFrames()

    init(until: Duration? = nil) { self.until = until }

    func bound(_ window: PresentationWindow) -> PresentationWindow {
        guard let until, window.until.map({ $0 > until }) ?? true else { return window }
        var window = window
        window.until = until
        return window
    }

    /// Returns whether a sample is copied to outputs that take undecoded media. Call it in the order of the samples.
    ///
    /// A sync sample may be past the limit although it is decoded before it.
    mutating func takes(_ sample: MediaSample, _ timing: CopySelection.Timing, isVideo: Bool) -> Bool {
        guard let until, !isPassed else { return until == nil }
        isPassed = timing.decoding >= until || isVideo && sample.isSync && timing.presentation >= until
        return !isPassed
    }

    mutating func place(_ sample: MediaSample, of track: MediaTrack, offset: Duration) -> MediaSample {
        guard let until, track.mediaType == .video else { return sample }
        return hidden.hide(sample, before: until, offset: offset, timescale: track.timescale)
    }
}
