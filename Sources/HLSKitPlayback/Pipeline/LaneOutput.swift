package import HLSKitEngine
package import HLSKitLoading
package import HLSKitMedia

/// What a lane hands on: samples with their item time, in decoding order.
package enum LaneOutput: Sendable {
    /// The samples that follow are of this track. `isNewSequence`: decoders are drained before it.
    case track(MediaTrack, window: PresentationWindow, isNewSequence: Bool)
    /// What decoders of the track that was told last have to know, where its samples may not tell.
    case parameterSets([UInt8], MediaKind)
    /// `offset` is what is added to the timestamps to get item time.
    case sample(MediaSample, MediaKind, offset: Duration)
    /// Decoding can start at the picture that was handed on last, which has this item time.
    case sync(Duration)
    /// What was loaded of the lane from this item time on is replaced by what follows.
    case cut(Duration)
    case cues(CueBatch)
    case closedCaptions(ClosedCaptionData, at: Duration, duration: Duration)
    case metadata(TimedMetadata, at: Duration, of: SegmentID)
    case fact(MediaFact)
    /// Media of a kind that is wanted is left out, because nothing can be made of it.
    case leftOut(HLSError)
    case note(String)
}
