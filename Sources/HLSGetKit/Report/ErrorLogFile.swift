package import HLSKitCore

/// The file of `--error-log`. Failures are written as they occur or, with several passes, at the end.
package struct ErrorLogFile: ~Copyable {
    private var file: LogFile
    /// The latest written event. The log itself drops the oldest ones.
    private var last: ErrorLogEvent?

    package init(path: String, overwrite: Bool) throws(HLSError) {
        file = try LogFile(path: path, overwrite: overwrite, header: ErrorLog.extendedLogHeader)
    }

    package mutating func writeNew(of log: ErrorLog?) {
        guard let events = log?.events else { return }
        let first = last.flatMap { events.lastIndex(of: $0) }.map { $0 + 1 } ?? 0
        for event in events[first...] { write(event) }
    }

    package mutating func finish(_ logs: [ErrorLog]) -> HLSError? {
        for (index, log) in logs.enumerated() {
            if index == 0 { writeNew(of: log) } else { for event in log.events { write(event) } }
        }
        return file.failure
    }

    private mutating func write(_ event: ErrorLogEvent) {
        file.write(file.isJSON ? event.jsonLine + "\n" : event.extendedLogLine)
        last = event
    }
}
