import Glibc
import HLSKitCore

/// The file of `--access-log`: each event is written when the next one begins, and the last at the end.
struct AccessLogFile: ~Copyable {
    private let path: String
    private let isJSON: Bool
    private let descriptor: Int32
    private var writtenCount = 0
    private var failure: HLSError?

    /// Makes the file, for its owner only: URLs may hold what is secret.
    init(path: String, overwrite: Bool) throws(HLSError) {
        self.path = path
        isJSON = [".json", ".ndjson"].contains { path.hasSuffix($0) }
        descriptor = try SafeFile.create(path, overwrite: overwrite)
        if !isJSON { write(AccessLog.extendedLogHeader) }
    }

    deinit { close(descriptor) }

    /// Writes the events that are over.
    mutating func writeFinished(of log: AccessLog?) {
        for event in log?.events.dropLast().dropFirst(writtenCount) ?? [] { write(event) }
    }

    /// Writes the rest of all events; reports what went wrong.
    mutating func finish(_ events: [AccessLogEvent]) -> HLSError? {
        for event in events.dropFirst(writtenCount) { write(event) }
        return failure
    }

    private mutating func write(_ event: AccessLogEvent) {
        write(isJSON ? event.jsonLine + "\n" : event.extendedLogLine)
        writtenCount += 1
    }

    private mutating func write(_ text: String) {
        guard failure == nil else { return }
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let text = String(cString: strerror(errno))
                failure = HLSError(code: .output, url: path, cause: "cannot write", detail: text)
                return
            }
            offset += count
        }
    }
}
