import Synchronization

/// The lock of a player. Debug builds count its acquisitions for tests.
struct PlayerLock<State>: ~Copyable, Sendable {
    private let state: Mutex<State>
    #if DEBUG
        private let acquisitions = Atomic(0)
        var acquisitionCount: Int { acquisitions.load(ordering: .relaxed) }
    #endif

    init(_ state: sending State) { self.state = Mutex(state) }

    func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
            acquisitions.add(1, ordering: .relaxed)
        #endif
        return try state.withLock(body)
    }
}
