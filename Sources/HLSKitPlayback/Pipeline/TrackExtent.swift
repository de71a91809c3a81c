/// How far the samples of one track reach.
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

    /// Where the last sample ends; by the mean distance of samples where they tell no duration.
    var end: Duration {
        if latestEnd > latest { return latestEnd }
        guard count > 1 else { return latest }
        return latest + (latest - earliest) / (count - 1)
    }
}
