import Glibc
import HLSKitCore

/// The status of files that are being written: their duration, the limit, and their size.
///
/// ```
/// rec 0:12 of 1:00:00 3.2 MB
/// ```
package struct RecordingStatus: Sendable, Equatable {
    /// The final paths of the files.
    let paths: [String]
    /// Whether the names end in `.part` until the files are finished. Parts of a split recording have no such suffix.
    var isNamedAtEnd = true
    /// The requested duration, or `nil` for all.
    var limit: Duration?
    /// The item time of the first frame.
    private var start: Double?

    package init(paths: [String], limit: Duration? = nil, isNamedAtEnd: Bool = true) {
        self.paths = paths
        self.limit = limit
        self.isNamedAtEnd = isNamedAtEnd
    }

    /// One line to show at the start.
    ///
    /// - Parameter readsKeys: Whether standard input is the terminal.
    package func announcement(readsKeys: Bool) -> String {
        let names = paths.map { path in
            let name = TerminalText.escaped(path)
            return isNamedAtEnd ? "\(name) (\(name).part until finished)" : name
        }
        let end = readsKeys ? "q or Ctrl-C" : "Ctrl-C"
        return "writing \(names.joined(separator: ", ")): press \(end) to stop and keep the recording"
    }

    /// - Parameter byteCount: Returns the size of a file, or `nil` if it does not exist.
    mutating func text(
        _ state: PlayerState, byteCount: (String) -> Int? = { RecordingStatus.byteCount(ofFileAt: $0) }
    ) -> String {
        var text = "rec"
        let now = state.currentTime.finiteSeconds
        if start == nil, state.timeControlStatus == .playing { start = now }
        if limit != nil || state.liveOffset != nil {
            text += " " + Decimals.clock(max(0, (now ?? 0) - (start ?? now ?? 0)))
            if let limit { text += " of \(Decimals.clock(limit.inSeconds))" }
        }
        let counts = paths.compactMap { byteCount($0 + ".part") }
        if !counts.isEmpty { text += " " + Decimals.bytes(counts.reduce(0, +)) }
        return text
    }

    private static func byteCount(ofFileAt path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
