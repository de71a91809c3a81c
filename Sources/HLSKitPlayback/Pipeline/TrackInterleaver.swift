import HLSKitLoading
import HLSKitMedia
import HLSKitTime

/// Keeps the kinds of media in a file interleaved when there is no clock to pace them.
///
/// Otherwise, one kind could be half a minute ahead of another, and a reader of the file would have to search as far.
/// Video may be slightly ahead of audio. Audio is never ahead of video: at a splice it must be cut at the same time as
/// the video, and written samples cannot be removed. Audio therefore waits for video that will arrive, but not at the
/// end of the video or where video is missing.
final class TrackInterleaver: Sendable {
    private struct State {
        var kinds: Set<MediaKind> = []
        var times: [MediaKind: Duration] = [:]
        var idle: Set<MediaKind> = []
        var ended: Set<MediaKind> = []
        var reach: [MediaKind: Reach] = [:]

        /// The time before which no more samples of a kind will be written, or `nil` if unknown.
        func place(of type: MediaKind) -> Duration? {
            let time = times[type]
            guard idle.contains(type), let handedOn = reach[type]?.time else { return time }
            return max(time ?? handedOn, handedOn)
        }

        /// Whether a sample may be written. The least advanced kind never waits.
        func mayWrite(_ type: MediaKind, at time: Duration) -> Bool {
            kinds.allSatisfy { other in
                if other == type || ended.contains(other) { return true }
                guard let place = place(of: other) else { return false }
                return type == .audio && other == .video ? place > time : place >= time - TrackInterleaver.lead
            }
        }
    }

    private struct Reach {
        private(set) var time: Duration?
        private var gaps: [Range<Duration>] = []

        /// The largest gap between the media handed on and a missing range after it.
        private static let tolerance = Duration.milliseconds(500)

        mutating func extend(to end: Duration) {
            time = max(time ?? end, end)
            crossGaps()
        }

        /// Adds a missing range. It applies once all media before it was handed on.
        mutating func add(_ gap: Range<Duration>) {
            gaps.append(gap)
            crossGaps()
        }

        private mutating func crossGaps() {
            while let time, let gap = gaps.firstIndex(where: { $0.lowerBound <= time + Self.tolerance }) {
                self.time = max(time, gaps.remove(at: gap).upperBound)
            }
        }
    }

    /// The maximum lead of video over audio.
    static let lead = Duration.seconds(1)
    /// The amount of media after which waiting kinds check again.
    private static let step = Duration.milliseconds(250)

    private let state = Gate(State())

    func join(_ type: MediaKind) {
        state.withLock { _ = $0.kinds.insert(type) }
    }

    func setIdle(_ isIdle: Bool, _ type: MediaKind) {
        let isNews = state.withLock { state in
            if isIdle { return state.idle.insert(type).inserted && state.kinds.contains(type) }
            state.idle.remove(type)
            state.ended.remove(type)
            return false
        }
        if isNews { state.signal { _ in } }
    }

    func end(_ type: MediaKind) { state.signal { $0.ended.insert(type) } }

    /// Called when all samples of a kind before `end` have been written or wait to be written.
    func noteHandedOn(upTo end: Duration, of type: MediaKind) {
        state.signal { $0.reach[type, default: Reach()].extend(to: end) }
    }

    func noteMissingMedia(_ gap: Range<Duration>, of type: MediaKind) {
        state.signal { $0.reach[type, default: Reach()].add(gap) }
    }

    func restart() {
        state.signal { state in
            state.times = [:]
            state.ended = []
            state.reach = [:]
        }
    }

    /// Waits until a sample at this time may be written. Returns at once if the kind does not take part.
    func wait(for time: Duration, of type: MediaKind) async {
        guard !isNext(time, of: type) else { return }
        await state.wait { $0.mayWrite(type, at: time) ? () : nil }
    }

    /// Sets the time of a kind's next sample, and returns whether it may be written at once.
    func isNext(_ time: Duration, of type: MediaKind) -> Bool {
        let (isNews, mayWrite) = state.withLock { state in
            guard state.kinds.contains(type) else { return (false, true) }
            let old = state.times.updateValue(time, forKey: type)
            return (old.map(Self.stepNumber) != Self.stepNumber(time), state.mayWrite(type, at: time))
        }
        if isNews { state.signal { _ in } }
        return mayWrite
    }

    private static func stepNumber(_ time: Duration) -> Int64 { time.wholeMicroseconds / step.wholeMicroseconds }
}
