package import HLSKitCore

package struct DownloadSummary: Sendable, Equatable {
    var url: String
    package var exitStatus: ExitStatus
    package var error: HLSError?
    package var duration = Duration.zero
    /// The media time that was left out on purpose.
    var skippedDuration = Duration.zero
    var segmentCount = 0
    package var byteCount = 0
    var resumedSegmentCount = 0
    /// The number of segments from an earlier run that were damaged and loaded again.
    var damagedSegmentCount = 0
    /// The number of segments from another playlist.
    var substitutedSegmentCount = 0
    var missingSegmentCount = 0
    package var files: [String] = []
    package var text: String?

    package init(url: String, exitStatus: ExitStatus) {
        self.url = url
        self.exitStatus = exitStatus
    }

    package init(url: String, _ result: DownloadTask.Result, exitStatus: ExitStatus) {
        self.init(url: url, exitStatus: exitStatus)
        duration = result.duration
        skippedDuration = result.skippedDuration
        segmentCount = result.segmentCount
        resumedSegmentCount = result.resumedSegmentCount
        damagedSegmentCount = result.damagedSegmentCount
        substitutedSegmentCount = result.substitutedSegmentCount
        missingSegmentCount = result.missingSegmentCount
    }

    /// A line such as `0:10 in film.mp4 (3 segments, 1.2 MB)`. It names only the first and last of more than three files.
    package var line: String {
        let names = files.map { TerminalText.escaped($0) }
        var text = "\(Decimals.length(duration.inSeconds)) in "
        if let first = names.first, let last = names.last, names.count > 3 {
            text += "\(names.count) files, \(first) to \(last)"
        } else {
            text += names.joined(separator: ", ")
        }
        text += " (\(Decimals.count(segmentCount, "segment")), \(Decimals.bytes(byteCount))"
        if resumedSegmentCount > 0 { text += ", \(resumedSegmentCount) from an earlier run" }
        if damagedSegmentCount > 0 { text += ", \(damagedSegmentCount) damaged and reloaded" }
        if substitutedSegmentCount > 0 { text += ", \(substitutedSegmentCount) from another playlist" }
        if missingSegmentCount > 0 { text += ", \(missingSegmentCount) missing" }
        if skippedDuration > .zero { text += ", \(Decimals.length(skippedDuration.inSeconds)) skipped" }
        return text + ")"
    }

    /// The last line of `--progress json`.
    package func jsonLine(at time: Duration) -> String {
        EventReporter.text("summary", at: time, members.map { JSONValue.Member(name: $0.key, value: $0.value) })
    }

    package var document: String {
        let version = JSONValue.Member(name: "v", value: .integer(1))
        return JSONValue.object([version] + members.map { JSONValue.Member(name: $0.key, value: $0.value) }).text
    }

    private var members: KeyValuePairs<String, JSONValue> {
        [
            "url": .string(ErrorLine.bare(url: url)), "exit_status": .integer(Int(exitStatus.rawValue)),
            "error": EventReporter.json(error), "duration": .number(duration.inSeconds),
            "skipped_duration": .number(skippedDuration.inSeconds),
            "segments": .integer(segmentCount), "bytes": .integer(byteCount),
            "resumed_segments": .integer(resumedSegmentCount), "damaged_segments": .integer(damagedSegmentCount),
            "substituted_segments": .integer(substitutedSegmentCount),
            "missing_segments": .integer(missingSegmentCount), "files": .array(files.map { .string($0) }),
        ]
    }
}
