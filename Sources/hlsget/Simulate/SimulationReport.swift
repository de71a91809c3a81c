import HLSGetKit
import HLSKitCore
import HLSKitSimulation

struct SimulationReport: Sendable {
    struct Row: Sendable, Equatable {
        var trace: String
        var family: String
        var movie: String
        /// In milliseconds.
        var bufferCap: Int
        var rule: String
        /// In the order of ``measures``.
        var values: [Double]
    }

    var rows: [Row]

    /// The maximum number of traces that the table lists individually.
    private static let listedCount = 40

    static let measures: [(name: String, places: Int, value: @Sendable (SessionScore) -> Double)] = [
        ("qoe_norm", 4, { $0.normalizedQoE }), ("rebuffer_pct", 3, { $0.rebufferPercentage }),
        ("mean_kbps", 0, { $0.meanKilobitsPerSecond }), ("switches_min", 2, { $0.switchesPerMinute }),
        ("startup_s", 2, { $0.startupTime.inSeconds }), ("stall_s", 2, { $0.stallDuration.inSeconds }),
        ("stalls", 2, { Double($0.stallCount) }), ("wasted_pct", 2, { $0.wastedPercentage }),
    ]

    /// Additional measures of a live stream in further columns: the latency in seconds.
    static let latencyMeasures: [(name: String, places: Int, value: @Sendable (LatencyFigures) -> Double)] = [
        ("latency_mean_s", 3, { $0.mean }), ("latency_p50_s", 3, { $0.median }),
        ("latency_p95_s", 3, { $0.percentile95 }),
    ]

    static func values(_ score: SessionScore) -> [Double] { measures.map { $0.value(score) } }

    static func values(_ score: SessionScore, _ latency: LatencyFigures) -> [Double] {
        values(score) + latencyMeasures.map { $0.value(latency) }
    }

    private var columns: [(name: String, places: Int)] {
        let all = Self.measures.map { ($0.name, $0.places) } + Self.latencyMeasures.map { ($0.name, $0.places) }
        return Array(all.prefix(rows.first?.values.count ?? Self.measures.count))
    }

    private var families: [String] { Set(rows.map(\.family)).sorted() }

    private func mean(of family: String, _ measure: Int) -> Double {
        let values = rows.filter { $0.family == family }.map { $0.values[measure] }
        return values.reduce(0, +) / Double(max(1, values.count))
    }

    /// The mean of the families with equal weights.
    private func overall(_ measure: Int) -> Double {
        let means = families.map { mean(of: $0, measure) }
        return means.reduce(0, +) / Double(max(1, means.count))
    }

    private func texts(_ value: (Int) -> Double) -> [String] {
        columns.enumerated().map { Decimals.text(value($0), places: $1.places) }
    }

