public import FoundationEssentials
public import HLSKitPlaylist

extension PlaylistDate {
    /// The date, to the microsecond, which is what `Date` tells apart; nil for one that is farther from 1970 than 10¹⁵ s or
    /// not a number.
    public init?(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        guard abs(seconds) < 1e15 else { return nil }
        let whole = seconds.rounded(.down)
        self.init(
            seconds: Int64(whole), attoseconds: Int64(((seconds - whole) * 1e6).rounded()) * 1_000_000_000_000)
    }
}

extension Date {
    /// The nearest date to one of a playlist or log.
    public init(_ date: PlaylistDate) { self.init(timeIntervalSince1970: date.timeIntervalSince1970 / .seconds(1)) }
}
