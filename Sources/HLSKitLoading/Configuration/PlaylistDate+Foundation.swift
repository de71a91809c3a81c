public import FoundationEssentials
public import HLSKitPlaylist

extension PlaylistDate {
    /// Creates a date with microsecond precision, which is the precision of `Date`.
    ///
    /// The result is `nil` if the date is more than 10¹⁵ s from 1970 or not a number.
    public init?(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        guard abs(seconds) < 1e15 else { return nil }
        let whole = seconds.rounded(.down)
        self.init(
            seconds: Int64(whole), attoseconds: Int64(((seconds - whole) * 1e6).rounded()) * 1_000_000_000_000)
    }
}

extension Date {
    /// Creates the nearest date to a date of a playlist or log.
    public init(_ date: PlaylistDate) { self.init(timeIntervalSince1970: date.timeIntervalSince1970 / .seconds(1)) }
}
