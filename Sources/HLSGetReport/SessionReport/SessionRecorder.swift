import HLSGetKit
import HLSKitCore
import HLSKitPlaylist

/// Builds a ``SessionRecord`` from lines of `--progress json`, `--access-log` and `--error-log` in any order. Damaged
/// and unknown lines are counted and skipped.
package struct SessionRecorder: Sendable {
    /// About six hours of samples.
    static let sampleLimit = 40_000
    static let requestLimit = 20_000
    static let decisionLimit = 4_000
    static let failureLimit = 500
    static let periodLimit = 2_000
    /// Longer lines are treated as damaged.
    static let maximumLineLength = 4 << 20

    private var record = SessionRecord()
    private var samples = ThinnedList<SessionRecord.Sample>(limit: sampleLimit)
    private var requests = ThinnedList<SessionRecord.Request>(limit: requestLimit)
    private var decisions = ThinnedList<SessionRecord.Decision>(limit: decisionLimit)
    private var timeline = SessionTimeline()
    private var extendedLog = ExtendedLogReader()
    /// The wall clock time at the start, which places lines that only have a date.
    private var epoch: PlaylistDate?
    private var datedPeriods: [(date: PlaylistDate?, period: SessionRecord.Period)] = []
    private var datedFailures: [(date: PlaylistDate?, failure: SessionRecord.Failure)] = []

    init() {}

    mutating func take(_ line: String) { take(bytes: Array(line.utf8)) }

    /// Processes the next line, without its line feed.
    mutating func take(bytes: [UInt8]) {
        guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return }
        record.reading.lineCount += 1
        guard bytes.count <= Self.maximumLineLength else { return noteDamage() }
        switch extendedLog.take(bytes) {
        case .header: return
        case .period(let date, let period): return keep(period, of: date)
        case .failure(let date, let failure): return keep(failure, of: date)
        case .damaged: return noteDamage()
        case .notOurs: break
        }
        guard let document = JSONDocument(parsing: bytes), let event = document["event"]?.string else {
            return noteDamage()
        }
        let entry = LogEntry(document)
        if entry.time == nil, !["access_log", "error_log"].contains(event) { return noteDamage() }
        note(entry)
        if !take(event, entry), !take(decision: event, entry), !Self.silentKinds.contains(event) {
            let isKept = record.reading.unknownKinds.count < 12 || record.reading.unknownKinds[event] != nil
            record.reading.unknownKinds[isKept ? String(event.prefix(60)) : "others", default: 0] += 1
        }
    }

    /// Notes a line longer than ``maximumLineLength``, which was not read.
    mutating func noteOversizedLine() {
        record.reading.lineCount += 1
        noteDamage()
    }

    private mutating func noteDamage() { record.reading.damagedCount += 1 }

    func finished() -> SessionRecord {
        var record = record
        record.samples = samples.elements.sorted { $0.time < $1.time }
        record.requests = requests.elements.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
        record.decisions = decisions.elements.sorted { $0.time < $1.time }
        record.reading.thinnedCount = samples.removedCount + requests.removedCount + decisions.removedCount
        for (date, var period) in datedPeriods {
            period.start = seconds(of: date)
            record.periods.append(period)
        }
        // Use the error log only if the JSON lines contain no errors, because it repeats them.
        for (date, var failure) in datedFailures where !hasErrors {
            failure.time = seconds(of: date)
            record.failures.append(failure)
        }
        record.failures.sort { ($0.time ?? .infinity) < ($1.time ?? .infinity) }
        if record.date == nil { record.date = epoch?.description ?? datedPeriods.first?.date?.description }
        if record.url == nil { record.url = record.requests.first?.url ?? record.periods.first?.uri }
        let periodEnd = record.periods.map { ($0.start ?? 0) + $0.watched }.max() ?? 0
        record.end = max(record.end, periodEnd)
        record.spells = timeline.spells(until: record.end)
        return record
    }

    private var hasErrors: Bool { !record.failures.isEmpty }

    // MARK: Parts

    private mutating func note(_ entry: LogEntry) {
        guard let time = entry.time else { return }
        record.end = max(record.end, time)
        if epoch == nil, let date = entry.date { epoch = date - .seconds(time) }
    }

    private func seconds(of date: PlaylistDate?) -> Double? {
        guard let date else { return nil }
        let start = epoch ?? datedPeriods.lazy.compactMap(\.date).min() ?? datedFailures.lazy.compactMap(\.date).min()
        return start.map { max(0, (date - $0).inSeconds) }
    }

    private mutating func keep(_ period: SessionRecord.Period, of date: PlaylistDate?) {
        guard datedPeriods.count < Self.periodLimit else {
            record.reading.thinnedCount += 1
            return
        }
        datedPeriods.append((date, period))
    }

    private mutating func keep(_ failure: SessionRecord.Failure, of date: PlaylistDate?) {
        guard datedFailures.count < Self.failureLimit else {
            record.numberOfMoreFailures += 1
            return
        }
        datedFailures.append((date, failure))
    }

    private mutating func keep(_ failure: SessionRecord.Failure) {
        guard record.failures.count < Self.failureLimit else {
            record.numberOfMoreFailures += 1
            return
        }
        record.failures.append(failure)
    }

    private mutating func keep(_ request: SessionRecord.Request) {
        var totals = record.totals[request.kind] ?? .init()
        totals.count += 1
        totals.failedCount += request.hasFailed ? 1 : 0
        totals.byteCount = totals.byteCount &+ request.byteCount
        totals.duration += request.duration
        totals.longest = max(totals.longest, request.duration)
        if let first = request.responseStart { totals.firstByte.add(first - request.start) }
        if request.protocolName != nil, !request.isFromCache {
            totals.connectionCount += 1
            totals.reusedCount += request.connectEnd == nil ? 1 : 0
        }
        record.totals[request.kind] = totals
        record.end = max(record.end, request.end)
        requests.append(request, isNotable: \.isNotable)
    }

    private mutating func keep(_ variant: SessionRecord.Variant?) {
        guard let variant, record.variants.count < 200 || record.variants[variant.index] != nil else { return }
        record.variants[variant.index] = variant
    }

    // MARK: Lines

    private static let silentKinds: Set<String> = [
        "item_status", "buffer_full", "likely_to_keep_up", "initial_likely_to_keep_up", "cue", "date_range",
        "timed_metadata", "splice_marker", "desired_rate", "download_progress", "interstitials",
    ]

    /// - Returns: Whether the line is a measurement.
    private mutating func take(_ event: String, _ entry: LogEntry) -> Bool {
        let time = entry.time ?? 0
        switch event {
        case "session":
            record.url = entry.string("url") ?? record.url
            record.software = entry.string("software")
            record.date = entry.string("date") ?? record.date
        case "playlist_request", "media_segment_request", "content_key_request":
            guard let request = entry.request(event, at: time) else {
                record.reading.damagedCount += 1
                break
            }
            for variant in entry.array("variants") { keep(LogEntry(variant).variant) }
            record.hasLadder = record.hasLadder || request.kind == .multivariantPlaylist && !record.variants.isEmpty
            keep(request)
        case "download_abandoned":
            let duration = max(0, entry.number("duration") ?? 0)
            var request = SessionRecord.Request(kind: .video, url: "", start: max(0, time - duration), end: time)
            request.isAbandoned = true
            request.byteCount = entry.integer("bytes") ?? 0
            request.mediaSequence = entry.integer("media_sequence")
            keep(request)
            decisions.append(
                .init(
                    time: time, kind: .abandon,
                    what: "gave up loading segment \(request.mediaSequence.map(String.init) ?? "?")",
                    reason:
                        "\(Decimals.bytes(request.byteCount)) had come in \(Decimals.text(duration, places: 1)) s"))
        case "time_control":
            timeline.note(
                .status(entry.string("new") ?? "", reason: entry.string("reason"), rate: entry.number("timebase_rate")),
                at: time, itemTime: entry.number("item_time"))
        case "rate_change":
            timeline.note(.rate(entry.number("new") ?? 0), at: time, itemTime: entry.number("item_time"))
            keep(entry.member("variant").variant)
        case "stall":
            timeline.note(.stall, at: time, itemTime: entry.number("item_time"))
            keep(entry.member("variant").variant)
        case "progress":
            keep(entry.member("variant").variant)
            samples.append(entry.sample(at: time))
        case "duration_change": record.summary.duration = entry.number("duration") ?? record.summary.duration
        case "error":
            let failure = entry.failure(at: time)
            keep(failure)
            if !failure.isRecoverable { record.outcome = .failed(failure) }
        case "did_play_to_end": record.outcome = .playedToEnd
        case "events_lost": record.reading.lostCount += max(0, entry.integer("count") ?? 0)
        case "playback_summary":
            record.summary.averageBitrate = entry.number("average_bitrate") ?? record.summary.averageBitrate
        case "summary", "download_summary":
            entry.fill(&record.summary)
            if record.outcome == .unknown { record.outcome = .ended }
            for use in entry.array("variants") { keep(LogEntry(use).member("variant").variant) }
        case "access_log": keep(entry.period, of: entry.date("playback_start_date"))
        case "error_log": keep(entry.logFailure, of: entry.date)
        default: return false
        }
        return true
    }

    /// - Returns: Whether the line is a decision or another entry for the list of decisions.
    private mutating func take(decision event: String, _ entry: LogEntry) -> Bool {
        switch event {
        case "seek": timeline.note(.seek, at: entry.time ?? 0, itemTime: entry.number("item_time"))
        case "seek_did_complete":
            timeline.note(.seekEnded, at: entry.time ?? 0, itemTime: entry.number("item_time"))
            return true
        case "variant_switch_start":
            keep(entry.member("from").variant)
            keep(entry.member("to").variant)
        case "variant_switch": return true
        default: break
        }
        guard let decision = entry.decision(event) else { return false }
        decisions.append(decision, isNotable: { $0.kind != .other })
        return true
    }
}
