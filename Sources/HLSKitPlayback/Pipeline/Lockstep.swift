import HLSKitLoading
import HLSKitMedia

/// Keeps the kinds of media that go into one file side by side where nothing else does: written as fast as possible, one
/// of them could be half a minute ahead before the other has begun, and who reads the file would have to look as far.
///
/// Pictures may be a little ahead of sound. Sound is never ahead of pictures: where they change, it has to be cut at the
/// same place, and what is written cannot be taken back. So it waits for pictures that are on their way, but not for those
/// that will not come: behind the end of their lane, or in a hole.
final class Lockstep: Sendable {
    private struct State {
        /// The kinds that take part.
        var kinds: Set<MediaKind> = []
        /// The item time of what is to be written next, of each kind of which that is known.
        var times: [MediaKind: Duration] = [:]
        /// Kinds of which nothing waits to be written.
        var idle: Set<MediaKind> = []
        /// Kinds of which nothing more comes.
        var ended: Set<MediaKind> = []
        var reach: [MediaKind: Reach] = [:]

        /// Before this time nothing more of the kind is to be written; nil where that is not known.
        func place(of type: MediaKind) -> Duration? {
            let time = times[type]
            guard idle.contains(type), let handedOn = reach[type]?.time else { return time }
            return max(time ?? handedOn, handedOn)
        }

        /// The one that is furthest behind never waits.
        func mayWrite(_ type: MediaKind, at time: Duration) -> Bool {
            kinds.allSatisfy { other in
                if other == type || ended.contains(other) { return true }
                guard let place = place(of: other) else { return false }
                return type == .audio && other == .video ? place > time : place >= time - Lockstep.lead
            }
        }
    }

    /// Up to where all of a lane was handed on, with the holes in it.
    private struct Reach {
        private(set) var time: Duration?
        private var holes: [Range<Duration>] = []

        /// What was handed on may end a little before what is missing begins.
        private static let tolerance = Duration.milliseconds(500)

        mutating func extend(to end: Duration) {
            time = max(time ?? end, end)
            crossHoles()
        }

        /// Nothing comes in `hole`. It counts when all of before it was handed on.
        mutating func add(_ hole: Range<Duration>) {
            holes.append(hole)
            crossHoles()
        }

        private mutating func crossHoles() {
            while let time, let hole = holes.firstIndex(where: { $0.lowerBound <= time + Self.tolerance }) {
                self.time = max(time, holes.remove(at: hole).upperBound)
            }
        }
    }

    /// How far pictures may be ahead of sound.
    static let lead = Duration.seconds(1)
    /// Others look anew when so much was written.
    private static let step = Duration.milliseconds(250)

    private let state = Gate(State())

    /// A kind takes part from now on.
    func join(_ type: MediaKind) {
        state.withLock { _ = $0.kinds.insert(type) }
    }

    /// Whether nothing of a kind waits to be written, for the moment.
    func setIdle(_ isIdle: Bool, _ type: MediaKind) {
        let isNews = state.withLock { state in
            if isIdle { return state.idle.insert(type).inserted && state.kinds.contains(type) }
            state.idle.remove(type)
            state.ended.remove(type)
            return false
        }
        if isNews { state.signal { _ in } }
    }

    /// Nothing more of a kind comes.
    func end(_ type: MediaKind) { state.signal { $0.ended.insert(type) } }

    /// All of a kind of before `end` waits to be written, or was written.
    func noteHandedOn(upTo end: Duration, of type: MediaKind) {
        state.signal { $0.reach[type, default: Reach()].extend(to: end) }
    }

    /// Nothing of a kind comes in `hole`.
    func noteHole(_ hole: Range<Duration>, of type: MediaKind) {
        state.signal { $0.reach[type, default: Reach()].add(hole) }
    }

    /// Time has jumped: what was written and handed on says nothing of what comes.
    func restart() {
        state.signal { state in
            state.times = [:]
            state.ended = []
            state.reach = [:]
        }
    }

    /// Returns when what is of this time may be written: at once for a kind that takes no part.
    func wait(for time: Duration, of type: MediaKind) async {
        guard !isNext(time, of: type) else { return }
        await state.wait { $0.mayWrite(type, at: time) ? () : nil }
    }

    /// Notes what is to be written next, and says whether it may be written at once.
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
