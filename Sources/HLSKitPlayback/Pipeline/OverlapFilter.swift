import HLSKitMedia

/// Detects copied samples that were already delivered, when newly loaded media may overlap earlier media.
///
/// Copies are in decoding order, so they are compared by decoding time. If frames are reordered, a key frame is decoded
/// before the last frames ahead of it are shown. Video continues in the middle of a group only if the last delivered
/// sample arrives again, which proves that the encoding is the same. Otherwise, it continues with a key frame.
struct OverlapFilter: Sendable {
    private struct Last: Sendable {
        var sample: MediaSample
        var decodingTime: Duration
        var time: Duration
    }

    private var track: MediaTrack?
    private var last: Last?
    private var isJoining = false
    private var isSameTrack = false
    private var hasDropped = false
    private var hasMetLast = false

    mutating func begin(_ track: MediaTrack, dropsOverlap: Bool) {
        isSameTrack = self.track == track
        self.track = track
        isJoining = dropsOverlap && last != nil
        hasDropped = false
        hasMetLast = false
    }

    /// Returns whether to deliver a sample. Call it in the order of the samples.
    ///
    /// - Parameters:
    ///   - decodingTime: The item time at which the sample is decoded.
    ///   - time: The item time at which the sample is shown.
    ///   - length: The duration for which the sample is shown.
    mutating func admits(
        _ sample: MediaSample, decodingTime: Duration, time: Duration, length: Duration
    ) -> Bool {
        guard isJoining, let last, let track else { return true }
        // Times that differ by less belong to the same sample on another clock.
        let tolerance = max(length / 2, .microseconds(1))
        let isPast = decodingTime < last.decodingTime + tolerance
        let isVideo = track.mediaType == .video
        if isPast {
            // A key frame shown after all other frames is new, even if its encoder decodes it early.
            if isVideo, sample.isSync, time > last.time + tolerance { return join() }
            if decodingTime > last.decodingTime - tolerance, sample.data.hasSameBytes(as: last.sample.data) {
                hasMetLast = true
            }
            hasDropped = true
            return false
        }
        if !isVideo || sample.isSync || hasMetLast || isSameTrack && !hasDropped { return join() }
        hasDropped = true
        return false
    }

    mutating func note(_ sample: MediaSample, decodingTime: Duration, time: Duration) {
        last = Last(sample: sample, decodingTime: decodingTime, time: max(last?.time ?? time, time))
    }

    private mutating func join() -> Bool {
        isJoining = false
        return true
    }
}

extension SampleData {
    fileprivate func hasSameBytes(as other: SampleData) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.elementsEqual($0) } }
    }
}