    var table: String {
        var lines: [[String]] = [["", "traces"] + columns.map(\.name)]
        if rows.count <= Self.listedCount {
            for row in rows { lines.append([row.trace, ""] + texts { row.values[$0] }) }
        }
        for family in families where rows.count > 1 {
            lines.append(
                [family, String(rows.count { $0.family == family })] + texts { mean(of: family, $0) })
        }
        if families.count > 1 {
            lines.append(["all families", String(rows.count)] + texts { overall($0) })
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let cells = line.enumerated().map { column, text in
                column == 0 ? text.padded(to: widths[0]) : text.leftPadded(to: widths[column])
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    private static let csvLabels = "family,trace,movie,cap_ms,alg"

    func csv(withHeader: Bool) -> String {
        var text = withHeader ? ([Self.csvLabels] + columns.map(\.name)).joined(separator: ",") + "\n" : ""
        for row in rows {
            let values = row.values.map { Decimals.text($0, places: 6) }
            let names = [row.family, row.trace, row.movie].map(Self.field)
            text += (names + [String(row.bufferCap), row.rule] + values).joined(separator: ",") + "\n"
        }
        return text
    }

    private static func field(_ text: String) -> String {
        guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    var json: JSONValue {
        func object(_ value: (Int) -> Double) -> [JSONValue.Member] {
            columns.enumerated().map { JSONValue.Member(name: $1.name, value: .number(value($0))) }
        }
        let sessions = rows.map { row in
            JSONValue.object(
                [
                    .init(name: "trace", value: .string(row.trace)), .init(name: "family", value: .string(row.family)),
                    .init(name: "movie", value: .string(row.movie)),
                ] + object { row.values[$0] })
        }
        let means = families.map { family in
            JSONValue.object([.init(name: "family", value: .string(family))] + object { mean(of: family, $0) })
        }
        return .object([
            .init(name: "v", value: .integer(1)), .init(name: "rule", value: .string(rows.first?.rule ?? "")),
            .init(name: "buffer_cap_ms", value: .integer(rows.first?.bufferCap ?? 0)),
            .init(name: "overall", value: .object(object { overall($0) })),
            .init(name: "families", value: .array(means)), .init(name: "sessions", value: .array(sessions)),
        ])
    }
}

// MARK: - Merging

extension SimulationReport {
    /// Merges the `--csv` output of several runs, which are shards of one sweep.
    ///
    /// Rows are sorted by trace, so that the order of the files does not matter. Header lines are skipped anywhere, so
    /// that files may be concatenated first.
    init(merging files: [(path: String, text: String)]) throws(SimulationFailure) {
        var rows: [Row] = []
        for (path, text) in files {
            for (index, line) in text.split(whereSeparator: \.isNewline).enumerated()
            where !line.hasPrefix(Self.csvLabels + ",") {
                guard let row = Row(csv: line) else {
                    throw SimulationFailure(
                        cause: "not a result of simulate --csv", path: path, detail: "row \(index + 1)",
                        status: .badPlaylist)
                }
                if let first = rows.first,
                    (first.rule, first.bufferCap, first.values.count) != (row.rule, row.bufferCap, row.values.count)
                {
                    throw SimulationFailure(
                        cause: "results of different runs", path: path,
                        detail: "\(first.rule) with \(first.bufferCap) ms, \(row.rule) with \(row.bufferCap) ms")
                }
                rows.append(row)
            }
        }
        rows.sort { ($0.family, $0.trace, $0.movie) < ($1.family, $1.trace, $1.movie) }
        for (one, next) in zip(rows, rows.dropFirst())
        where (one.family, one.trace, one.movie) == (next.family, next.trace, next.movie) {
            throw SimulationFailure(cause: "duplicate trace", path: one.trace)
        }
        guard !rows.isEmpty else {
            throw SimulationFailure(cause: "no results", path: files.first?.path ?? "", status: .badPlaylist)
        }
        self.init(rows: rows)
    }
}

extension SimulationReport.Row {
    fileprivate init?(csv line: Substring) {
        var fields: [String] = []
        var rest = line
        while true {
            var field = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let quote = rest.firstIndex(of: "\"") {
                    field += rest[..<quote]
                    rest = rest[rest.index(after: quote)...]
                    guard rest.first == "\"" else { break }
                    field += "\""
                    rest = rest.dropFirst()
                }
                guard rest.isEmpty || rest.first == "," else { return nil }
            } else {
                field = String(rest.prefix { $0 != "," })
                rest = rest.dropFirst(field.count)
            }
            fields.append(field)
            guard rest.first == "," else { break }
            rest = rest.dropFirst()
        }
        let values = fields.dropFirst(5).compactMap(Double.init)
        let count = SimulationReport.measures.count
        guard values.count == fields.count - 5,
            values.count == count || values.count == count + SimulationReport.latencyMeasures.count,
            values.allSatisfy(\.isFinite), let bufferCap = Int(fields[3])
        else { return nil }
        self.init(
            trace: fields[1], family: fields[0], movie: fields[2], bufferCap: bufferCap, rule: fields[4],
            values: values)
    }
}
