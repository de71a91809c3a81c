/// Estimates the current edge of a live stream from the arrival times of its playlists.
///
/// The estimate is the end of the listed media plus its age. It does not use the server's clock. A playlist arrives
/// some time after its end was produced, never before. The estimate uses the playlist with the shortest delay. It goes
/// at most the length of one piece past the listed end because an encoder may pause.
struct LiveEdge: Sendable, Hashable {
    private struct Arrival: Sendable, Hashable {
        var end: Duration
        var time: Duration
        /// A larger lead is closer to the real edge.
        var lead: Duration { end - time }
    }

    /// The number of playlists to keep. Earlier ones are ignored because clocks drift.
    private static let memory = 8

    /// The last playlists with new media, oldest first.
    private var arrivals: [Arrival] = []

    /// Notes the end of the newest playlist on the item's timeline and its arrival time.
    ///
    /// The same playlist may be noted again.
    mutating func note(end: Duration, at time: Duration) {
        guard let last = arrivals.last else { return arrivals.append(Arrival(end: end, time: time)) }
        if last.time == time {
            guard last.end != end else { return }
            // The timeline has moved.
            arrivals.removeAll()
        } else if end < last.end || time < last.time {
            arrivals.removeAll()
        } else if arrivals.count >= Self.memory {
            arrivals.removeFirst()
        }
        arrivals.append(Arrival(end: end, time: time))
    }

    /// Returns the edge if the stream has continued since the last playlist, or nil before the first one.
    func projection(at now: Duration) -> Duration? {
        guard let last = arrivals.last, let lead = arrivals.lazy.map(\.lead).max() else { return nil }
        return max(last.end, lead + now)
    }

    /// Returns the edge, or nil before the first playlist.
    ///
    /// - Parameter piece: The maximum duration of the next listed segment or part.
    func estimate(at now: Duration, piece: Duration) -> Duration? {
        guard let last = arrivals.last, let projection = projection(at: now) else { return nil }
        return min(projection, last.end + piece)
    }
}
