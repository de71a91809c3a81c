import HLSKitMedia

/// Decides which copied samples were handed over before, where media is loaded that may overlap with what there is.
///
/// Copies are in decoding order, so they are compared by when they are decoded: with pictures out of order, a key frame is
/// decoded before the last pictures in front of it are shown. Pictures go on in the middle only where the very sample that
/// was handed over last came once more, which proves that it is the same encoding; else they go on with a key frame.
struct OverlapFilter: Sendable {
    private struct Last: Sendable {
        var sample: MediaSample
        var decodingTime: Duration
        /// The latest of all that were handed over.
        var time: Duration
    }

    private var track: MediaTrack?
    private var last: Last?
    /// What comes may have been handed over before.
    private var isJoining = false
    private var isSameTrack = false
    private var hasDropped = false
    private var hasMetLast = false

    /// Samples of a new run follow.
    ///
    /// - Parameter dropsOverlap: it may repeat some of what was handed over.
    mutating func begin(_ track: MediaTrack, dropsOverlap: Bool) {
        isSameTrack = self.track == track
        self.track = track
        isJoining = dropsOverlap && last != nil
        hasDropped = false
        hasMetLast = false
    }

    /// Whether a sample is to be handed over. Samples are asked for in their order.
    ///
    /// - Parameters:
    ///   - decodingTime: item time at which it is decoded.
    ///   - time: item time at which it is shown.
    ///   - length: how long it is shown.
    mutating func admits(
        _ sample: MediaSample, decodingTime: Duration, time: Duration, length: Duration
    ) -> Bool {
        guard isJoining, let last, let track else { return true }
        // What differs by less is the same sample by another clock.
        let tolerance = max(length / 2, .microseconds(1))
        let isPast = decodingTime < last.decodingTime + tolerance
        let isVideo = track.mediaType == .video
        if isPast {
            // A key frame that is shown after everything else is new, however early another encoder has it decoded.
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

    /// A sample was handed over.
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
