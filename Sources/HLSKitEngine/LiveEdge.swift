/// Where the edge of a live stream is now, by the times at which its lists came: the end of what is listed, and how old that
/// is. No clock of the server is asked.
///
/// A list tells of its end some time after that was made, never before. The one that told the soonest is believed; no more than
/// the length of one piece beyond what is listed, as an encoder may pause.
struct LiveEdge: Sendable, Hashable {
    private struct Arrival: Sendable, Hashable {
        var end: Duration
        var time: Duration
        /// Later is nearer to the truth.
        var lead: Duration { end - time }
    }

    /// Lists before these say nothing: clocks drift.
    private static let memory = 8

    /// Of the last lists with something new, the oldest first.
    private var arrivals: [Arrival] = []

    /// Takes the end of the newest list, on the item's timeline, and the time at which it came. The same list may be told again.
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

    /// Where the edge is if the stream has gone on at its pace since the last list, however long ago that was; nil before the
    /// first list.
    func projection(at now: Duration) -> Duration? {
        guard let last = arrivals.last, let lead = arrivals.lazy.map(\.lead).max() else { return nil }
        return max(last.end, lead + now)
    }

    /// The edge; nil before the first list.
    ///
    /// - Parameter piece: what is listed next lasts so long at most.
    func estimate(at now: Duration, piece: Duration) -> Duration? {
        guard let last = arrivals.last, let projection = projection(at: now) else { return nil }
        return min(projection, last.end + piece)
    }
}
