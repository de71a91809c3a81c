/// The media of a playlist's segments past their listed ends.
///
/// It is as long as the delay between the listed and the actual start of a segment's media.
struct MediaBeyond: Sendable, Hashable {
    /// The duration past the listed end in the last segment that was read.
    private(set) var overhang = Duration.zero

    /// Larger differences are errors in the playlist and are ignored.
    private static let longest = Duration.seconds(1)
    /// The tolerance between media times and listed times.
    private static let exactness = Duration.milliseconds(1)

    /// Notes that the media of a segment with this listed end ends at `end`.
    mutating func noteRead(upTo end: Duration, listedEnd: Duration) { overhang = max(.zero, end - listedEnd) }

    /// Returns whether the segment before the one at `start` contains media at or after `time`.
    func reaches(_ time: Duration, beyond start: Duration) -> Bool {
        overhang <= Self.longest && start + overhang > time + Self.exactness
    }
}
