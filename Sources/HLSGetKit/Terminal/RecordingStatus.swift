import Glibc
package import HLSKitCore

/// The status of files that are being written: their duration, the limit, and their size.
///
/// ```
/// rec 0:12 of 1:00:00 3.2 MB
/// ```
package struct RecordingStatus: Sendable, Equatable {
    /// The final paths of the files that are being written.
    var paths: [String]
    /// The requested duration, or `nil` for all.
    var limit: Duration?
    private var start: Double?

    package init(paths: [String], limit: Duration? = nil) {
        self.paths = paths
        self.limit = limit
    }

    /// - Parameter readsKeys: Whether standard input is the terminal.
    package func announcement(readsKeys: Bool) -> String {
        let end = readsKeys ? "q or Ctrl-C" : "Ctrl-C"
        return "writing \(names): press \(end) to stop and keep the recording"
    }

    private var names: String {
        paths.map { path in
            let name = TerminalText.escaped(path)
            return "\(name) (\(name).part until finished)"
        }.joined(separator: ", ")
    }

    /// A line for a log, which has no status line: the files and the amount written so far.
    ///
    /// - Parameter current: The files that are being written.
    package mutating func logLine(
        _ state: PlayerState, current: [String],
        byteCount: (String) -> Int? = { RecordingStatus.byteCount(ofFileAt: $0) }
    ) -> String {
        paths = current
        let text = text(state, byteCount: byteCount).dropFirst("rec".count)
        return "hlsget: writing \(names)" + (text.isEmpty ? "" : ":\(text)")
    }

    package mutating func observe(_ state: PlayerState) {
        if start == nil, state.timeControlStatus == .playing { start = state.currentTime.finiteSeconds }
    }

    mutating func text(
        _ state: PlayerState, byteCount: (String) -> Int? = { RecordingStatus.byteCount(ofFileAt: $0) }
    ) -> String {
        var text = "rec"
        observe(state)
        let now = state.currentTime.finiteSeconds
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
