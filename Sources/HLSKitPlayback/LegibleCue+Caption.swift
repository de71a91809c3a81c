public import HLSKitCaptions
import HLSKitMedia
public import HLSKitSelection

extension LegibleCue {
    /// The cue as a caption: how each piece of its text looks, and where it stands. Of WebVTT it is computed again each
    /// time.
    public var caption: Caption {
        if var styled {
            styled.timeRange = timeRange
            return styled
        }
        // The times of the cue itself do not matter.
        let cue = WebVTTCue(
            identifier: identifier, start: .zero, end: .zero, settings: settings, payload: payload)
        return WebVTTCaptions().caption(cue, timeRange: timeRange)
    }
}
