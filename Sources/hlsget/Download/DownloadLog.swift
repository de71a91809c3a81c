import HLSGetKit
import HLSKitCore

/// Lines on the progress of a live download, for a log that has no status line.
struct DownloadLog: Sendable {
    private static let interval = Duration.seconds(600)

    /// The path of the download, for messages.
    let path: String
    /// Whether a part of the stream is requested that may not have been broadcast yet.
    let mayWait: Bool
    private var next = Duration.seconds(10)

    init(path: String, mayWait: Bool) {
        self.path = path
        self.mayWait = mayWait
    }

    /// Returns the line that is due, or `nil`.
    mutating func line(_ progress: DownloadProgress, at time: Duration, hasStatusLine: Bool) -> String? {
        guard progress.isLive, progress.phase == .loading, time >= next else { return nil }
        next = time + Self.interval
        if mayWait, progress.segmentCount == 0 { return "hlsget: waiting: the stream has not reached --from" }
        if hasStatusLine { return nil }
        let parts = [
            Decimals.clock(DownloadLine.recorded(progress)), Decimals.count(progress.segmentCount, "segment"),
            Decimals.bytes(progress.storedByteCount),
        ]
        return "hlsget: downloading to \(TerminalText.escaped(path)): \(parts.joined(separator: ", "))"
    }
}
