import HLSGetKit

/// The lanes of a session on a common time axis: the viewer's experience, buffered media, bit rates and requests.
package struct SessionChart: Sendable {
    /// The limits of the lanes, which two sessions side by side share.
    package struct Limits: Sendable, Equatable {
        /// Seconds of media.
        var ahead: Double
        /// Bits per second.
        var bitRate: Double

        init(ahead: Double, bitRate: Double) {
            self.ahead = ahead
            self.bitRate = bitRate
        }

        package init(for record: SessionRecord) {
            ahead = ValueScale.limit(for: record.samples.compactMap(\.ahead).max() ?? 0, least: 2)
            let used = Set(record.requests.compactMap(\.variant) + record.samples.compactMap(\.variant))
            let variants = used.compactMap { record.variants[$0]?.usualBitRate }.max() ?? 0
            let periods = record.periods.compactMap(\.indicatedBitrate).max() ?? 0
            let media = record.requests.filter { $0.kind == .video }
            let measured = (media.compactMap(\.throughput) + record.samples.compactMap(\.throughput)).sorted()
            let usual = measured.isEmpty ? 0 : measured[measured.count * 9 / 10]
            let top = max(variants, periods)
            // Limit the scale, because throughput far over the played bit rate only means that the network was fast.
            bitRate = ValueScale.limit(for: top > 0 ? max(top, min(usual, top * 2.5)) : usual, least: 1000)
        }

        func union(_ other: Limits) -> Limits {
            Limits(ahead: max(ahead, other.ahead), bitRate: max(bitRate, other.bitRate))
        }
    }

    private let record: SessionRecord
    private let axis: TimeAxis
    private let limits: Limits
    /// `false` if the requests are listed below.
    private let showsRequests: Bool
    /// The network throughput over time, in bits per second, as far as known.
    private let network: [(Double, Double)]
    /// The maximum number of individual marks; more are combined.
    private static let markLimit = 400
    private static let bandHeight = 12.0

    package init(
        _ record: SessionRecord, axis: TimeAxis, limits: Limits, showsRequests: Bool = true,
        network: [(Double, Double)] = []
    ) {
        self.showsRequests = showsRequests
        self.network = network
        self.record = record
        self.axis = axis
        self.limits = limits
    }

    package var drawing: Drawing {
        var drawing = Drawing(axis: axis)
        var y = 16.0
        if !record.spells.isEmpty { y = drawViewer(&drawing, y) }
        let top = y
        var lanes: [(inout Drawing) -> Void] = []
        if record.samples.contains(where: { $0.ahead != nil }) {
            let scale = ValueScale(limit: limits.ahead, top: y + 26, bottom: y + 116)
            lanes.append { drawAhead(&$0, scale) }
            y += 132
        }
        if hasRates {
            let scale = ValueScale(limit: limits.bitRate, top: y + 26, bottom: y + 146)
            lanes.append { drawRates(&$0, scale) }
            y += 162
        }
        let bands = showsRequests ? self.bands : []
        let bandTop = y
        if !bands.isEmpty { y += 24 + Double(bands.count) * (Self.bandHeight + 4) }
        let bottom = y + 2
        drawing.height = bottom + 20
        // Shade the times when playback had stopped, under everything else.
        for tick in axis.ticks() { drawing.verticals([(tick, top, bottom)], "l-grid") }
        shade(&drawing, top, bottom)
        for lane in lanes { lane(&drawing) }
        drawBands(&drawing, bands, bandTop)
        drawing.horizontal(bottom, "l-axis")
        for (index, tick) in axis.ticks().enumerated() {
            drawing.text(
                axis.label(tick), at: tick, y: bottom + 14, "t-muted", anchor: axis.share(tick) > 0.97 ? .end : .middle,
                isOptional: index % 2 == 1)
        }
        addHovers(&drawing)
        return drawing
    }

    // MARK: Playback

    private func drawViewer(_ drawing: inout Drawing, _ y: Double) -> Double {
        drawing.gutter("viewer", y: y + 19)
        for spell in record.spells where spell.activity == .playing { bar(spell, &drawing, y) }
        for spell in record.spells where spell.activity != .playing { bar(spell, &drawing, y) }
        // Label the longest waits first.
        var taken: [(Double, Double)] = []
        for spell in record.spells.filter({ $0.activity.waitCause != nil }).sorted(by: { $0.duration > $1.duration }) {
            guard axis.shows(spell.start, spell.end), spell.duration >= 0.1, taken.count < 12 else { continue }
            let middle = (max(spell.start, axis.start) + min(spell.end, axis.end)) / 2
            let share = axis.share(middle)
            let reach = 0.045
            guard !taken.contains(where: { share + reach > $0.0 && share - reach < $0.1 }) else { continue }
            let isNear = taken.contains { share + 0.11 > $0.0 && share - 0.11 < $0.1 }
            taken.append((share - reach, share + reach))
            drawing.text(
                Decimals.seconds(spell.duration), at: middle, y: y - 4,
                spell.activity == .waiting(.stall) ? "t-stall" : "t-start",
                anchor: share < 0.04 ? .start : share > 0.96 ? .end : .middle, isOptional: isNear)
        }
        return y + 34
    }

    private func bar(_ spell: SessionRecord.Spell, _ drawing: inout Drawing, _ y: Double) {
        let style =
            switch spell.activity {
            case .playing: "f-playing"
            case .paused: "f-paused"
            case .waiting(.stall): "f-stall"
            case .waiting(.seek): "f-seek"
            case .waiting: "f-start"
            }
        let isWait = spell.activity.waitCause != nil
        drawing.bar(
            max(spell.start, axis.start), min(spell.end, axis.end), y: isWait ? y : y + 4, height: isWait ? 26 : 18,
            style, least: isWait ? 2 : 0.5,
            title: "\(spell.activity.words), \(Decimals.moment(spell.start))–\(Decimals.moment(spell.end)), "
                + Decimals.seconds(spell.duration))
    }

    private func shade(_ drawing: inout Drawing, _ top: Double, _ bottom: Double) {
        for spell in record.spells {
            let style: String
            switch spell.activity {
            case .waiting(.stall): style = "a-stall"
            case .waiting(.seek): style = "a-seek"
            case .waiting: style = "a-start"
            default: continue
            }
            drawing.bar(
                max(spell.start, axis.start), min(spell.end, axis.end), y: top, height: bottom - top, style, least: 1)
        }
    }

    // MARK: Media ahead

    private func drawAhead(_ drawing: inout Drawing, _ scale: ValueScale) {
        drawing.heading("Media ahead", y: scale.top - 12)
        for tick in scale.ticks(atMost: 4) {
            drawing.horizontal(scale.y(tick), "l-grid")
            drawing.gutter("\(Decimals.text(tick, places: tick < 1 ? 1 : 0)) s", y: scale.y(tick) + 4)
        }
        drawing.horizontal(scale.bottom, "l-axis")
        let points = Self.envelope(
            record.samples.compactMap { sample in sample.ahead.map { (sample.time, $0) } }, axis, Self.markLimit
        ).map { (time: $0.0, y: scale.y($0.1)) }
        drawing.area(points, base: scale.bottom, "a-ahead")
        drawing.line(points, "l-ahead")
    }

    // MARK: Bit rates

    private var hasRates: Bool {
        record.requests.contains { $0.throughput != nil || $0.variant != nil }
            || record.samples.contains { $0.throughput != nil }
            || record.periods.contains { $0.indicatedBitrate != nil }
    }

    private func drawRates(_ drawing: inout Drawing, _ scale: ValueScale) {
        let steps = variantSteps
        let measured = record.requests.filter { $0.kind == .video }.compactMap { request in
            request.throughput.map { ((request.start + request.end) / 2, $0) }
        }
        let expected = record.samples.compactMap { sample in sample.throughput.map { (sample.time, $0) } }
        var legend: [(mark: String, text: String, style: String)] = []
        if !steps.isEmpty { legend.append(("━", "variant", "f-variant")) }
        if !measured.isEmpty { legend.append(("●", "network, per segment", "f-throughput")) }
        if !expected.isEmpty { legend.append(("┄", "expected", "f-estimate")) }
        if !network.isEmpty { legend.append(("━", "network of the trace", "f-estimate")) }
        drawing.heading("Bit rate", y: scale.top - 12, legend: legend)
        for tick in scale.ticks(atMost: 5) {
            drawing.horizontal(scale.y(tick), "l-grid")
            drawing.gutter(Decimals.bitRate(tick), y: scale.y(tick) + 4)
        }
        drawing.horizontal(scale.bottom, "l-axis")
        let line = Self.envelope(expected, axis, Self.markLimit).map { (time: $0.0, y: scale.y($0.1)) }
        drawing.line(line, "l-estimate")
        drawing.line(network.map { (time: $0.0, y: scale.y($0.1)) }, "l-network")
        drawMeasured(measured.filter { axis.shows($0.0, $0.0) }, &drawing, scale)
        drawVariants(steps, &drawing, scale)
        for period in record.periods {
            guard steps.isEmpty, let start = period.start, let rate = period.indicatedBitrate else { continue }
            let end = start + max(period.watched, 0.1)
            drawing.line([(start, scale.y(rate)), (end, scale.y(rate))], "l-variant")
            if let observed = period.observedBitrate {
                drawing.bar(
                    start, end, y: scale.y(observed), height: 2, "f-throughput",
                    title: "network \(Decimals.bitRateWithUnit(observed))")
            }
        }
    }

    private func drawMeasured(_ measured: [(Double, Double)], _ drawing: inout Drawing, _ scale: ValueScale) {
        guard measured.count > Self.markLimit else {
            return drawing.dots(measured.map { (time: $0.0, y: scale.y($0.1)) }, "d-throughput")
        }
        var bins = [[Double]](repeating: [], count: 160)
        for (time, rate) in measured { bins[min(159, Int(axis.share(time) * 160))].append(rate) }
        var lines: [(time: Double, from: Double, to: Double)] = []
        var dots: [(time: Double, y: Double)] = []
        for (index, rates) in bins.enumerated() where !rates.isEmpty {
            let (time, rates) = (axis.start + (Double(index) + 0.5) / 160 * axis.length, rates.sorted())
            lines.append(
                (time, scale.y(rates[rates.count / 10]), scale.y(rates[rates.count - 1 - rates.count / 10])))
            dots.append((time, scale.y(rates[rates.count / 2])))
        }
        drawing.verticals(lines, "l-throughput")
        drawing.dots(dots, "d-throughput")
    }

    /// The periods of the variants, each from the request of its first segment to the next variant's first request.
    private var variantSteps: [(start: Double, end: Double, variant: Int)] {
        var steps: [(start: Double, end: Double, variant: Int)] = []
        for request in record.requests where request.kind == .video {
            guard let variant = request.variant else { continue }
            if let last = steps.last, last.variant == variant {
                steps[steps.count - 1].end = max(last.end, request.end)
            } else {
                if !steps.isEmpty { steps[steps.count - 1].end = request.start }
                steps.append((request.start, request.end, variant))
            }
        }
        return steps
    }

    private func drawVariants(
        _ steps: [(start: Double, end: Double, variant: Int)], _ drawing: inout Drawing, _ scale: ValueScale
    ) {
        let shown = steps.filter { axis.shows($0.start, $0.end) }
        func rate(_ step: (start: Double, end: Double, variant: Int)) -> Double {
            scale.y(record.variants[step.variant]?.usualBitRate ?? 0)
        }
        drawing.line(shown.flatMap { [(time: $0.start, y: rate($0)), (time: $0.end, y: rate($0))] }, "l-variant")
        var taken: [(from: Double, to: Double, y: Double)] = []
        for step in shown.sorted(by: { $0.end - $0.start > $1.end - $1.start }).prefix(24) {
            guard let variant = record.variants[step.variant] else { continue }
            let (start, y) = (max(step.start, axis.start), rate(step))
            let share = axis.share(start)
            // Assume six pixels per character in a plot 700 pixels wide.
            let reach = share + Double(variant.name.count) * 0.0095 + 0.01
            let at = min(share, 1 - (reach - share))
            guard !taken.contains(where: { at < $0.to && reach > $0.from && abs(y - $0.y) < 14 }) else { continue }
            taken.append((at, at + reach - share, y))
            let isShort = axis.share(step.end) - share < 0.06
            drawing.text(
                variant.name, at: axis.start + at * axis.length, y: y - scale.top < 12 ? y + 14 : y - 5,
                "t-halo t-variant", dx: 2, isOptional: isShort)
        }
    }

    // MARK: Requests

    private var bands: [(name: String, requests: [SessionRecord.Request])] {
        let groups: [(String, Set<SessionRecord.RequestKind>)] = [
            ("playlists", [.multivariantPlaylist, .mediaPlaylist]), ("keys", [.key]),
            ("media", [.video, .initializationSection]), ("audio", [.audio]), ("captions", [.subtitles]),
        ]
        return groups.compactMap { name, kinds in
            let own = record.requests.filter { kinds.contains($0.kind) && axis.shows($0.start, $0.end) }
            return own.isEmpty ? nil : (name, own)
        }
    }

    private func drawBands(
        _ drawing: inout Drawing, _ bands: [(name: String, requests: [SessionRecord.Request])], _ top: Double
    ) {
        guard !bands.isEmpty else { return }
        drawing.heading(
            "Requests", y: top + 14,
            legend: [("■", "until the first byte", "f-firstByte"), ("■", "body", "f-body")]
                + (record.requests.contains(where: \.hasFailed) ? [("■", "failed", "f-failure")] : [])
                + (record.requests.contains(where: \.isAbandoned) ? [("■", "given up", "f-abandoned")] : []))
        for (index, band) in bands.enumerated() {
            let y = top + 24 + Double(index) * (Self.bandHeight + 4)
            drawing.gutter(band.name, y: y + 10)
            guard band.requests.count <= Self.markLimit else {
                drawCrowd(band.requests, &drawing, y)
                continue
            }
            for request in band.requests {
                let first = request.responseStart ?? request.end
                if request.hasFailed || request.isAbandoned {
                    drawing.bar(
                        request.start, request.end, y: y, height: Self.bandHeight,
                        request.hasFailed ? "f-failure" : "f-abandoned", least: 3)
                } else {
                    drawing.bar(request.start, first, y: y + 3, height: Self.bandHeight - 6, "f-firstByte", least: 0.4)
                    drawing.bar(first, request.end, y: y, height: Self.bandHeight, "f-body", least: 0.8)
                }
            }
        }
    }

    /// Summarizes very many requests: the fraction of time with an active request, and failures.
    private func drawCrowd(_ requests: [SessionRecord.Request], _ drawing: inout Drawing, _ y: Double) {
        let count = 250
        var busy = [Double](repeating: 0, count: count)
        var failed = [Bool](repeating: false, count: count)
        let width = axis.length / Double(count)
        var reached = axis.start
        for request in requests {
            let (from, to) = (max(request.start, reached, axis.start), min(request.end, axis.end))
            if request.hasFailed {
                failed[min(count - 1, Int(axis.share(request.end) * Double(count)))] = true
            }
            guard to > from else { continue }
            reached = to
            let first = min(count - 1, max(0, Int((from - axis.start) / width)))
            let last = min(count - 1, max(first, Int((to - axis.start) / width)))
            for bin in first...last {
                let start = axis.start + Double(bin) * width
                busy[bin] += max(0, min(to, start + width) - max(from, start))
            }
        }
        for bin in 0..<count where busy[bin] > 0 {
            let start = axis.start + Double(bin) * width
            let height = max(1, min(1, busy[bin] / width) * Self.bandHeight)
            drawing.bar(start, start + width, y: y + Self.bandHeight - height, height: height, "f-body", least: 0.5)
        }
        for bin in 0..<count where failed[bin] {
            drawing.bar(
                axis.start + Double(bin) * width, axis.start + Double(bin + 1) * width, y: y, height: Self.bandHeight,
                "f-failure", least: 3)
        }
    }

    // MARK: Hover texts

    private func addHovers(_ drawing: inout Drawing) {
        let count = 120
        var (sample, spell, request) = (0, 0, 0)
        let media = record.requests.filter { $0.kind == .video && $0.variant != nil }
        for index in 0..<count {
            let start = axis.start + Double(index) / Double(count) * axis.length
            let end = axis.start + Double(index + 1) / Double(count) * axis.length
            let middle = (start + end) / 2
            var words = [axis.length <= 60 ? Decimals.moment(middle) : Decimals.clock(middle)]
            while spell + 1 < record.spells.count, record.spells[spell].end < middle { spell += 1 }
            if spell < record.spells.count, record.spells[spell].end >= middle {
                words.append(record.spells[spell].activity.words)
            }
            while sample + 1 < record.samples.count, record.samples[sample + 1].time <= middle { sample += 1 }
            if sample < record.samples.count, abs(record.samples[sample].time - middle) < max(1.5, end - start) {
                let state = record.samples[sample]
                if let ahead = state.ahead { words.append("\(Decimals.text(ahead, places: 1)) s ahead") }
                if let rate = state.throughput { words.append("expects \(Decimals.bitRateWithUnit(rate))") }
                if let offset = state.liveOffset { words.append("\(Decimals.text(offset, places: 1)) s behind live") }
            }
            while request + 1 < media.count, media[request + 1].start <= middle { request += 1 }
            if request < media.count, media[request].start <= end, let variant = media[request].variant {
                words.append("loads \(record.variants[variant]?.name ?? "#\(variant)")")
            }
            drawing.hover(start, end, words.joined(separator: " · "))
        }
    }

    // MARK: Many values

    /// The lowest and highest values of each range in order, if there are more values than the axis can show.
    static func envelope(_ values: [(Double, Double)], _ axis: TimeAxis, _ count: Int) -> [(Double, Double)] {
        // Include one value before and after the axis, which its lines need.
        let first = max(0, (values.firstIndex { $0.0 >= axis.start } ?? values.count) - 1)
        let last = min(values.count, (values.lastIndex { $0.0 <= axis.end } ?? -1) + 2)
        guard first < last else { return [] }
        let shown = values[first..<last]
        guard shown.count > count * 2 else { return Array(shown) }
        var result: [(Double, Double)] = []
        var bin = -1
        var (low, high) = ((0.0, 0.0), (0.0, 0.0))
        func flush(into result: inout [(Double, Double)]) {
            guard bin >= 0 else { return }
            let pair = low.0 <= high.0 ? [low, high] : [high, low]
            result += low.0 == high.0 ? [low] : pair
        }
        for value in shown {
            let next = Int(axis.share(value.0) * Double(count))
            if next != bin {
                flush(into: &result)
                (bin, low, high) = (next, value, value)
            } else {
                if value.1 < low.1 { low = value }
                if value.1 > high.1 { high = value }
            }
        }
        flush(into: &result)
        return result
    }
}

extension SessionRecord.Activity {
    var words: String {
        switch self {
        case .playing: "playing"
        case .paused: "paused"
        case .waiting(.start): "waiting to start"
        case .waiting(.stall): "stalled"
        case .waiting(.seek): "waiting after a seek"
        case .waiting(.resume): "waiting to resume"
        case .waiting(.other(let reason)): "waiting \(reason)"
        }
    }
}
