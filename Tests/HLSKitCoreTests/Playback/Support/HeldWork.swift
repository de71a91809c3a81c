import Synchronization

@testable import HLSKitPlayback

/// A replacement for the threads that players share. Work runs at once or, while it is held, on release.
final class HeldWork: Sendable {
    private struct State {
        var isHeld = false
        var held: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    var queue: WorkQueue {
        WorkQueue { [self] work in
            let isHeld = state.withLock { state in
                if state.isHeld { state.held.append(work) }
                return state.isHeld
            }
            if !isHeld { work() }
        }
    }

    var count: Int { state.withLock(\.held.count) }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for work in held { work() }
    }
}
