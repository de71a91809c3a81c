/// How long somebody waited for media: until playback began, and in stalls.
struct WaitingTimes: Sendable {
    /// When somebody first wanted to play; nil where nobody did.
    private(set) var firstControl: Duration?
    /// When the current stall began.
    private var stallBegan: Duration?

    /// Goes on for a player whose current item was another's until now; nil where nobody waits.
    mutating func takeOver(since time: Duration?) { firstControl = time }

    /// Somebody wants to play.
    mutating func begin(at now: Duration) { if firstControl == nil { firstControl = now } }

    /// Another item: what stalled is gone.
    mutating func forgetStall() { stallBegan = nil }

    mutating func stall(at now: Duration) { stallBegan = now }

    /// Playback runs: counts what was waited for.
    mutating func play(at now: Duration, _ statistics: inout PlaybackStatistics) {
        count(at: now, &statistics)
        stallBegan = nil
        if statistics.startupTime == nil, let firstControl {
            statistics.startupTime = (now - firstControl).seconds
        }
    }

    /// Counts the stall that is under way.
    func count(at now: Duration, _ statistics: inout PlaybackStatistics) {
        if let stallBegan { statistics.stallDuration += (now - stallBegan).seconds }
    }
}
