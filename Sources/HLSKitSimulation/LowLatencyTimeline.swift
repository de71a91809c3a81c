import HLSKitCore
import HLSKitPlaylist

/// The completion times and dates of a ``LowLatencyOrigin``'s parts.
///
/// The first window of segments exists at time zero. After that, the encoder produces each part in real time by its own
/// clock, except during pauses.
struct LowLatencyTimeline: Sendable {
    private let partDuration: Duration
    private let startPartCount: Int
    private let epoch: PlaylistDate
    private let speed: Double
    private let pauses: [Range<Duration>]

    init(_ origin: LowLatencyOrigin) {
        partDuration = origin.partDuration
        startPartCount = origin.windowSegmentCount * origin.partsPerSegment
        epoch = origin.epoch
        speed = 1 + origin.clockDrift / 1e6
        pauses = origin.faults.compactMap { if case .pauses = $0.kind { $0.period } else { nil } }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    func partCount(at time: Duration) -> Int {
        var worked = time
        for pause in pauses where pause.lowerBound < time {
            worked -= min(time, pause.upperBound) - pause.lowerBound
        }
        let made = worked * speed / partDuration
        // Count a part that is just complete, regardless of rounding.
        return max(0, startPartCount + Int((made + 1e-9).rounded(.down)))
    }

    /// The completion time of a part, which is before time zero for those that exist at the start.
    func completion(ofPart part: Int) -> Duration {
        var time = partDuration * (part + 1 - startPartCount) / speed
        for pause in pauses where pause.lowerBound < time { time += pause.upperBound - pause.lowerBound }
        return time
    }

    /// The date of a part's start, by the encoder's clock.
    func date(ofPart part: Int) -> PlaylistDate {
        epoch + completion(ofPart: part) * speed - partDuration
    }
}
