/// How much media time was played, forwards and backwards: what was jumped over is left out, and what was lost.
///
/// The one place where that is counted: the state of a player, its access log and its metrics take it from here.
struct WatchedTime: Sendable {
    /// Losses beyond so many are forgotten, the oldest first: they lie far behind in a long live stream.
    static let maximumLossCount = 256

    private(set) var total = Duration.zero
    private var place = Duration.zero
    /// Stretches of the item's timeline that have no media: nobody saw them when time passed over them.
    private var losses: [Range<Duration>] = []

    init(from place: Duration = .zero) { self.place = place }

    /// Played on to a time.
    mutating func advance(to time: Duration) {
        total = total(upTo: time)
        place = time
    }

    mutating func jump(to time: Duration) { place = time }

    /// There is no media in this stretch.
    ///
    /// - Parameter playhead: where playback is now. What was played up to here stays counted.
    mutating func lose(_ range: Range<Duration>, at playhead: Duration) {
        guard !range.isEmpty else { return }
        advance(to: playhead)
        if let last = losses.last, last.upperBound == range.lowerBound {
            losses[losses.count - 1] = last.lowerBound..<range.upperBound
            return
        }
        losses.append(range)
        if losses.count > Self.maximumLossCount { losses.removeFirst() }
    }

    /// There is media in this stretch after all: it was loaded again.
    mutating func recover(_ range: Range<Duration>, at playhead: Duration) {
        guard losses.contains(where: { $0.overlaps(range) }) else { return }
        advance(to: playhead)
        losses = losses.flatMap { loss in
            [
                loss.lowerBound..<max(loss.lowerBound, min(loss.upperBound, range.lowerBound)),
                min(loss.upperBound, max(loss.lowerBound, range.upperBound))..<loss.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    func total(upTo time: Duration) -> Duration {
        let passed = min(place, time)..<max(place, time)
        let lost = losses.reduce(Duration.zero) { sum, loss in
            let common = loss.clamped(to: passed)
            return sum + (common.upperBound - common.lowerBound)
        }
        return total + (passed.upperBound - passed.lowerBound) - lost
    }
}
