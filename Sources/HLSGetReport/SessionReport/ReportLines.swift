import HLSGetKit
import HLSKitCore
import Synchronization

/// Collects the JSON lines of a session from all sources. Writes them to standard error if requested, and keeps the
/// data that a report needs.
package final class ReportLines: Sendable {
    private let recorder: Mutex<SessionRecorder?>
    private let writes: Bool

    /// - Parameters:
    ///   - records: Whether to keep the data for a report.
    ///   - writes: Whether to write the lines to standard error.
    package init(records: Bool, writes: Bool) {
        recorder = Mutex(records ? SessionRecorder() : nil)
        self.writes = writes
    }

    /// - Parameters:
    ///   - line: The line without its line feed.
    ///   - isLast: Whether this is the last line, which the caller writes after creating the report.
    package func take(_ line: String, isLast: Bool = false) {
        recorder.withLock { $0?.take(line) }
        if writes, !isLast { StandardStream.error.writeLine(line) }
    }

    package var page: ReportPage? {
        recorder.withLock { $0?.finished() }.map { ReportPage([.init(name: nil, record: $0)]) }
    }
}
