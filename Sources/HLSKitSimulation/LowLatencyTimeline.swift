import HLSKitCore
import HLSKitPlaylist

/// When which part of a ``LowLatencyOrigin`` is whole, and which date it has.
///
/// The first windowful of segments is there at time zero. From then on the encoder makes a part in the time that it lasts, by
/// its own clock, but while it pauses.
struct LowLatencyTimeline: Sendable {
    private let partDuration: Duration
    private let startPartCount: Int
    private let epoch: PlaylistDate
    /// How fast the encoder's clock goes.
    private let speed: Double
    /// When it pauses, in order.
    private let pauses: [Range<Duration>]

    init(_ origin: LowLatencyOrigin) {
        partDuration = origin.partDuration
        startPartCount = origin.windowSegmentCount * origin.partsPerSegment
        epoch = origin.epoch
        speed = 1 + origin.clockDrift / 1e6
        pauses = origin.faults.compactMap { if case .pauses = $0.kind { $0.period } else { nil } }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// How many parts are whole at a time.
    func partCount(at time: Duration) -> Int {
        var worked = time
        for pause in pauses where pause.lowerBound < time {
            worked -= min(time, pause.upperBound) - pause.lowerBound
        }
        let made = worked * speed / partDuration
        // What is whole just now counts, whatever quotients are rounded to.
        return max(0, startPartCount + Int((made + 1e-9).rounded(.down)))
    }

    /// When a part is whole; before time zero for those that were there at the start.
    func completion(ofPart part: Int) -> Duration {
        var time = partDuration * (part + 1 - startPartCount) / speed
        for pause in pauses where pause.lowerBound < time { time += pause.upperBound - pause.lowerBound }
        return time
    }

    /// The date at which a part begins, by the encoder's clock.
    func date(ofPart part: Int) -> PlaylistDate {
        epoch + completion(ofPart: part) * speed - partDuration
    }
}
