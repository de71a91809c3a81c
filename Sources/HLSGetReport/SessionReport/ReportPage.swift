/// A self-contained HTML file about one session, or about two side by side.
package struct ReportPage: Sendable {
    package struct Session: Sendable {
        var name: String?
        var record: SessionRecord
    }

    private let sessions: [Session]

    /// - Parameter sessions: One or two sessions.
    init(_ sessions: [Session]) { self.sessions = Array(sessions.prefix(2)) }

    package var html: String {
        let findings = sessions.map { SessionFindings(of: $0.record) }
        let limits = sessions.map { SessionChart.Limits(for: $0.record) }
        let shared = limits.dropFirst().reduce(limits.first ?? .init(ahead: 1, bitRate: 1)) { $0.union($1) }
        let end = sessions.map(\.record.end).max() ?? 1
        let isPair = sessions.count > 1
        var body = ""
        for (index, session) in sessions.enumerated() {
            let letter = isPair ? ["A", "B"][index] : nil
            let sections = ReportSections(
                session.record, findings: findings[index], limits: shared, axis: TimeAxis(from: 0, to: end),
                prefix: letter?.lowercased() ?? "s", showsFigures: !isPair)
            body += "<article>\n\(header(session, letter: letter))\(sections.html)</article>\n"
        }
        let title = isPair ? "Two sessions" : "Session of \(Self.shortName(sessions.first?.record.url) ?? "a log")"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
            script-src '\(ReportScript.digest)'">
            <title>\(Markup.foreign(title))</title>
            <style>
            \(ReportStyle.css)
            </style>
            </head>
            <body>
            <main\(isPair ? " class=\"pair\"" : "")>
            \(isPair ? comparison(findings) : "")\(isPair ? "<div class=\"columns\">\n" : "")\
            \(body)\(isPair ? "</div>\n" : "")</main>
            <script>\(ReportScript.text)</script>
            </body>
            </html>

            """
    }

    private func header(_ session: Session, letter: String?) -> String {
        let record = session.record
        let level = letter == nil ? "h1" : "h2"
        let mark = letter.map { "<span class=\"letter\">\($0)</span> " } ?? ""
        let name = Self.shortName(record.url) ?? session.name ?? "A session"
        var facts = [record.date.map { Self.readable(date: $0) }, record.software, session.name].compactMap(\.self)
            .map { Markup.foreign($0) }
        if let url = record.url { facts.insert("<span class=\"url\">\(Markup.foreign(url: url))</span>", at: 0) }
        return "<header><\(level)>\(mark)\(Markup.foreign(name))</\(level)>\n"
            + "<p class=\"facts\">\(facts.joined(separator: " · "))</p></header>\n"
    }

    private func comparison(_ findings: [SessionFindings]) -> String {
        guard findings.count == 2 else { return "" }
        var rows = ""
        var names = findings[0].figures.map(\.name)
        names += findings[1].figures.map(\.name).filter { !names.contains($0) }
        for name in names {
            let pair = findings.map { $0.figures.first { $0.name == name } }
            var better: Int?
            if let a = pair[0]?.number, let b = pair[1]?.number, a != b,
                let lowerIsBetter = pair[0]?.lowerIsBetter ?? pair[1]?.lowerIsBetter
            {
                better = (a < b) == lowerIsBetter ? 0 : 1
            }
            rows += "<tr><th scope=\"row\">\(name)</th>"
            for (index, figure) in pair.enumerated() {
                let mark = better == index ? " <span class=\"better\">better</span>" : ""
                let note = figure.map { $0.note.isEmpty ? "" : " <small>\(Markup.escaped($0.note))</small>" } ?? ""
                rows += "<td>\(Markup.escaped(figure?.value ?? "–"))\(note)\(mark)</td>"
            }
            rows += "</tr>\n"
        }
        let heads = zip(["A", "B"], sessions).map { letter, session in
            "<th scope=\"col\"><span class=\"letter\">\(letter)</span> \(Markup.foreign(session.name ?? ""))</th>"
        }.joined()
        return """
            <header><h1>Two sessions</h1><p class="facts">Both on the same scales.</p></header>
            <div class="scroll"><table class="compare"><thead><tr><td></td>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>

            """
    }

    private static func shortName(_ url: String?) -> String? {
        guard let url else { return nil }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let host = path.split(separator: "/", omittingEmptySubsequences: true)
        let parts = path.contains("://") ? host.dropFirst(path.hasPrefix("file:") ? 1 : 2) : host[...]
        let dull: Set<Substring> = ["master.m3u8", "index.m3u8", "playlist.m3u8", "main.m3u8", "top.m3u8"]
        guard let last = parts.last else { return host.dropFirst().first.map(String.init) }
        if dull.contains(last), let folder = parts.dropLast().last { return "\(folder)/\(last)" }
        return String(last)
    }

    private static func readable(date: String) -> String {
        guard date.count >= 19, date.dropFirst(10).first == "T" else { return date }
        return "\(date.prefix(10)) \(date.dropFirst(11).prefix(8))\(date.hasSuffix("Z") ? " UTC" : "")"
    }
}
