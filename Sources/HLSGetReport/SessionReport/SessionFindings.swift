import HLSGetKit

struct SessionFindings: Sendable, Equatable {
    struct Figure: Sendable, Equatable {
        enum Tone: Sendable, Equatable { case plain, good, bad }
        var name: String
        var value: String
        var note: String = ""
        var tone = Tone.plain
        /// The value to compare with another session, and whether lower is better if that is meaningful.
        var number: Double?
        var lowerIsBetter: Bool?
    }

    /// The findings, one sentence each, the most important first.
    let sentences: [String]
    let stalls: [StallDiagnosis]
    let startSteps: [String]
    let figures: [Figure]

    static let stallLimit = 8

    init(of record: SessionRecord) {
        let longest = record.stalls.sorted { $0.duration > $1.duration }.prefix(Self.stallLimit)
        stalls = longest.sorted { $0.start < $1.start }.map { StallDiagnosis(of: $0, in: record) }
        let words = Words(record: record, stalls: stalls)
        sentences = words.sentences
        startSteps = words.startSteps
        figures = words.figures
    }
}

private struct Words {
    let record: SessionRecord
    let stalls: [StallDiagnosis]

    private func seconds(_ value: Double) -> String { Decimals.seconds(value) }

    private var stallCount: Int {
        record.spells.isEmpty
            ? record.summary.stalls ?? record.periods.reduce(0) { $0 + $1.stalls } : record.stalls.count
    }
    private var stallTime: Double {
        record.spells.isEmpty ? record.summary.stallDuration ?? 0 : record.stalls.reduce(0) { $0 + $1.duration }
    }
    private var watched: Double? {
        record.summary.watched ?? (record.periods.isEmpty ? nil : record.periods.reduce(0) { $0 + $1.watched })
    }
    private var startedAfter: Double? { record.firstPlaying ?? record.summary.startedAfter }

    var sentences: [String] {
        [playedSentence, stallSentence, causeSentence, endSentence, qualitySentence, failureSentence].compactMap(\.self)
    }

    private var playedSentence: String? {
        let length = watched ?? record.playingTime
        guard length > 0 else {
            return record.outcome == .unknown && record.spells.isEmpty ? nil : "Nothing was played."
        }
        var text = "Played \(Decimals.length(length))"
        if let duration = record.summary.duration, duration >= length { text += " of \(Decimals.length(duration))" }
        if record.end > 0, !record.spells.isEmpty { text += " in \(Decimals.length(record.end))" }
        if let startedAfter { text += "; it started after \(seconds(startedAfter))" }
        return text + "."
    }

    private var stallSentence: String? {
        guard record.firstPlaying != nil || !record.periods.isEmpty || record.summary.stalls != nil else { return nil }
        guard stallCount > 0 else { return "It never stalled." }
        var text = "It stalled \(stallCount == 1 ? "once" : stallCount == 2 ? "twice" : "\(stallCount) times")"
        if stallTime > 0 {
            text += ", for \(seconds(stallTime))\(stallCount > 1 ? " together" : "")"
            let whole = record.playingTime + stallTime
            if whole > 0, !record.spells.isEmpty { text += " (\(Decimals.percent(stallTime / whole)) of the time)" }
        }
        return text + "."
    }

    /// The cause that took the most time, described by its longest stall.
    private var causeSentence: String? {
        guard !stalls.isEmpty else { return nil }
        var times: [String: Double] = [:]
        for stall in stalls { times[stall.title, default: 0] += stall.stall.duration }
        guard let main = times.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
            let longest = stalls.filter({ $0.title == main.key }).max(by: { $0.stall.duration < $1.stall.duration })
        else { return nil }
        let same = stalls.filter { $0.title == main.key }.count
        let whose =
            stalls.count == 1
            ? "Why: " : same == stalls.count ? "Why, each time: " : "Why, \(same) of \(stalls.count) times: "
        let example =
            stalls.count == 1
            ? longest.text : "\(main.key). The longest, at \(Decimals.clock(longest.stall.start)): \(longest.text)"
        return whose + example
    }

    private var endSentence: String? {
        switch record.outcome {
        case .playedToEnd: nil
        case .failed(let failure):
            "It ended with an error: \(failure.cause)" + (failure.detail.map { " (\($0))" } ?? "") + "."
        case .ended: record.spells.isEmpty ? nil : "It was stopped before the end of the stream."
        case .unknown:
            record.spells.isEmpty
                ? nil : "The log is incomplete, so it is unknown how the session ended."
        }
    }

    private var qualitySentence: String? {
        let uses = variantUse
        guard let most = uses.first else { return nil }
        let total = uses.reduce(0) { $0 + $1.seconds }
        guard total > 0 else { return nil }
        if uses.count == 1 { return "All media was loaded as \(most.name)." }
        let names = uses.prefix(4).map { "\($0.name) \(Decimals.percent($0.seconds / total))" }
        let rest = uses.count > 4 ? " and \(uses.count - 4) more" : ""
        return "Media was loaded as \(names.joined(separator: ", "))\(rest), with \(switchText)."
    }

    private var failureSentence: String? {
        let failed = record.failedRequestCount
        guard failed > 0 else { return nil }
        return "\(failed) of \(Decimals.count(record.requestCount, "request")) failed."
    }

