/// The media time that was played, forward and backward, without skipped and lost media.
///
/// The player's state, its access log and its metrics all use this value.
struct WatchedTime: Sendable {
    /// The maximum number of losses to keep. The oldest ones are far in the past of a long live stream.
    static let maximumLossCount = 256

    private(set) var total = Duration.zero
    private var place = Duration.zero
    /// Ranges of the item's timeline without media, which do not count as watched.
    private var losses: [Range<Duration>] = []

    init(from place: Duration = .zero) { self.place = place }

    mutating func advance(to time: Duration) {
        total = total(upTo: time)
        place = time
    }

    mutating func jump(to time: Duration) { place = time }

    /// Marks a range without media.
    ///
    /// - Parameter playhead: The current position. Media played before this call stays counted.
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

    /// Marks a range that has media after all, because it was loaded again.
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
