import HLSGetKit
import HLSGetReport
import HLSKitCore
import HLSKitSimulation

/// A one-page plot of a simulated session in the style of reports. The lanes show playback, buffered media, bit rates
/// with the network of the trace, and requests. The scales fit the session.
struct SessionPlot: Sendable {
    private let session: SimulatedSession
    private let trace: NetworkTrace
    private let labels: Labels

    struct Labels: Sendable {
        var rule: String
        var trace: String
        var movie: String
    }

    init(_ session: SimulatedSession, trace: NetworkTrace, labels: Labels) {
        self.session = session
        self.trace = trace
        self.labels = labels
    }

    var svg: String {
        let record = self.record
        let axis = TimeAxis(from: 0, to: record.end)
        let chart = SessionChart(
            record, axis: axis, limits: .init(for: record), network: network(over: axis))
        let length = Decimals.length(trace.duration.inSeconds)
        return chart.drawing.file(
            title: "\(labels.rule) over \(labels.trace) (\(length) long): \(labels.movie)", subtitle: summary)
    }

    private var summary: String {
        let score = session.score
        return [
            "QoE \(Decimals.text(score.normalizedQoE, places: 3))",
            "stalled \(Decimals.text(score.stallDuration.inSeconds, places: 1)) s in \(Decimals.count(score.stallCount, "stall"))",
            "start after \(Decimals.text(score.startupTime.inSeconds, places: 1)) s",
            "mean \(Decimals.bitRateWithUnit(score.meanKilobitsPerSecond * 1000))",
            "\(Decimals.text(score.switchesPerMinute, places: 1)) switches/min",
            "\(Decimals.count(session.abandons.count, "download")) abandoned",
            "buffer limit \(Decimals.text(session.bufferLimit.inSeconds, places: 0)) s",
        ].joined(separator: " · ")
    }

    // MARK: As a record

    var record: SessionRecord {
        var record = SessionRecord()
        record.end = max(session.end, 1) / 1000
        for (index, rate) in session.movie.averageBitRates.enumerated() {
            record.variants[index] = .init(index: index, bandwidth: rate)
        }
        record.spells = spells(until: record.end)
        record.samples = buffer.map { time, media in
            var sample = SessionRecord.Sample(time: time / 1000)
            sample.ahead = media / 1000
            return sample
        }
        record.requests = requests
        return record
    }

    private func spells(until end: Double) -> [SessionRecord.Spell] {
        var spells: [SessionRecord.Spell] = []
        func add(_ start: Double, _ end: Double, _ activity: SessionRecord.Activity) {
            if end > start { spells.append(.init(start: start / 1000, end: end / 1000, activity: activity)) }
        }
        let starts = session.starts
        add(0, starts.first ?? session.end, .waiting(.start))
        for (index, start) in starts.enumerated() {
            let isStalled = index < session.stalls.count
            let stop = isStalled ? session.stalls[index] : session.end
            add(start, stop, .playing)
            if isStalled {
                add(stop, index + 1 < starts.count ? starts[index + 1] : session.end, .waiting(.stall))
            }
        }
        return spells
    }

    private var requests: [SessionRecord.Request] {
        var requests = session.segments.map { segment in
            var request = SessionRecord.Request(
                kind: .video, url: "", start: segment.requested / 1000, end: segment.done / 1000)
            request.responseStart = min(segment.firstByte, segment.done) / 1000
            request.byteCount = Int(min(max(segment.bitCount / 8, 0), 1e15))
            request.mediaSequence = segment.index
            request.segmentDuration = session.movie.duration(ofSegment: segment.index).inSeconds
            request.variant = segment.variant
            return request
        }
        requests += session.abandons.map { abandon in
            var request = SessionRecord.Request(
                kind: .video, url: "", start: abandon.requested / 1000, end: abandon.aborted / 1000)
            request.byteCount = Int(min(max(abandon.bitCount / 8, 0), 1e15))
            request.mediaSequence = abandon.index
            request.variant = abandon.variant
            request.isAbandoned = true
            return request
        }
        return requests.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// The throughput of the trace, averaged over intervals wider than a line.
    private func network(over axis: TimeAxis) -> [(Double, Double)] {
        let count = 500
        let step = axis.length / Double(count)
        return (0..<count).flatMap { index -> [(Double, Double)] in
            let start = Double(index) * step
            let rate = trace.deliveredBits(from: start * 1000, to: (start + step) * 1000) / step
            return [(start, rate), (start + step, rate)]
        }
    }

    /// Milliseconds of buffered media at each change.
    private var buffer: [(Double, Double)] {
        var events: [(time: Double, media: Double, rate: Double?)] = session.segments.map { segment in
            (segment.done, session.movie.duration(ofSegment: segment.index).milliseconds, nil)
        }
        events += session.starts.map { ($0, 0, 1) } + session.stalls.map { ($0, 0, 0) }
        events.sort { $0.time < $1.time }
        var points: [(Double, Double)] = [(0, 0)]
        var time = 0.0
        var media = 0.0
        var rate = 0.0
        for event in events + [(session.end, 0, nil)] {
            media = max(0, media - rate * (event.time - time))
            time = event.time
            points.append((time, media))
            media += event.media
            if event.media > 0 { points.append((time, media)) }
            rate = event.rate ?? rate
        }
        return points
    }
}
