import HLSKitLoading
import HLSKitSelection
import HLSKitTime

/// Decides when the playhead comes to metadata that was found in the media, and which of it is known already: segments are
/// read again, and events are repeated by segments, variants and renditions.
struct TimedMetadataPassage: Sendable {
    /// What lies further behind the playhead than so many groups is forgotten, and told again if it is read again.
    private static let maximumCountBehind = 512
    /// More is not kept: what comes then is lost.
    private static let maximumCount = 4096
    private static let maximumByteCount = 4 << 20

    private var points = PassedPoints<TimedMetadataGroup>()
    private var byteCount = 0

    /// There is nothing to tell.
    var isEmpty: Bool { points.isEmpty }

    /// Takes metadata that lies at `time`. The playhead is at `playhead`.
    mutating func take(_ group: TimedMetadataGroup, at time: Duration, playhead: Duration) {
        let isKnown = points.points.contains { point in
            point.content.isSame(as: group, apart: abs(point.time - time))
        }
        guard !isKnown else { return }
        makeRoom(for: group.byteCount, playhead: playhead)
        guard points.points.count < Self.maximumCount, byteCount + group.byteCount <= Self.maximumByteCount else {
            return
        }
        points.insert(group, at: time)
        byteCount += group.byteCount
    }

    /// What lies furthest behind goes first.
    private mutating func makeRoom(for count: Int, playhead: Duration) {
        var behind = points.points.prefix { $0.time < playhead }
        let ahead = points.points.count - behind.count
        while let first = behind.first,
            behind.count > Self.maximumCountBehind || ahead + behind.count >= Self.maximumCount
                || byteCount + count > Self.maximumByteCount
        {
            byteCount -= first.content.byteCount
            behind = behind.dropFirst()
        }
        points.removeFirst(points.points.count - ahead - behind.count)
    }

    /// All media is loaded again: what lies ahead is found there. What was told is not told again.
    mutating func flush() {
        points.removeUntold()
        byteCount = points.points.reduce(0) { $0 + $1.content.byteCount }
    }

    func isDue(at time: Duration) -> Bool { points.isDue(at: time) }

    /// The playhead has come to `time`; it began at `start`.
    mutating func advance(to time: Duration, from start: Duration) -> [TimedMetadataGroup] {
        points.advance(to: time, from: start).map(\.content)
    }

    /// The playhead was moved.
    mutating func jump(to time: Duration) { points.jump(to: time) }

    /// The item time at which something is to be told next, as far as is known; nil for none.
    func next(from time: Duration, isReverse: Bool) -> Duration? { points.next(from: time, isReverse: isReverse) }
}
