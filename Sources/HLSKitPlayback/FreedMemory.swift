import CMalloc
import Synchronization

/// Returns the memory of ended players to the system.
///
/// The C library keeps free memory between used blocks. For 200 players with video, this is permanently more than a
/// gigabyte.
final class FreedMemory: Sendable {
    static let process = FreedMemory {
        WorkerPool.shared.run($0)
    } trim: {
        CMalloc_trim()
    }

    /// The number of ended playbacks that justifies trimming all heaps, which takes some milliseconds.
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
    ///   - run: Calls its argument later on another thread.
    ///   - trim: Returns free memory to the system.
    init(
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, trim: @escaping @Sendable () -> Void
    ) {
        self.run = run
        self.trim = trim
    }

    func noteBegin() { state.withLock { $0.openCount += 1 } }

    /// Called when a playback has released its media. Trims memory after many playbacks, or after the last of several.
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
            let continues = state.withLock { state in
                defer { state.isAskedAgain = false }
                state.isUnderWay = state.isAskedAgain
                return state.isAskedAgain
            }
            guard continues else { return }
        }
    }
}
