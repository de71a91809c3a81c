import HLSKitEngine
import HLSKitMedia

/// Leaves away what is presented from a break on, of media that was loaded before the break was known.
struct MediaLimit: Sendable {
    /// The item time of the break; nil for none.
    var until: Duration?
    /// A sample of behind the limit has come: all that follow it are.
    private(set) var isPassed = false
    private var hidden = HiddenPictures()

    init(until: Duration? = nil) { self.until = until }

    /// The window without what is behind the limit.
    func bound(_ window: PresentationWindow) -> PresentationWindow {
        guard let until, window.until.map({ $0 > until }) ?? true else { return window }
        var window = window
        window.until = until
        return window
    }

    /// Whether a sample is copied that outputs take undecoded. Samples are asked for in their order.
    ///
    /// A picture that decoding can start with is decoded before it is shown, and may be of behind the limit by that.
    mutating func takes(_ sample: MediaSample, _ timing: CopySelection.Timing, isVideo: Bool) -> Bool {
        guard let until, !isPassed else { return until == nil }
        isPassed = timing.decoding >= until || isVideo && sample.isSync && timing.presentation >= until
        return !isPassed
    }

    /// A sample as it is copied. One that is shown behind the limit is not shown before it.
    mutating func place(_ sample: MediaSample, of track: MediaTrack, offset: Duration) -> MediaSample {
        guard let until, track.mediaType == .video else { return sample }
        return hidden.hide(sample, before: until, offset: offset, timescale: track.timescale)
    }
}
