import HLSGetKit

struct ReportSections: Sendable {
    private let record: SessionRecord
    private let findings: SessionFindings
    private let limits: SessionChart.Limits
    private let axis: TimeAxis
    private let prefix: String
    /// `false` if a table of both sessions shows them.
    private let showsFigures: Bool

    static let requestLimit = 300
    private static let groupSize = 50
    private static let rowLimit = 200

    init(
        _ record: SessionRecord, findings: SessionFindings, limits: SessionChart.Limits, axis: TimeAxis, prefix: String,
        showsFigures: Bool = true
    ) {
        self.showsFigures = showsFigures
        self.record = record
        self.findings = findings
        self.limits = limits
        self.axis = axis
        self.prefix = prefix
    }

    var html: String {
        // The page shows the first sections of two sessions side by side.
        let rest = [stalls, start, decisions, failures, requests, periods, reading].joined()
        return summary + "<section>\n\(overview)</section>\n<div>\n\(rest)</div>\n"
    }

    // MARK: Summary

    private var summary: String {
        let sentences = findings.sentences.map { sentence in
            let isCause = sentence.hasPrefix("Why")
            let colon = isCause ? sentence.firstIndex(of: ":") : nil
            guard let colon else { return "<p>\(Markup.foreign(sentence))</p>" }
            return "<p class=\"why\"><strong>\(Markup.foreign(String(sentence[...colon])))</strong>"
                + "\(Markup.foreign(String(sentence[sentence.index(after: colon)...])))</p>"
        }
        let figures = findings.figures.map { figure in
            let tone = figure.tone == .bad ? " class=\"bad\"" : figure.tone == .good ? " class=\"good\"" : ""
            return "<div\(tone)><dt>\(figure.name)</dt><dd><b>\(Markup.escaped(figure.value))</b> "
                + "<small>\(Markup.escaped(figure.note))</small></dd></div>"
        }
        let list = "<dl class=\"figures\">\n\(figures.joined(separator: "\n"))\n</dl>\n"
        return "<section class=\"summary\">\n\(sentences.joined(separator: "\n"))\n"
            + (showsFigures && !figures.isEmpty ? list : "") + "</section>\n"
    }

    // MARK: Over time

    private var overview: String {
        guard !record.spells.isEmpty || !record.requests.isEmpty || !record.periods.isEmpty else { return "" }
        var links = ""
        if !findings.stalls.isEmpty {
            links = findings.stalls.enumerated().map { index, stall in
                "<a href=\"#\(prefix)-stall-\(index + 1)\">\(Decimals.clock(stall.stall.start))</a>"
            }.joined(separator: ", ")
            links = "<p class=\"facts\">Stalls, one by one: \(links)</p>\n"
        }
        let label = "The session over time: playback, buffered media, bit rates, requests"
        return "<h3>Over time</h3>\n" + chart(axis, label: label) + Self.viewerLegend(record) + links
    }

    /// - Parameter limits: The limits of a close-up, which lists its requests below.
    private func chart(_ axis: TimeAxis, label: String, limits: SessionChart.Limits? = nil) -> String {
        let drawing = SessionChart(record, axis: axis, limits: limits ?? self.limits, showsRequests: limits == nil)
            .drawing
        let text = "\(label). \(Decimals.clock(axis.start)) to \(Decimals.clock(axis.end))."
        return """
            <div class="chart\(limits == nil ? "" : " close")" tabindex="0" role="group" aria-label="\(Markup.escaped(label)). Arrow keys move along it.">
            <div class="area">\(drawing.inline(label: text))<div class="cursor" hidden></div></div>
            <output class="readout"></output></div>

            """
    }

    private static func viewerLegend(_ record: SessionRecord) -> String {
        guard !record.spells.isEmpty else { return "" }
        let kinds: [(String, String, (SessionRecord.Activity) -> Bool)] = [
            ("playing", "playing", { $0 == .playing }), ("stalled", "stall", { $0 == .waiting(.stall) }),
            ("waiting after a seek", "seek", { $0 == .waiting(.seek) }),
            (
                "waiting to start or resume", "start",
                { $0.waitCause != nil && $0 != .waiting(.stall) && $0 != .waiting(.seek) }
            ),
            ("paused", "paused", { $0 == .paused }),
        ]
        let entries = kinds.filter { kind in record.spells.contains { kind.2($0.activity) } }.map { name, style, _ in
            #"<span><svg width="12" height="10" aria-hidden="true"><rect class="f-\#(style)" width="12" height="10"/></svg> \#(name)</span>"#
        }
        return "<p class=\"legend\">\(entries.joined(separator: " "))</p>\n"
    }

    // MARK: Waits

