/// The time that a user waited for media: until playback began, and during stalls.
struct WaitingTimes: Sendable {
    /// The time at which playback was first requested, or `nil` if it was not.
    private(set) var firstControl: Duration?
    /// The time at which the current stall began.
    private var stallBegan: Duration?
    /// The waiting times of this item.
    private var startupTime: Duration?
    private var stallDuration = Duration.zero

    /// Continues for a player whose current item belonged to another engine until now. `nil` means that there is no
    /// wait.
    mutating func takeOver(since time: Duration?) { firstControl = time }

    /// Called when playback is requested.
    mutating func begin(at now: Duration) { if firstControl == nil { firstControl = now } }

    /// Resets the waiting times for another item.
    mutating func forgetItem() {
        stallBegan = nil
        startupTime = nil
        stallDuration = .zero
    }

    mutating func stall(at now: Duration) { stallBegan = now }

    /// Called when playback runs. Ends and counts the current wait.
    mutating func play(at now: Duration) {
        if let stallBegan { stallDuration += now - stallBegan }
        stallBegan = nil
        if startupTime == nil, let firstControl { startupTime = now - firstControl }
    }

    /// Adds the waiting times to `statistics`.
    ///
    /// - Parameter now: The time up to which a current stall counts, or `nil` not to count it yet.
    func count(at now: Duration? = nil, _ statistics: inout PlaybackStatistics) {
        statistics.startupTime = startupTime
        statistics.stallDuration = stallDuration
        if let now, let stallBegan { statistics.stallDuration += now - stallBegan }
    }
}
