package import HLSKitCore
import Synchronization

/// Writes what is measured of items as lines of `--progress json`.
package final class MetricLines: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let write: @Sendable (String) -> Void

    /// - Parameter write: takes a line without its end.
    package init(write: @escaping @Sendable (String) -> Void = { StandardStream.error.writeLine($0) }) {
        self.write = write
    }

    /// Writes what is measured of `item` from now on.
    package func follow(_ item: PlayerItem) {
        let (metrics, write) = (item.allMetrics(), write)
        let task = Task { for await metric in metrics { write(metric.jsonLine) } }
        tasks.withLock { $0.append(task) }
    }

    /// Returns when all that was measured up to now is written.
    package func finish() async {
        let all = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in all {
            // Ends the stream; what lies in it is still handed out.
            task.cancel()
            await task.value
        }
    }
}
