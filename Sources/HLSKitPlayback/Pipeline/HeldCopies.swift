import HLSKitMedia

struct HeldCopy {
    var sample: MediaSample
    var timing: CopySelection.Timing
    /// The offset from track time to item time.
    var offset: Duration
}

extension HeldCopy {
    init(_ sample: MediaSample, of track: MediaTrack, offset: Duration) {
        self.sample = sample
        self.offset = offset
        timing = CopySelection.Timing(
            decoding: ItemTimeline.duration(sample.dts, track.timescale) + offset,
            presentation: ItemTimeline.duration(sample.pts, track.timescale) + offset,
            length: ItemTimeline.duration(sample.duration, track.timescale))
    }
}

/// Samples that were decoded but still have to be copied when they are due.
///
/// They wait because a decoder needs further samples before its first output, and time does not pass until there is a
/// frame.
struct HeldCopies {
    /// The maximum distance of decoding ahead of the copied samples.
    private static let longest = Duration.seconds(1)

    private var copies: [HeldCopy] = []

    mutating func append(_ copy: HeldCopy) { copies.append(copy) }

    mutating func putBack(_ earlier: [HeldCopy]) { copies = earlier + copies }

    /// Removes and returns the first sample if it is decoded at or before `time`, or if `time` is `nil`.
    mutating func takeFirst(upTo time: Duration?) -> HeldCopy? {
        guard let first = copies.first, time.map({ first.timing.decoding <= $0 }) ?? true else { return nil }
        return copies.removeFirst()
    }

    mutating func takeExcess() -> HeldCopy? {
        guard let first = copies.first, let last = copies.last,
            last.timing.decoding - first.timing.decoding > Self.longest
        else { return nil }
        return copies.removeFirst()
    }
}
