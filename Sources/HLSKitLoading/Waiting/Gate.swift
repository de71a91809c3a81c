import Synchronization

/// State behind a lock that tasks wait for: a ``Monitor`` that blocks no thread.
///
/// For what is neither a single value (``OneShot``) nor a sequence (``Broadcast``): whoever waits says under the lock what
/// has to be true, and takes what it waited for in the same step.
package final class Gate<State: Sendable>: Sendable {
    private struct Content {
        var state: State
        /// Counts signals: who looked before the last one looks again.
        var version = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let content: Mutex<Content>

    package init(_ state: State) {
        content = Mutex(Content(state: state))
    }

    /// Calls `body` under the lock.
    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        content.withLock { body(&$0.state) }
    }

    /// Calls `body` under the lock and lets all who wait look again.
    package func signal(_ body: (inout State) -> Void) {
        let waiting = content.withLock { content in
            body(&content.state)
            content.version += 1
            defer { content.waiting = [] }
            return content.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Calls `body` under the lock, again after each signal, until it gives a result.
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
