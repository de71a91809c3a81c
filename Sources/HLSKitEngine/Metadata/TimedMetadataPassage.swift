import HLSKitLoading
import HLSKitSelection
import HLSKitTime

/// Decides when the playhead reaches metadata found in the media, and which of it is already known.
///
/// Metadata is found repeatedly, because segments are read again, and because segments, variants and renditions repeat
/// events.
struct TimedMetadataPassage: Sendable {
    /// The number of groups behind the playhead to keep. Older groups are reported again if they are read again.
    private static let maximumCountBehind = 512
    /// The maximum number and size of kept groups. Further groups are lost.
    private static let maximumCount = 4096
    private static let maximumByteCount = 4 << 20

    private var points = PassedPoints<TimedMetadataGroup>()
    private var byteCount = 0

    var isEmpty: Bool { points.isEmpty }

    /// Adds metadata at `time`.
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

    /// Removes groups farthest behind the playhead first.
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

    /// Called when all media is loaded again, so that unreported metadata will be found again. Reported metadata is
    /// kept, so that it is not reported twice.
    mutating func flush() {
        points.removeUntold()
        byteCount = points.points.reduce(0) { $0 + $1.content.byteCount }
    }

    func isDue(at time: Duration) -> Bool { points.isDue(at: time) }

    /// Returns the metadata that is due when the playhead, which began at `start`, reaches `time`.
    mutating func advance(to time: Duration, from start: Duration) -> [TimedMetadataGroup] {
        points.advance(to: time, from: start).map(\.content)
    }

    /// Called when the playhead has moved by a seek.
    mutating func jump(to time: Duration) { points.jump(to: time) }

    /// The item time of the next known report, or `nil` if there is none.
    func next(from time: Duration, isReverse: Bool) -> Duration? { points.next(from: time, isReverse: isReverse) }
}