    private var stalls: String {
        guard !findings.stalls.isEmpty else { return "" }
        var html = ""
        let left = record.stalls.count - findings.stalls.count
        if left > 0 {
            html += "<p class=\"facts\">The \(findings.stalls.count) longest of \(record.stalls.count).</p>\n"
        }
        for (index, stall) in findings.stalls.enumerated() {
            let heading =
                "\(Decimals.moment(stall.stall.start)): \(Decimals.seconds(stall.stall.duration)), \(stall.title)"
            let shown = TimeAxis(from: stall.window.lowerBound, to: stall.window.upperBound)
            html +=
                "<section class=\"stall\" id=\"\(prefix)-stall-\(index + 1)\">\n<h4>\(Markup.foreign(heading))</h4>\n"
            html += "<p>\(Markup.foreign(([stall.text] + stall.notes).joined(separator: " ")))</p>\n"
            html += closeUp(
                shown, Array(stall.requests), label: "Around the stall at \(Decimals.clock(stall.stall.start))")
            html += "</section>\n"
        }
        return section("Why it stalled", html)
    }

    private func closeUp(_ shown: TimeAxis, _ indices: [Int], label: String) -> String {
        var html = chart(shown, label: label, limits: closeLimits(shown))
        let rows = indices.suffix(30).map { record.requests[$0] }
        guard !rows.isEmpty else { return html }
        html += RequestWaterfall(rows, of: record, axis: shown).html(showsAxis: false)
        if indices.count > rows.count {
            html +=
                "<p class=\"facts\">\(indices.count - rows.count) earlier requests of this stretch are not shown.</p>\n"
        }
        return html + "<p class=\"legend\">\(RequestWaterfall.legend)</p>\n"
    }

    private func closeLimits(_ shown: TimeAxis) -> SessionChart.Limits {
        var part = record
        part.samples = record.samples.filter { $0.time >= shown.start - 1 && $0.time <= shown.end }
        part.requests = record.requests.filter { shown.shows($0.start, $0.end) }
        return SessionChart.Limits(for: part)
    }

    private var start: String {
        guard let end = record.firstPlaying, end > 0, !record.requests.isEmpty else { return "" }
        let steps =
            findings.startSteps.isEmpty
            ? ""
            : "<p>Took \(Decimals.seconds(end)): \(Markup.foreign(findings.startSteps.joined(separator: ", "))).</p>\n"
        let shown = TimeAxis(from: 0, to: end * 1.15)
        let rows = record.requests.filter { $0.start <= shown.end }.prefix(40)
        return section(
            "The start",
            steps + RequestWaterfall(Array(rows), of: record, axis: shown).html()
                + "<p class=\"legend\">\(RequestWaterfall.legend)</p>\n")
    }

    // MARK: Tables

    private var decisions: String {
        guard !record.decisions.isEmpty else { return "" }
        let shown = Self.middleOmitted(record.decisions, Self.rowLimit)
        let rows = shown.map { decision -> String in
            guard let decision else {
                return "<tr><td colspan=\"3\" class=\"more\">\(record.decisions.count - Self.rowLimit) more</td></tr>"
            }
            let sign =
                switch decision.kind {
                case .up: "▲ "
                case .down: "▼ "
                case .abandon, .skip: "✕ "
                default: ""
                }
            return
                "<tr><td class=\"time\">\(Decimals.moment(decision.time))</td><td>\(sign)\(Markup.foreign(decision.what))</td>"
                + "<td>\(Markup.foreign(decision.reason ?? ""))</td></tr>"
        }
        return section("Decisions", table(["Time", "What", "Why"], rows, isOpen: record.decisions.count <= 30))
    }

    private var failures: String {
        guard !record.failures.isEmpty else { return "" }
        let rows = record.failures.prefix(Self.rowLimit).map { failure in
            let detail = failure.detail.map { " (\($0))" } ?? ""
            let kind = failure.isRecoverable ? "" : "<strong>ended the session:</strong> "
            return "<tr><td class=\"time\">\(failure.time.map(Decimals.moment) ?? "–")</td>"
                + "<td>\(kind)\(Markup.foreign(failure.cause + detail))</td>"
                + "<td class=\"url\">\(Markup.foreign(url: failure.url ?? ""))</td></tr>"
        }
        let left = record.failures.count - rows.count + record.numberOfMoreFailures
        let note = left > 0 ? "<p class=\"facts\">\(left) more are not shown.</p>\n" : ""
        return section(
            "Errors", table(["Time", "What", "Where"], Array(rows), isOpen: record.failures.count <= 20) + note)
    }

    private var requests: String {
        guard !record.requests.isEmpty else { return "" }
        let rows = SessionRecord.RequestKind.allCases.compactMap { kind -> String? in
            guard let totals = record.totals[kind] else { return nil }
            let (median, high) = (totals.firstByte.value(at: 0.5), totals.firstByte.value(at: 0.95))
            let reuse =
                totals.connectionCount > 0
                ? Decimals.percent(Double(totals.reusedCount) / Double(totals.connectionCount)) : "–"
            let cells = [
                "\(totals.count)", "\(totals.failedCount)", Decimals.bytes(totals.byteCount),
                median.map(Decimals.seconds) ?? "–", high.map(Decimals.seconds) ?? "–",
                Decimals.seconds(totals.longest), reuse,
            ]
            return "<tr><th scope=\"row\">\(kind.label)</th>"
                + cells.map { "<td class=\"num\">\($0)</td>" }.joined() + "</tr>"
        }
        let heads = ["Kind", "Count", "Failed", "Bytes", "First byte", "95 %", "Longest", "Kept connections"]
        return section("Requests", table(heads, rows, isOpen: true) + requestList)
    }

