import CMalloc
import Synchronization

/// Gives the memory of players that have ended back to the system. The C library keeps what is free between what is not: of
/// 200 players with pictures that is more than a gigabyte, for ever.
final class FreedMemory: Sendable {
    static let process = FreedMemory {
        WorkerPool.shared.run($0)
    } trim: {
        CMalloc_trim()
    }

    /// So many playbacks end before their memory is worth a look at all heaps, which takes some milliseconds.
    static let playbackCount = 16

    private struct State {
        var openCount = 0
        var endedCount = 0
        var isUnderWay = false
        var isAskedAgain = false
    }

    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let trim: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - run: calls what it is given, later and on another thread.
    ///   - trim: gives back what is free.
    init(
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, trim: @escaping @Sendable () -> Void
    ) {
        self.run = run
        self.trim = trim
    }

    /// A playback begins, which will hold media.
    func noteBegin() { state.withLock { $0.openCount += 1 } }

    /// A playback has let go what it held. Memory is given back where many have, and where the last of several has.
    func noteEnd() {
        let isDue = state.withLock { state in
            state.openCount -= 1
            state.endedCount += 1
            guard state.endedCount >= Self.playbackCount || state.openCount == 0 && state.endedCount > 1 else {
                return false
            }
            state.endedCount = 0
            defer { state.isUnderWay = true }
            state.isAskedAgain = state.isUnderWay
            return !state.isUnderWay
        }
        if isDue { run { [self] in work() } }
    }

    private func work() {
        while true {
            trim()
            let goesOn = state.withLock { state in
                defer { state.isAskedAgain = false }
                state.isUnderWay = state.isAskedAgain
                return state.isAskedAgain
            }
            guard goesOn else { return }
        }
    }
}
