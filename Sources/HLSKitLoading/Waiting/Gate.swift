public import Synchronization

/// State protected by a lock, for which tasks can wait. It is a ``Monitor`` that blocks no thread.
///
/// Use it for state other than a single value (``OneShot``) or a sequence (``Broadcast``). A waiting task tests its
/// condition under the lock, and takes the result in the same step. It is inlinable, because other modules use it for
/// each frame, and generic code that is not specialized looks up its types at run time.
@usableFromInline
package final class Gate<State: Sendable>: Sendable {
    @usableFromInline
    package struct Content {
        @usableFromInline var state: State
        /// The number of signals. A task that tested its condition before the last one tests it again.
        @usableFromInline var version = 0
        @usableFromInline var waiting: [CheckedContinuation<Void, Never>] = []

        @inlinable
        init(state: State) { self.state = state }
    }

    @usableFromInline let content: Mutex<Content>

    @inlinable
    package init(_ state: State) {
        content = Mutex(Content(state: state))
    }

    @inlinable
    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        content.withLock { body(&$0.state) }
    }

    /// Calls `body` under the lock, and lets all waiting tasks test their condition again.
    @inlinable
    package func signal(_ body: (inout State) -> Void) {
        let waiting = content.withLock { content in
            body(&content.state)
            content.version += 1
            defer { content.waiting = [] }
            return content.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Calls `body` under the lock, and again after each signal, until it returns a result.
    @inlinable
    package func wait<Result: Sendable>(_ body: (inout State) -> Result?) async -> Result {
        while true {
            let (result, version) = content.withLock { (body(&$0.state), $0.version) }
            if let result { return result }
            await withCheckedContinuation { continuation in
                let hasChanged = content.withLock { content in
                    if content.version != version { return true }
                    content.waiting.append(continuation)
                    return false
                }
                if hasChanged { continuation.resume() }
            }
        }
    }
}
