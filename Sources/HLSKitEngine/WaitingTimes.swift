/// How long somebody waited for media: until playback began, and in stalls.
struct WaitingTimes: Sendable {
    /// When somebody first wanted to play; nil where nobody did.
    private(set) var firstControl: Duration?
    /// When the current stall began.
    private var stallBegan: Duration?
    /// What was waited for in this item.
    private var startupTime: Duration?
    private var stallDuration = Duration.zero

    /// Goes on for a player whose current item was another's until now; nil where nobody waits.
    mutating func takeOver(since time: Duration?) { firstControl = time }

    /// Somebody wants to play.
    mutating func begin(at now: Duration) { if firstControl == nil { firstControl = now } }

    /// Another item: nothing was waited for in it.
    mutating func forgetItem() {
        stallBegan = nil
        startupTime = nil
        stallDuration = .zero
    }

    mutating func stall(at now: Duration) { stallBegan = now }

    /// Playback runs: counts what was waited for.
    mutating func play(at now: Duration) {
        if let stallBegan { stallDuration += now - stallBegan }
        stallBegan = nil
        if startupTime == nil, let firstControl { startupTime = now - firstControl }
    }

    /// Puts what was waited for into `statistics`.
    ///
    /// - Parameter now: up to when the stall counts that is under way; nil where it does not count yet.
    func count(at now: Duration? = nil, _ statistics: inout PlaybackStatistics) {
        statistics.startupTime = startupTime
        statistics.stallDuration = stallDuration
        if let now, let stallBegan { statistics.stallDuration += now - stallBegan }
    }
}
