public import HLSCaptions
import HLSMedia

extension LegibleCue {
    /// The cue as a caption: its markup as styles, its settings as a region. Computed anew each time.
    public var caption: Caption {
        // The times of the cue itself do not matter.
        let cue = WebVTTCue(
            identifier: identifier, start: .zero, end: .zero, settings: settings, payload: payload)
        return WebVTTCaptions().caption(cue, timeRange: timeRange)
    }
}