    private var requestList: String {
        guard record.requests.count > Self.requestLimit else {
            var html = ""
            var index = 0
            while index < record.requests.count {
                let group = Array(record.requests[index..<min(record.requests.count, index + Self.groupSize)])
                let (from, to) = (group.first?.start ?? 0, group.map(\.end).max() ?? 0)
                let name =
                    "\(Decimals.moment(from))–\(Decimals.moment(to)): \(Decimals.count(group.count, "request"))"
                html += "<details class=\"group\"><summary>\(name)</summary>\n"
                html += RequestWaterfall(group, of: record, axis: TimeAxis(from: from, to: to)).html() + "</details>\n"
                index += Self.groupSize
            }
            return html + "<p class=\"legend\">\(RequestWaterfall.legend)</p>\n"
        }
        var html = ""
        let failed = record.requests.filter { $0.hasFailed || $0.isAbandoned }.prefix(60)
        if !failed.isEmpty {
            html += "<details class=\"group\"><summary>Failed or given up: the first \(failed.count)</summary>\n"
            html += RequestWaterfall(comparing: Array(failed), of: record).html() + "</details>\n"
        }
        let slow = record.requests.filter { !$0.hasFailed && !$0.isAbandoned }
            .sorted { ($0.duration, $1.start) > ($1.duration, $0.start) }.prefix(40)
        html += "<details class=\"group\"><summary>The slowest \(slow.count)</summary>\n"
        html += RequestWaterfall(comparing: Array(slow), of: record).html() + "</details>\n"
        return html + "<p class=\"legend\">\(RequestWaterfall.legend)</p>\n"
            + "<p class=\"facts\">Of \(record.requestCount) requests; those of the start and of stalls are shown there.</p>\n"
    }

    private var periods: String {
        guard !record.periods.isEmpty else { return "" }
        let rows = record.periods.prefix(Self.rowLimit).map { period in
            let cells = [
                period.start.map(Decimals.moment) ?? "–", Decimals.length(period.watched), "\(period.stalls)",
                "\(period.requestCount)", Decimals.bytes(period.byteCount),
                period.indicatedBitrate.map(Decimals.bitRate) ?? "–",
                period.observedBitrate.map(Decimals.bitRate) ?? "–",
            ]
            return "<tr>" + cells.map { "<td class=\"num\">\($0)</td>" }.joined()
                + "<td class=\"url\">\(Markup.foreign(url: period.uri ?? ""))</td></tr>"
        }
        let heads = ["Time", "Watched", "Stalls", "Requests", "Bytes", "Variant", "Network", "Playlist"]
        return section("Access log", table(heads, Array(rows), isOpen: rows.count <= 30))
    }

    private var reading: String {
        let reading = record.reading
        var notes = ["\(Decimals.count(reading.lineCount, "line")) read."]
        if reading.damagedCount > 0 {
            notes.append("\(Decimals.count(reading.damagedCount, "line")) could not be read and were skipped.")
        }
        if reading.unknownCount > 0 {
            let kinds = reading.unknownKinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \($0.value)" }
            notes.append("Skipped, because this version does not know their kind: \(kinds.joined(separator: ", ")).")
        }
        if reading.lostCount > 0 {
            notes.append("The player could not write \(Decimals.count(reading.lostCount, "event")) fast enough.")
        }
        if reading.thinnedCount > 0 {
            notes.append(
                "\(reading.thinnedCount) requests, samples or decisions are counted but not drawn, because there were too many."
            )
        }
        if record.samples.isEmpty, record.requests.isEmpty, !record.periods.isEmpty {
            notes.append(
                "An access log contains only periods. For waits, buffered media and requests, use --progress json "
                    + "or --report.")
        }
        return "<footer><p>\(Markup.foreign(notes.joined(separator: " ")))</p></footer>\n"
    }

    // MARK: Parts

    private func section(_ heading: String, _ content: String) -> String {
        "<section>\n<h3>\(heading)</h3>\n\(content)</section>\n"
    }

    private func table(_ heads: [String], _ rows: [String], isOpen: Bool) -> String {
        let head = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let table =
            "<div class=\"scroll\"><table><thead><tr>\(head)</tr></thead>\n<tbody>\n"
            + rows.joined(separator: "\n") + "\n</tbody></table></div>\n"
        return isOpen ? table : "<details class=\"group\"><summary>\(rows.count) rows</summary>\n\(table)</details>\n"
    }

    /// The first and last of more than `limit` elements, with `nil` in between.
    private static func middleOmitted<Element>(_ elements: [Element], _ limit: Int) -> [Element?] {
        guard elements.count > limit else { return elements }
        return elements.prefix(limit / 2).map(Optional.some) + [nil] + elements.suffix(limit / 2).map(Optional.some)
    }
}
