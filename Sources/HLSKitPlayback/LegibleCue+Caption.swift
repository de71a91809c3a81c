public import HLSKitCaptions
import HLSKitMedia
public import HLSKitSelection

extension LegibleCue {
    /// The cue as a caption: the style of each part of its text, and its position.
    ///
    /// For WebVTT, each access computes the caption again.
    public var caption: Caption {
        if var styled {
            styled.timeRange = timeRange
            return styled
        }
        // The times of the WebVTT cue are not used.
        let cue = WebVTTCue(
            identifier: identifier, start: .zero, end: .zero, settings: settings, payload: payload)
        return WebVTTCaptions().caption(cue, timeRange: timeRange)
    }
}
