package import HLSKitCore

/// The file of `--access-log`. Each event is written when the next one begins, and the last one at the end.
package struct AccessLogFile: ~Copyable {
    private var file: LogFile
    private var writtenCount = 0

    package init(path: String, overwrite: Bool) throws(HLSError) {
        file = try LogFile(path: path, overwrite: overwrite, header: AccessLog.extendedLogHeader)
    }

    package mutating func writeFinished(of log: AccessLog?) {
        for event in log?.events.dropLast().dropFirst(writtenCount) ?? [] { write(event) }
    }

    package mutating func finish(_ events: [AccessLogEvent]) -> HLSError? {
        for event in events.dropFirst(writtenCount) { write(event) }
        return file.failure
    }

    private mutating func write(_ event: AccessLogEvent) {
        file.write(file.isJSON ? event.jsonLine + "\n" : event.extendedLogLine)
        writtenCount += 1
    }
}
