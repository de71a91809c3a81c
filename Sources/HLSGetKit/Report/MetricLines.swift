package import HLSKitCore
import Synchronization

package final class MetricLines: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let write: @Sendable (String) -> Void

    package init(write: @escaping @Sendable (String) -> Void = { StandardStream.error.writeLine($0) }) {
        self.write = write
    }

    package func follow(_ item: PlayerItem) {
        let (metrics, write) = (item.allMetrics(), write)
        let task = Task { for await metric in metrics { write(metric.jsonLine) } }
        tasks.withLock { $0.append(task) }
    }

    /// Returns after all metrics so far have been written.
    package func finish() async {
        let all = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in all {
            // This ends the stream after its pending metrics.
            task.cancel()
            await task.value
        }
    }
}
