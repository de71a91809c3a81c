/// Estimates the age of a live playlist when it is loaded, within two bounds that each load narrows.
///
/// A playlist loaded just before it changes is nearly one segment old. If the window is short and the server fails for
/// seconds, that segment is lost. Therefore each load happens a little later, until loads follow just after a change
/// (R39).
struct ReloadPhase: Sendable {
    private var low = Duration.zero
    private var high: Duration?

    /// Records a load.
    ///
    /// - Parameters:
    ///   - interval: The time since the previous load.
    ///   - media: The duration of new media, or nil if it is not known.
    ///   - next: The duration of the media that the server writes next.
    mutating func note(interval: Duration, media: Duration?, next: Duration) {
        guard let media, let high else {
            (low, high) = (.zero, next)
            return
        }
        low = max(.zero, low + interval - media)
        let bound = min(next, high + interval - media)
        self.high = bound
        // The server is not that regular.
        if low > bound { (low, self.high) = (.zero, next) }
    }

    func delay(for duration: Duration) -> Duration {
        guard let high, high > duration / 4 else { return .zero }
        return duration / 16
    }
}
