package import HLSKitCore

/// Draws a player's state in one line that never wraps.
///
/// ```
/// 4:58 / 9:56 ━━━━━━━━━━━●━━━╾────────  playing 1x  +82.3s keep-up  360p 800k  net 2.4M  0 stalls
/// ```
///
/// The part left of the status has a fixed width for a given terminal, so that nothing jumps. If the line is too long,
/// the least important parts are first shortened and then omitted.
package struct StatusLine: Sendable, Equatable {
    /// Columns of the terminal. The last one stays empty, because many terminals wrap as soon as it is written.
    package var width: Int
    var allowsColor = false
    var allowsUnicode = false
    var hint: String?
    var recording: String?
    package var showsBar = true

    package init(
        width: Int, allowsColor: Bool = false, allowsUnicode: Bool = false, hint: String? = nil,
        recording: String? = nil, showsBar: Bool = true
    ) {
        self.width = width
        self.allowsColor = allowsColor
        self.allowsUnicode = allowsUnicode
        self.hint = hint
        self.recording = recording
        self.showsBar = showsBar
    }

    package func render(_ state: PlayerState) -> String {
        let room = max(0, width - 1)
        var line = bestFit(of: state, bar: bar(state), room: room)
        line = Self.truncated(line, to: room)
        return line.map { $0.text(colored: allowsColor) }.joined()
    }

    // MARK: Parts

    struct Span: Equatable {
        enum Style: String {
            case plain = ""
            case dim = "2"
            case good = "32"
            case bad = "31"
            case waiting = "33"
            case bold = "1"
        }
        var text: String
        var style = Style.plain

        func text(colored: Bool) -> String {
            colored && style != .plain && !text.isEmpty ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
        }
    }

    /// Parts that may be omitted, in this order.
    private enum Detail: Int, CaseIterable {
        case all, noHint, noStallCountOfZero, shortReason, noTimebaseWord, noRateOfWaiting, noBitRate, noThroughput,
            noVariant
        case noStallCount, noLatency, noBuffer, noBar

        func includes(_ other: Detail) -> Bool { rawValue < other.rawValue }
    }

    private func bestFit(of state: PlayerState, bar: [Span], room: Int) -> [Span] {
        var line: [Span] = []
        for detail in Detail.allCases {
            line = recording.map { [Span(text: $0, style: .bold), Span(text: "  ")] } ?? []
            line += Self.assembled(state, bar: bar, detail: detail)
            if let hint, detail.includes(.noHint) { line.append(Span(text: "  \(hint)", style: .dim)) }
            if line.reduce(0, { $0 + $1.text.count }) <= room { break }
        }
        return line
    }

    private static func assembled(_ state: PlayerState, bar: [Span], detail: Detail) -> [Span] {
        var parts: [[Span]] = [[time(state)] + (detail.includes(.noBar) && !bar.isEmpty ? [Span(text: " ")] + bar : [])]
        parts.append(status(state, detail))
        if detail.includes(.noBuffer) { parts.append(buffer(state)) }
        if detail.includes(.noLatency), let latency = state.liveLatency?.inSeconds {
            parts.append([Span(text: "latency ", style: .dim), Span(text: "\(Decimals.text(latency, places: 1))s")])
        }
        if detail.includes(.noVariant), let variant = state.variant {
            let name = variant.name(withBitRate: detail.includes(.noBitRate))
            if !name.isEmpty { parts.append([Span(text: name)]) }
        }
        if detail.includes(.noThroughput), let estimate = state.statistics.throughputEstimate, estimate.isFinite {
            parts.append([Span(text: "net ", style: .dim), Span(text: Decimals.bitRate(estimate))])
        }
        let stalls = state.statistics.numberOfStalls
        if stalls > 0 && detail.includes(.noStallCount) {
            parts.append([Span(text: Decimals.count(stalls, "stall"), style: .bad)])
        } else if stalls == 0 && detail.includes(.noStallCountOfZero) {
            parts.append([Span(text: "0 stalls", style: .dim)])
        }
        return Array(parts.joined(separator: [Span(text: "  ")]))
    }

    /// Formats `0:12 / 9:56`, or `1:02 live -8.2s`.
    private static func time(_ state: PlayerState) -> Span {
        let now = state.currentTime.finiteSeconds.map(Decimals.clock) ?? "-:--"
        if let offset = state.liveOffset?.inSeconds {
            return Span(text: "\(now.leftPadded(to: 5)) live -\(Decimals.text(max(0, offset), places: 1))s")
        }
        let end = state.duration.finiteSeconds.map(Decimals.clock) ?? "-:--"
        return Span(text: "\(now.leftPadded(to: max(4, end.count))) / \(end)")
    }

    private static func status(_ state: PlayerState, _ detail: Detail) -> [Span] {
        if let interstitial = state.interstitial, state.timeControlStatus != .paused {
            return status(interstitial, rate: state.rate)
        }
        let rate = Decimals.rate(Double(state.rate))
        let timebase = Decimals.rate(state.timebaseRate)
        var rates = " \(rate)"
        if rate != timebase { rates += detail.includes(.noTimebaseWord) ? ", timebase \(timebase)" : " (\(timebase))" }
        switch state.timeControlStatus {
        case .paused:
            if state.itemStatus == .failed { return [Span(text: "failed", style: .bad)] }
            return [Span(text: "paused", style: .bold)]
        case .playing:
            return [Span(text: "playing", style: .good), Span(text: rates)]
        case .waitingToPlayAtSpecifiedRate:
            if let goal = state.bufferingGoal?.inSeconds, let rest = state.estimatedTimeUntilPlaying?.inSeconds,
                state.reasonForWaitingToPlay == .toMinimizeStalls
            {
                var text =
                    "buffering \(Decimals.text(min(goal, ahead(state)), places: 0)) s of \(Decimals.text(goal, places: 0)) s"
                if detail.includes(.shortReason), rest >= 1 { text += ", about \(Decimals.text(rest, places: 0)) s" }
                return [Span(text: text, style: .waiting)]
            }
            let reason = words(for: state.reasonForWaitingToPlay, short: !detail.includes(.shortReason))
            // On narrow terminals, omit the rates while waiting if they are the usual 1x and 0x.
            if !detail.includes(.noRateOfWaiting) && state.rate == 1 && state.timebaseRate == 0 { rates = "" }
            return [Span(text: "waiting\(reason)", style: .waiting), Span(text: rates)]
        }
    }

    /// Formats `interstitial 1/2, 0:12 left, n skips`.
    static func status(_ interstitial: InterstitialProgress, rate: Float) -> [Span] {
        var text = interstitial.isWaiting ? "waiting for interstitial" : "interstitial"
        if interstitial.count > 1 { text += " \(interstitial.number)/\(interstitial.count)" }
        var spans = [Span(text: text, style: interstitial.isWaiting ? .waiting : .good)]
        if let length = interstitial.duration.finiteSeconds, let now = interstitial.currentTime.finiteSeconds {
            spans.append(Span(text: ", \(Decimals.clock(max(0, length - now).rounded(.up))) left"))
        } else if let now = interstitial.currentTime.finiteSeconds {
            spans.append(Span(text: ", \(Decimals.clock(now))"))
        }
        if interstitial.skippableState == .eligible { spans.append(Span(text: ", n skips", style: .bold)) }
        if rate != 1 { spans.append(Span(text: " \(Decimals.rate(Double(rate)))")) }
        return spans
    }

    private static func words(for reason: WaitingReason?, short: Bool) -> String {
        switch reason {
        case .noItemToPlay: short ? ": no item" : ": no item to play"
        case .evaluatingBufferingRate: short ? ": buffering rate" : ": evaluating buffering rate"
        case .toMinimizeStalls: " to minimize stalls"
        case .interstitialEvent: ": interstitial"
        case .coordinatedPlayback: short ? ": others" : ": coordinated playback"
        case nil: ""
        }
    }

    /// Formats `+12.3s keep-up`: the buffered media and its state.
    private static func buffer(_ state: PlayerState) -> [Span] {
        let ahead = ahead(state)
        var spans = [Span(text: "+\(Decimals.text(ahead, places: ahead < 99.95 ? 1 : 0))s")]
        if state.isPlaybackBufferEmpty { spans.append(Span(text: " empty", style: .bad)) }
        if state.isPlaybackLikelyToKeepUp { spans.append(Span(text: " keep-up", style: .good)) }
        if state.isPlaybackBufferFull { spans.append(Span(text: " full", style: .good)) }
        return spans
    }

    /// Seconds of buffered media.
    static func ahead(_ state: PlayerState) -> Double {
        let now = state.currentTime.finiteSeconds ?? 0
        let ranges = state.loadedTimeRanges.compactMap { bounds(of: $0) }
        // Include a range that starts slightly after the playhead (a gap of a frame).
        return max(
            0, ranges.first { $0.lowerBound - 0.1 <= now && now <= $0.upperBound }.map { $0.upperBound - now } ?? 0)
    }

    // MARK: The bar

    private var barWidth: Int {
        guard showsBar else { return 0 }
        return switch width {
        case ..<60: 0
        case ..<100: 12
        case ..<140: 20
        default: 32
        }
    }

    /// A range in seconds, or `nil` if it is empty or has no end.
    package static func bounds(of range: MediaTimeRange) -> Range<Double>? {
        guard let start = range.start.finiteSeconds, let length = range.duration.finiteSeconds, length > 0 else {
            return nil
        }
        return start..<(start + length)
    }

    /// The timeline of the bar.
    ///
    /// It is the whole item. If the duration is unknown, it covers all seekable and loaded ranges and the current time.
    package static func timeline(of state: PlayerState) -> Range<Double> {
        let loaded = state.loadedTimeRanges.compactMap { bounds(of: $0) }
        if let end = state.duration.finiteSeconds, end > 0 { return 0..<end }
        let now = state.currentTime.finiteSeconds ?? 0
        let ranges = state.seekableTimeRanges.compactMap { bounds(of: $0) } + loaded + [now..<now]
        let start = ranges.map(\.lowerBound).min() ?? 0
        let end = ranges.map(\.upperBound).max() ?? 0
        return start..<max(end, start + 1)
    }

    private func bar(_ state: PlayerState) -> [Span] {
        let cells = barWidth
        guard cells > 0 else { return [] }
        let loaded = state.loadedTimeRanges.compactMap { Self.bounds(of: $0) }
        let timeline = Self.timeline(of: state)
        let cellLength = (timeline.upperBound - timeline.lowerBound) / Double(cells)
        let now = state.currentTime.finiteSeconds ?? timeline.lowerBound
        let playhead = min(cells - 1, max(0, Self.cell(of: now, from: timeline.lowerBound, length: cellLength)))

        let isLoaded = { (part: Int) in
            let start = timeline.lowerBound + Double(part) * cellLength / 2
            let covered = loaded.reduce(0.0) { sum, range in
                sum + max(0, min(range.upperBound, start + cellLength / 2) - max(range.lowerBound, start))
            }
            return covered >= cellLength / 4
        }
        var spans: [Span] = []
        for cell in 0..<cells {
            let span = cell == playhead ? playheadSpan : self.span(isLoaded(2 * cell), isLoaded(2 * cell + 1))
            if let last = spans.last, last.style == span.style {
                spans[spans.count - 1].text += span.text
            } else {
                spans.append(span)
            }
        }
        return allowsUnicode ? spans : [Span(text: "[")] + spans + [Span(text: "]")]
    }

    private var playheadSpan: Span { Span(text: allowsUnicode ? "●" : "|", style: .bold) }

    /// A cell with two halves that are loaded or not.
    private func span(_ first: Bool, _ second: Bool) -> Span {
        switch (first, second) {
        case (true, true): Span(text: allowsUnicode ? "━" : "=", style: .good)
        case (true, false): Span(text: allowsUnicode ? "╾" : "=", style: .good)
        case (false, true): Span(text: allowsUnicode ? "╼" : "-", style: .good)
        case (false, false): Span(text: allowsUnicode ? "─" : "-", style: .dim)
        }
    }

    private static func cell(of time: Double, from start: Double, length: Double) -> Int {
        let position = ((time - start) / length).rounded(.down)
        return Int(exactly: min(max(position, 0), 1e6)) ?? 0
    }

    private static func truncated(_ line: [Span], to room: Int) -> [Span] {
        var left = room
        return line.map { span in
            let text = String(span.text.prefix(left))
            left -= text.count
            return Span(text: text, style: span.style)
        }
    }
}