    private var switchCount: Int { record.decisions.filter { [.up, .down, .same].contains($0.kind) }.count }

    private var switchText: String { switchCount == 1 ? "1 switch" : "\(switchCount) switches" }

    private var variantUse: [(name: String, seconds: Double)] {
        var uses: [Int: Double] = [:]
        for request in record.requests where request.kind == .video && !request.hasFailed && !request.isAbandoned {
            if let variant = request.variant { uses[variant, default: 0] += request.segmentDuration ?? 0 }
        }
        return uses.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map {
            (record.variants[$0.key]?.name ?? "#\($0.key)", $0.value)
        }
    }

    // MARK: Start

    var startSteps: [String] {
        guard let end = startedAfter else { return [] }
        let requests = record.requests.filter { $0.start < end }
        return SessionRecord.RequestKind.allCases.compactMap { kind in
            let own = requests.filter { $0.kind == kind && !$0.hasFailed }
            guard let first = own.first else { return nil }
            let connect = first.connectEnd.map { ($0 - (first.transferStart ?? first.start)) }
            // Playback may start before the segment is complete.
            let isPart = first.end > end + 0.5
            var text = "\(kind.label) \(seconds(isPart ? end - first.start : first.duration))"
            if isPart { text += " for a part of it" }
            if let connect, connect > 0.005 { text += " (connection \(seconds(connect)))" }
            return own.count == 1 ? text : text + ", and \(own.count - 1) more"
        }
    }

    // MARK: Figures

    var figures: [SessionFindings.Figure] {
        var figures: [SessionFindings.Figure] = []
        if let startedAfter {
            figures.append(
                .init(
                    name: "Start", value: seconds(startedAfter), note: "until playing",
                    tone: startedAfter > 4 ? .bad : .plain, number: startedAfter, lowerIsBetter: true))
        }
        if record.firstPlaying != nil || stallCount > 0 || record.summary.stalls != nil {
            figures.append(
                .init(
                    name: "Stalls", value: "\(stallCount)",
                    note: stallTime > 0 ? "\(seconds(stallTime)) in total" : "none",
                    tone: stallCount > 0 ? .bad : .good, number: stallTime, lowerIsBetter: true))
        }
        if let watched = watched ?? (record.playingTime > 0 ? record.playingTime : nil) {
            let whole = record.summary.duration.map { "of \(Decimals.length($0))" } ?? "of media"
            figures.append(.init(name: "Played", value: Decimals.length(watched), note: whole, number: watched))
        }
        if let rate = loadedBitRate {
            figures.append(
                .init(
                    name: "Quality", value: Decimals.bitRateWithUnit(rate),
                    note: switchText, number: rate, lowerIsBetter: false))
        }
        if let rate = medianThroughput {
            figures.append(
                .init(
                    name: "Network", value: Decimals.bitRateWithUnit(rate), note: "median of the player's estimates",
                    number: rate))
        }
        if record.requestCount > 0 {
            let failed = record.failedRequestCount
            figures.append(
                .init(
                    name: "Requests", value: "\(record.requestCount)",
                    note: failed > 0 ? "\(failed) failed" : "none failed", tone: failed > 0 ? .bad : .plain,
                    number: Double(failed), lowerIsBetter: true))
            figures.append(
                .init(
                    name: "Loaded", value: Decimals.bytes(record.byteCount), note: firstByteNote,
                    number: Double(record.byteCount)))
        }
        if let latency = medianLatency {
            figures.append(
                .init(
                    name: "Behind live", value: seconds(latency), note: "median", number: latency, lowerIsBetter: true))
        }
        if let dropped = record.summary.droppedFrames, dropped > 0 {
            figures.append(
                .init(
                    name: "Dropped", value: "\(dropped)", note: "frames", tone: .bad, number: Double(dropped),
                    lowerIsBetter: true))
        }
        return figures
    }

    /// The declared bit rate of the loaded media, weighted by duration, in bits per second.
    private var loadedBitRate: Double? {
        var (bits, time) = (0.0, 0.0)
        for request in record.requests where request.kind == .video && !request.hasFailed && !request.isAbandoned {
            guard let rate = request.variant.flatMap({ record.variants[$0]?.usualBitRate }), rate > 0,
                let duration = request.segmentDuration
            else { continue }
            bits += rate * duration
            time += duration
        }
        return time > 0 ? bits / time : record.summary.averageBitrate
    }

    /// The median throughput that the player estimated or, if the log lacks it, that segments achieved.
    private var medianThroughput: Double? {
        var rates = record.samples.compactMap(\.throughput).sorted()
        if rates.isEmpty { rates = record.requests.filter { $0.kind == .video }.compactMap(\.throughput).sorted() }
        return rates.isEmpty ? nil : rates[rates.count / 2]
    }

    private var medianLatency: Double? {
        let values = record.samples.compactMap(\.liveOffset).sorted()
        return values.isEmpty ? nil : values[values.count / 2]
    }

    private var firstByteNote: String {
        guard let median = record.totals[.video]?.firstByte.value(at: 0.5) else { return "" }
        return "first byte \(seconds(median))"
    }
}
