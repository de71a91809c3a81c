package import HLSKitEngine
package import HLSKitLoading
package import HLSKitMedia

/// The output of a lane: samples with their item times, in decoding order.
package enum LaneOutput: Sendable {
    /// The samples that follow belong to this track. If `isNewSequence`, decoders are drained first.
    case track(MediaTrack, window: PresentationWindow, isNewSequence: Bool)
    /// Parameter sets for the decoder of the last announced track, if its samples may lack them.
    case parameterSets([UInt8], MediaKind)
    /// `offset` is the offset from timestamps to item time.
    case sample(MediaSample, MediaKind, offset: Duration)
    /// The previous frame is a sync sample with this item time.
    case sync(Duration)
    /// The output that follows replaces the lane's media from this item time on.
    case cut(Duration)
    case cues(CueBatch)
    case closedCaptions(ClosedCaptionData, at: Duration, duration: Duration)
    case metadata(TimedMetadata, at: Duration, of: SegmentID)
    case fact(MediaFact)
    /// Media of a wanted kind is omitted because it cannot be used.
    case omitted(HLSError)
    case note(String)

    /// Whether it is handed on before it is known whether the media of its segment is used.
    var isNews: Bool {
        switch self {
        case .fact(.tracks), .fact(.headNeeded), .fact(.headRead), .fact(.segmentFailed), .omitted, .note: true
        default: false
        }
    }
}
