import Glibc
package import HLSKitCore

/// What the status line says of files that are being written: how much of the stream they hold, of how much, and how large
/// they are.
///
///     rec 0:12 of 1:00:00 3.2 MB
package struct RecordingStatus: Sendable, Equatable {
    /// Where the files are to be.
    let paths: [String]
    /// Until then `.part` follows their names. Not so of parts of a recording that is split.
    var isNamedAtEnd = true
    /// How much is wanted; nil for all there is.
    var limit: Duration?
    /// The item time of the first frame.
    private var start: Double?

    package init(paths: [String], limit: Duration? = nil, isNamedAtEnd: Bool = true) {
        self.paths = paths
        self.limit = limit
        self.isNamedAtEnd = isNamedAtEnd
    }

    /// One line for who has just begun.
    ///
    /// - Parameter readsKeys: standard input is the terminal.
    package func announcement(readsKeys: Bool) -> String {
        let end = readsKeys ? "q or Ctrl-C" : "Ctrl-C"
        return "writing \(names): \(end) ends it, and what there is stays"
    }

    private var names: String {
        paths.map { path in
            let name = TerminalText.escaped(path)
            return isNamedAtEnd ? "\(name) (\(name).part until it is done)" : name
        }.joined(separator: ", ")
    }

    /// A line for a log, which has no status line: the files and the amount written so far.
    package mutating func logLine(
        _ state: PlayerState, byteCount: (String) -> Int? = { RecordingStatus.byteCount(ofFileAt: $0) }
    ) -> String {
        let text = text(state, byteCount: byteCount).dropFirst("rec".count)
        return "hlsget: writing \(names)" + (text.isEmpty ? "" : ":\(text)")
    }

    /// Notes the time of the first frame.
    package mutating func observe(_ state: PlayerState) {
        if start == nil, state.timeControlStatus == .playing { start = state.currentTime.finiteSeconds }
    }

    /// - Parameter byteCount: how large a file is; nil where it is not there.
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
