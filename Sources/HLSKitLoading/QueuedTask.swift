import Synchronization

/// The caller's end of a request that a transport's own thread works on.
///
/// Two flags that the thread reads between its steps. Nobody waits for them: how the thread is woken (a ``Monitor``, a
/// descriptor that it polls) is the transport's, which `notify` reaches.
package final class QueuedTask: TransportTask {
    private let cancelled = Atomic(false)
    private let paused = Atomic(false)
    private let notify: @Sendable (QueuedTask) -> Void

    /// - Parameter notify: Tells the thread to look at the flags. It is called on any thread and must not block. What
    ///   it captures lives as long as the task.
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
