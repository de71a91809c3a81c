import HLSGetKit
import HLSKitCore

/// Draws streams as a table that fits a terminal. The worst streams come first. If the terminal is narrow, the least
/// important columns are omitted.
///
///     300 streams: 297 up, 2 degraded, 1 down
///     STREAM     STATE     FOR   LATENCY  BUFFER  VARIANT
///     news       down     0:42         -    0.0s  720p 3M   stalled: HTTP 503
///
/// A value without I/O.
struct MonitorTable: Sendable, Equatable {
    /// Columns of the terminal. The last one stays empty, because many terminals wrap as soon as it is written.
    var width: Int
    var height: Int
    var allowsColor = false
    var allowsUnicode = false
    var offset = 0
    var footer = ""

    private struct Column: Sendable {
        var title: String
        var width: Int
        /// Columns with the lowest weight are omitted first.
        var weight: Int
        var isLeft = false
        var text: @Sendable (StreamRow) -> String
    }

    private static let nameWidth = 12...40

    /// Returns at most ``height`` lines of at most ``width`` - 1 characters each, not counting colour codes.
    func render(_ rows: [StreamRow], elapsed: Duration) -> [String] {
        let rows = rows.sorted(by: StreamRow.isWorse)
        let space = max(10, width - 1)
        var lines = [cut(summary(of: rows, elapsed: elapsed), to: space)]
        guard height > 2 else { return Array(lines.prefix(max(1, height))) }
        let longest = rows.map { TerminalText.escaped($0.name).count }.max() ?? 0
        let most = max(Self.nameWidth.lowerBound, min(Self.nameWidth.upperBound, space / 3))
        let name = min(max(longest, Self.nameWidth.lowerBound), most)
        let columns = columns(in: space - name, longestReason: rows.map(\.reason.count).max() ?? 0)
        lines.append(dim(cut(header(columns, name: name), to: space)))
        let footerLines = footerLines(with: rows.count, space: space)
        var capacity = height - 2 - footerLines.count
        let first = max(0, min(offset, rows.count - 1))
        if rows.count - first > capacity { capacity -= 1 }
        let shown = rows.dropFirst(first).prefix(max(0, capacity))
        for row in shown { lines.append(line(row, columns, name: name, space: space)) }
        let rest = rows.count - first - shown.count
        if rest > 0 {
            let states = Self.counts(of: rows.suffix(rest))
            lines.append(dim(cut("\(allowsUnicode ? "…" : "...") \(rest) more: \(states)", to: space)))
        }
        return lines + footerLines
    }

    /// The whole footer if the streams leave room, otherwise as much as fits into one line.
    private func footerLines(with rowCount: Int, space: Int) -> [String] {
        guard !footer.isEmpty, height > 4 else { return [] }
        let text = TerminalText.escaped(footer)
        let room = max(1, min(3, height - 2 - rowCount))
        var (lines, rest) = ([String](), Substring(text))
        while lines.count < room - 1, rest.count > space {
            lines.append(String(rest.prefix(space)))
            rest = rest.dropFirst(space)
        }
        return lines + [cut(String(rest), to: space)]
    }

    /// A summary such as `300 streams: 297 up, 2 degraded, 1 down`.
    static func counts(of rows: some Collection<StreamRow>) -> String {
        var counts: [String: Int] = [:]
        for row in rows { counts[row.stateName, default: 0] += 1 }
        return ["down", "degraded", "starting", "up"].compactMap { name in counts[name].map { "\($0) \(name)" } }
            .joined(separator: ", ")
    }

    private func summary(of rows: [StreamRow], elapsed: Duration) -> String {
        "\(Decimals.count(rows.count, "stream")): \(Self.counts(of: rows))  \(Decimals.clock(elapsed.inSeconds))"
    }

    // MARK: Columns

