import HLSGetKit

/// Requests on a common time axis, each with its phases, as HTML. Each row expands to show details, without a script.
struct RequestWaterfall: Sendable {
    private let axis: TimeAxis
    private let requests: [SessionRecord.Request]
    private let variants: [Int: SessionRecord.Variant]
    private let spells: [SessionRecord.Spell]
    private let alignsStarts: Bool

    init(_ requests: [SessionRecord.Request], of record: SessionRecord, axis: TimeAxis) {
        self.requests = requests
        self.axis = axis
        alignsStarts = false
        variants = record.variants
        spells = record.spells.filter { $0.activity.waitCause != nil && axis.shows($0.start, $0.end) }
    }

    /// Compares requests of different times by aligning their starts.
    init(comparing requests: [SessionRecord.Request], of record: SessionRecord) {
        self.requests = requests
        axis = TimeAxis(from: 0, to: requests.map(\.duration).max() ?? 1)
        alignsStarts = true
        variants = record.variants
        spells = []
    }

    struct Phase: Sendable, Equatable {
        var name: String
        var style: String
        var start: Double
        var end: Double
    }

    /// The phases of a request in order, without skipped ones. Together they cover the whole request.
    static func phases(of request: SessionRecord.Request) -> [Phase] {
        var phases: [Phase] = []
        var reached = request.start
        func add(_ name: String, _ style: String, until end: Double?) {
            guard let end, end > reached else { return }
            phases.append(Phase(name: name, style: style, start: reached, end: min(end, request.end)))
            reached = min(end, request.end)
        }
        // Ignore waits shorter than a millisecond.
        if let start = request.transferStart, start - request.start > 0.001 { add("queued", "queued", until: start) }
        add("dns", "lookup", until: request.nameLookupEnd)
        add("connect", "connect", until: request.connectEnd)
        add("tls", "secure", until: request.secureConnectEnd)
        if request.hasFailed {
            add("first byte", "firstByte", until: request.responseStart)
            add("failed", "failure", until: request.end)
        } else if request.isAbandoned {
            add("given up", "abandoned", until: request.end)
        } else {
            add("first byte", "firstByte", until: request.responseStart ?? request.end)
            add("body", "body", until: request.end)
        }
        return phases
    }

    static let legend: String = [
        ("queued", "queued"), ("dns", "lookup"), ("connect", "connect"), ("tls", "secure"),
        ("first byte", "firstByte"), ("body", "body"), ("failed", "failure"), ("given up", "abandoned"),
    ].map { name, style in
        #"<span><svg width="12" height="10" aria-hidden="true"><rect class="f-\#(style)" width="12" height="10"/></svg> \#(name)</span>"#
    }.joined(separator: " ")

    /// - Parameter showsAxis: Pass `false` below a drawing with the same axis.
    func html(showsAxis: Bool = true) -> String {
        "<div class=\"wf\">\n" + (showsAxis ? axisMarkup : "") + requests.map(row).joined() + "</div>\n"
    }

    private var axisMarkup: String {
        var html = "<div class=\"wf-axis\" aria-hidden=\"true\">"
        for (index, tick) in axis.ticks(atMost: 6).enumerated() {
            let share = Decimals.text(axis.share(tick) * 100, places: 1)
            html += "<i style=\"left:\(share)%\"\(index % 2 == 1 ? " class=\"opt\"" : "")>\(axis.label(tick))</i>"
        }
        return html + "</div>\n"
    }

    private func row(_ request: SessionRecord.Request) -> String {
        let phases = Self.phases(of: request)
        var shapes = ""
        for spell in spells {
            shapes += shape(spell.start, spell.end, 0, 16, spell.activity == .waiting(.stall) ? "a-stall" : "a-start")
        }
        let offset = alignsStarts ? request.start : 0
        for phase in phases {
            let isThin = ["queued", "firstByte"].contains(phase.style)
            shapes += shape(
                phase.start - offset, phase.end - offset, isThin ? 5 : 2, isThin ? 6 : 12, "f-\(phase.style)")
        }
        let name = (alignsStarts ? Decimals.clock(request.start) + " " : "") + rowName(request)
        let size = request.hasFailed ? "failed" : request.isAbandoned ? "given up" : Decimals.bytes(request.byteCount)
        return """
            <details class="r\(request.hasFailed ? " bad" : "")"><summary><span class="n">\(Markup.foreign(name))</span>\
            <svg class="b" viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">\(shapes)</svg>\
            <span class="v">\(size)</span><span class="v">\(Decimals.seconds(request.duration))</span></summary>
            \(details(request, phases))</details>

            """
    }

    private func shape(_ start: Double, _ end: Double, _ y: Int, _ height: Int, _ style: String) -> String {
        guard axis.shows(start, end) else { return "" }
        let x = axis.share(start) * 1000
        let width = max(axis.share(end) * 1000 - x, 1.5)
        return #"<rect class="\#(style)" x="\#(Decimals.text(x, places: 1))" y="\#(y)" "#
            + #"width="\#(Decimals.text(width, places: 1))" height="\#(height)"/>"#
    }

    private func rowName(_ request: SessionRecord.Request) -> String {
        let name: String
        let number = request.mediaSequence.map(String.init) ?? ""
        switch request.kind {
        case .video: name = "segment \(number)"
        case .audio: name = "audio \(number)"
        case .subtitles: name = "captions \(number)"
        case .initializationSection: name = "init"
        case .multivariantPlaylist: name = "multivariant"
        case .mediaPlaylist: name = request.isReload ? "reload" : "playlist"
        case .key: name = "key"
        }
        let variant = request.variant.flatMap { variants[$0] }
        return name + (variant.map { " · \($0.height > 0 ? "\($0.height)p" : $0.name)" } ?? "")
    }

    private func details(_ request: SessionRecord.Request, _ phases: [Phase]) -> String {
        var facts: [(String, String)] = [
            ("at", "\(Decimals.moment(request.start))–\(Decimals.moment(request.end))"),
            ("phases", phases.map { "\($0.name) \(Decimals.seconds($0.end - $0.start))" }.joined(separator: ", ")),
        ]
        if let error = request.error { facts.append(("error", error)) }
        if let rate = request.throughput {
            let need = request.mediaBitRate.map { ", its media plays at \(Decimals.bitRateWithUnit($0))" } ?? ""
            facts.append(("network", "\(Decimals.bitRateWithUnit(rate))\(need)"))
        }
        if let start = request.segmentStart, let duration = request.segmentDuration {
            facts.append(("media", "\(Decimals.clock(start)), \(Decimals.seconds(duration))"))
        }
        var server = [request.serverAddress, request.protocolName].compactMap(\.self)
        if request.isFromCache { server.append("from a cache") }
        if !server.isEmpty { facts.append(("server", server.joined(separator: ", "))) }
        var html = "<dl>"
        for (name, value) in facts { html += "<dt>\(name)</dt><dd>\(Markup.foreign(value))</dd>" }
        if !request.url.isEmpty {
            html += "<dt>url</dt><dd class=\"url\">\(Markup.foreign(url: request.url))</dd>"
        }
        return html + "</dl>"
    }
}
