import HLSMedia

/// Keeps the kinds of media that go into one file side by side where nothing else does: written as fast as possible, one
/// of them could be half a minute ahead before the other has begun, and who reads the file would have to look as far.
///
/// Nobody waits for a kind of which there is nothing to write.
final class Lockstep: Sendable {
    private struct State {
        /// The item time of what is to be written next, of each kind that takes part.
        var times: [MediaType: Duration] = [:]
        /// Kinds of which there is nothing to write now.
        var idle: Set<MediaType> = []

        /// The one that is furthest behind never waits.
        func mayWrite(_ type: MediaType, at time: Duration) -> Bool {
            times.allSatisfy { other, reached in
                other == type || idle.contains(other) || reached >= time - Lockstep.lead
            }
        }
    }

    /// How far one kind may be ahead of another.
    static let lead = Duration.seconds(1)
    /// Others look anew when so much was written.
    private static let step = Duration.milliseconds(250)

    private let state = Gate(State())

    /// A kind takes part from now on.
    func join(_ type: MediaType) {
        state.withLock { state in
            if state.times[type] == nil { state.times[type] = .seconds(Int64.min / 4) }
        }
    }

    func setIdle(_ isIdle: Bool, _ type: MediaType) {
        let isNews = state.withLock { state in
            if isIdle { return state.idle.insert(type).inserted && state.times[type] != nil }
            state.idle.remove(type)
            return false
        }
        if isNews { state.signal { _ in } }
    }

    /// Returns when what is of this time may be written: at once for a kind that takes no part.
    func wait(for time: Duration, of type: MediaType) async {
        guard !isNext(time, of: type) else { return }
        await state.wait { $0.mayWrite(type, at: time) ? () : nil }
    }

    /// Notes what is to be written next, and says whether it may be written at once.
    func isNext(_ time: Duration, of type: MediaType) -> Bool {
        let (isNews, mayWrite) = state.withLock { state in
            guard let old = state.times[type] else { return (false, true) }
            state.times[type] = time
            return (Self.stepNumber(old) != Self.stepNumber(time), state.mayWrite(type, at: time))
        }
        if isNews { state.signal { _ in } }
        return mayWrite
    }

    private static func stepNumber(_ time: Duration) -> Int64 { time.wholeMicroseconds / step.wholeMicroseconds }
}
