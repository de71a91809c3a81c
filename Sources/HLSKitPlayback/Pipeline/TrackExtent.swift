/// The time range of a track's samples.
struct TrackExtent: Sendable {
    var earliest: Duration
    var latest: Duration
    private var latestEnd: Duration
    private var count = 0

    init(first: Duration) {
        earliest = first
        latest = first
        latestEnd = first
    }

    mutating func note(_ time: Duration, _ length: Duration) {
        count += 1
        earliest = min(earliest, time)
        latest = max(latest, time)
        latestEnd = max(latestEnd, time + length)
    }

    /// The end of the last sample. Without durations, the mean distance between samples is used.
    var end: Duration {
        if latestEnd > latest { return latestEnd }
        guard count > 1 else { return latest }
        return latest + (latest - earliest) / (count - 1)
    }
}
