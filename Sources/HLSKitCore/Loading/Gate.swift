import Synchronization

/// State behind a lock that tasks can wait for. Nobody blocks a thread.
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

    /// Calls `body` under the lock and lets whoever waits look again.
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
