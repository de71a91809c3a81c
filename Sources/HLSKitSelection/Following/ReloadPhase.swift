/// How long after the server wrote a live playlist it is loaded: between two bounds, which each load makes narrower.
///
/// A playlist that is loaded just before it changes is nearly a segment old; where the window is short and the server
/// fails for seconds, that is the segment which is lost. So loads move a little later each time, until they come just
/// after a change.
///
/// See R39 in docs/behaviour/faults.md.
struct ReloadPhase: Sendable {
    private var low = Duration.zero
    /// nil while nothing is known.
    private var high: Duration?

    /// A load that came `interval` after the one before brought `media` that was new; what is written next is `next`
    /// long. Nil media: how much was new cannot be told.
    mutating func note(interval: Duration, media: Duration?, next: Duration) {
        guard let media, let high else {
            (low, high) = (.zero, next)
            return
        }
        low = max(.zero, low + interval - media)
        let bound = min(next, high + interval - media)
        self.high = bound
        // The server is not so regular.
        if low > bound { (low, self.high) = (.zero, next) }
    }

    /// How much later than it could be the next load is made, for segments that are `duration` long.
    func delay(for duration: Duration) -> Duration {
        guard let high, high > duration / 4 else { return .zero }
        return duration / 16
    }
}
