/// Media of a list's segments that reaches beyond where they are listed to end: as much as the media of a segment begins
/// later than it is listed.
struct MediaBeyond: Sendable, Hashable {
    /// Of the segment that was read last.
    private(set) var overhang = Duration.zero

    /// Where more is listed wrongly, nothing is to be learnt from it.
    private static let longest = Duration.seconds(1)
    /// Times of media and of lists differ by so much without a reason.
    private static let exactness = Duration.milliseconds(1)

    /// The media of a segment that is listed to end at `listedEnd` ends at `end`.
    mutating func noteRead(upTo end: Duration, listedEnd: Duration) { overhang = max(.zero, end - listedEnd) }

    /// Whether the segment before the one listed from `start` on has media of `time` and later.
    func reaches(_ time: Duration, beyond start: Duration) -> Bool {
        overhang <= Self.longest && start + overhang > time + Self.exactness
    }
}
