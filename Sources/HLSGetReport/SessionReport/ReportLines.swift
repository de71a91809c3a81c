import HLSGetKit
import HLSKitCore
import Synchronization

/// Takes the lines of JSON of a session from all that make them: writes them where somebody reads them, and keeps what a
/// report needs.
package final class ReportLines: Sendable {
    private let recorder: Mutex<SessionRecorder?>
    private let writes: Bool

    /// - Parameters:
    ///   - records: whether a report will be asked for.
    ///   - writes: whether they are written on standard error.
    package init(records: Bool, writes: Bool) {
        recorder = Mutex(records ? SessionRecorder() : nil)
        self.writes = writes
    }

    /// - Parameters:
    ///   - line: without its end.
    ///   - isLast: it is written elsewhere, behind what the report may fail with.
    package func take(_ line: String, isLast: Bool = false) {
        recorder.withLock { $0?.take(line) }
        if writes, !isLast { StandardStream.error.writeLine(line) }
    }

    /// The page of all lines up to now; nil where they are not kept.
    package var page: ReportPage? {
        recorder.withLock { $0?.finished() }.map { ReportPage([.init(name: nil, record: $0)]) }
    }
}
