import HLSKitSimulation

/// The results of a sweep as a table, as CSV and as JSON.
struct SimulationReport: Sendable {
    var rule: String
    var bufferCap: Int
    var rows: [SimulationSweep.Row]

    /// Up to this many traces have a line each in the table.
    private static let listedCount = 40

    /// The measures in the order of the columns.
    private static let measures: [(name: String, places: Int, value: @Sendable (SessionScore) -> Double)] = [
        ("qoe_norm", 4, { $0.normalizedQoE }), ("rebuffer_pct", 3, { $0.rebufferPercentage }),
        ("mean_kbps", 0, { $0.meanKilobitsPerSecond }), ("switches_min", 2, { $0.switchesPerMinute }),
        ("startup_s", 2, { $0.startupTime }), ("stall_s", 2, { $0.stallDuration }),
        ("stalls", 2, { Double($0.stallCount) }), ("wasted_pct", 2, { $0.wastedPercentage }),
    ]

    private var families: [String] { Set(rows.map(\.family)).sorted() }

    /// The mean over the traces of each family.
    private func mean(of family: String, _ value: (SessionScore) -> Double) -> Double {
        let scores = rows.filter { $0.family == family }.map { value($0.score) }
        return scores.reduce(0, +) / Double(max(1, scores.count))
    }

    /// The mean of the families, each weighing the same.
    private func overall(_ value: (SessionScore) -> Double) -> Double {
        let means = families.map { mean(of: $0, value) }
        return means.reduce(0, +) / Double(max(1, means.count))
    }

    var table: String {
        var lines: [[String]] = [["", "traces"] + Self.measures.map(\.name)]
        if rows.count <= Self.listedCount {
            for row in rows {
                lines.append(
                    [row.trace, ""] + Self.measures.map { Decimals.text($0.value(row.score), places: $0.places) })
            }
        }
        for family in families where rows.count > 1 {
            lines.append(
                [family, String(rows.count { $0.family == family })]
                    + Self.measures.map { Decimals.text(mean(of: family, $0.value), places: $0.places) })
        }
        if families.count > 1 {
            lines.append(
                ["all families", String(rows.count)]
                    + Self.measures.map { Decimals.text(overall($0.value), places: $0.places) })
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let cells = line.enumerated().map { column, text in
                column == 0 ? text.padded(to: widths[0]) : text.leftPadded(to: widths[column])
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    func csv(withHeader: Bool) -> String {
        var text = ""
        if withHeader {
            text += "family,trace,movie,cap_ms,alg," + Self.measures.map(\.name).joined(separator: ",") + "\n"
        }
        for row in rows {
            let values = Self.measures.map { Decimals.text($0.value(row.score), places: 6) }
            let names = [row.family, row.trace, row.movie].map(Self.field)
            text += (names + [String(bufferCap), rule] + values).joined(separator: ",") + "\n"
        }
        return text
    }

    private static func field(_ text: String) -> String {
        guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    var json: JSONValue {
        func object(_ value: (@Sendable (SessionScore) -> Double) -> Double) -> [JSONValue.Member] {
            Self.measures.map { JSONValue.Member(name: $0.name, value: .number(value($0.value))) }
        }
        let sessions = rows.map { row in
            JSONValue.object(
                [
                    .init(name: "trace", value: .string(row.trace)), .init(name: "family", value: .string(row.family)),
                    .init(name: "movie", value: .string(row.movie)),
                ] + object { $0(row.score) })
        }
        let means = families.map { family in
            JSONValue.object([.init(name: "family", value: .string(family))] + object { mean(of: family, $0) })
        }
        return .object([
            .init(name: "v", value: .integer(1)), .init(name: "rule", value: .string(rule)),
            .init(name: "buffer_cap_ms", value: .integer(bufferCap)),
            .init(name: "overall", value: .object(object { overall($0) })),
            .init(name: "families", value: .array(means)), .init(name: "sessions", value: .array(sessions)),
        ])
    }
}
