import Logging
import Synchronization

final class Notebook: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: Logger.Metadata
    }

    private struct Handler: LogHandler {
        let notebook: Notebook
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            notebook.add(
                Line(
                    level: event.level, message: event.message.description,
                    metadata: metadata.merging(event.metadata ?? [:]) { $1 }))
        }
    }

    private let content = Mutex<[Line]>([])
    var lines: [Line] { content.withLock { $0 } }
    private func add(_ line: Line) { content.withLock { $0.append(line) } }

    func logger(_ level: Logger.Level) -> Logger {
        Logger(label: "test", factory: { _ in Handler(notebook: self, logLevel: level) })
    }
}
