import Synchronization

/// The caller's side of a request that a transport's own thread processes.
///
/// The thread reads the two flags between its steps, and callers never wait for it. The transport decides how to wake
/// its thread, and does so in `notify` (a ``Monitor``, a descriptor that it polls).
package final class QueuedTask: TransportTask {
    private let cancelled = Atomic(false)
    private let paused = Atomic(false)
    private let notify: @Sendable (QueuedTask) -> Void

    /// - Parameter notify: Tells the thread to read the flags. It is called on any thread and must not block. Its
    ///   captures live as long as the task.
    package init(notify: @escaping @Sendable (QueuedTask) -> Void) { self.notify = notify }

    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
    package var isPaused: Bool { paused.load(ordering: .acquiring) }

    package func cancel() {
        if !cancelled.exchange(true, ordering: .acquiringAndReleasing) { notify(self) }
    }

    package func pause() { paused.store(true, ordering: .releasing) }

    package func resume() {
        if paused.exchange(false, ordering: .acquiringAndReleasing) { notify(self) }
    }
}