    private static let allColumns = [
        Column(title: "STATE", width: 8, weight: 9, isLeft: true) { $0.stateName },
        Column(title: "FOR", width: 7, weight: 7) { Decimals.clock($0.held.inSeconds) },
        Column(title: "LATENCY", width: 7, weight: 6) { seconds($0.sample.latency) },
        Column(title: "BUFFER", width: 6, weight: 5) { seconds($0.sample.buffered) },
        Column(title: "STALLS", width: 6, weight: 4) { String($0.counters.stallCount) },
        Column(title: "VARIANT", width: 10, weight: 3, isLeft: true) { $0.sample.variant },
        Column(title: "NET", width: 5, weight: 2) { $0.sample.throughput.map(Decimals.bitRate) ?? "-" },
        Column(title: "ERRORS", width: 6, weight: 2) { String($0.errorCount) },
        Column(title: "MISSING", width: 7, weight: 1) { String($0.counters.missingSegmentCount) },
        Column(title: "LATE", width: 4, weight: 1) { String($0.counters.latePlaylistCount) },
        Column(title: "DISC", width: 4, weight: 0) { String($0.counters.discontinuityCount) },
        Column(title: "A/C", width: 5, weight: 0) { "\($0.sample.audioTrackCount)/\($0.sample.captionTrackCount)" },
        Column(title: "CERT", width: 5, weight: 1) { $0.certificateDays.map { "\($0)d" } ?? "-" },
    ]

    private static func seconds(_ time: Duration?) -> String {
        time.map { "\(Decimals.text($0.inSeconds, places: $0 < .seconds(100) ? 1 : 0))s" } ?? "-"
    }

    /// The columns that fit next to the reasons, which may use half of the space.
    private func columns(in space: Int, longestReason: Int) -> [Column] {
        var columns = Self.allColumns
        let reserve = longestReason > 0 ? min(longestReason + 2, space / 2) : 0
        while columns.count > 1, columns.reduce(0, { $0 + $1.width + 2 }) + reserve > space {
            let least = columns.map(\.weight).min() ?? 0
            guard let index = columns.lastIndex(where: { $0.weight == least }) else { break }
            columns.remove(at: index)
        }
        return columns
    }

    private func header(_ columns: [Column], name: Int) -> String {
        var text = "STREAM".padded(to: name)
        for column in columns {
            let (title, width) = (column.title, column.width)
            text += "  " + (column.isLeft ? title.padded(to: width) : title.leftPadded(to: width))
        }
        return text.trimmedEnd
    }

    private func line(_ row: StreamRow, _ columns: [Column], name: Int, space: Int) -> String {
        var text = cut(TerminalText.escaped(row.name), to: name).padded(to: name)
        var state = (start: 0, end: 0)
        for column in columns {
            let value = cut(column.text(row), to: column.width)
            text += "  "
            if column.title == "STATE" { state.start = text.count }
            text += column.isLeft ? value.padded(to: column.width) : value.leftPadded(to: column.width)
            if column.title == "STATE" { state.end = text.count }
        }
        if !row.reason.isEmpty { text += "  " + row.reason }
        text = cut(text.trimmedEnd, to: space)
        guard allowsColor, let color = Self.color(of: row), state.end <= text.count else { return text }
        let characters = Array(text)
        return String(characters[..<state.start]) + color + String(characters[state.start..<state.end]) + "\u{1b}[0m"
            + String(characters[state.end...])
    }

    private static func color(of row: StreamRow) -> String? {
        switch row.state {
        case .down: "\u{1b}[31m"
        case .degraded: "\u{1b}[33m"
        case .up: "\u{1b}[32m"
        case nil: nil
        }
    }

    private func dim(_ text: String) -> String { allowsColor ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

    private func cut(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        let mark = allowsUnicode ? "…" : "~"
        return String(text.prefix(max(0, width - 1))) + mark
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        guard let last = lastIndex(where: { $0 != " " }) else { return "" }
        return String(self[...last])
    }
}
