import HLSKitCodec
import HLSKitMedia

/// Finds frame sizes that only the samples declare.
///
/// The samples of transport streams and of some MP4 tracks contain parameter sets.
struct FrameSizes: Sendable {
    private var sets: [Int: [UInt8]] = [:]

    /// Returns the track with the size that a sample declares, or `nil` if it is the size of the samples before.
    mutating func change(by sample: MediaSample, ofTrackAt index: Int, _ track: MediaTrack) -> MediaTrack? {
        guard sample.isSync, track.isDescribedBySamples || track.mayRepeatSets else { return nil }
        let (old, new) = (sets[index], PictureParameterSets.copy(of: sample, in: track))
        guard !new.isEmpty, new != old, let described = track.described(by: new) else { return nil }
        sets[index] = new
        // The size in the header of an MP4 track need not be the coded one.
        guard let before = track.isDescribedBySamples ? track : old.flatMap({ track.described(by: $0) }),
            before.width != described.width || before.height != described.height
        else { return nil }
        return described
    }
}

extension MediaTrack {
    /// Whether its samples may contain parameter sets in addition to those in the header (ISO/IEC 14496-15 §5.3.4 and
    /// §8.4.1).
    fileprivate var mayRepeatSets: Bool { ["avc3", "hev1", "dvav", "dvhe"].contains(sampleEntry) }
}
