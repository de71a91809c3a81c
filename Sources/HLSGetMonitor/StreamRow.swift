import HLSGetKit
import HLSKitCore

struct StreamRow: Sendable {
    var name: String
    /// Without secrets.
    var url: String
    /// The reported state, or `nil` while the stream starts.
    var state: StreamState?
    /// The actual state.
    var current: StreamState?
    var reason: String
    var troubles: [HealthIssue]
    var held: Duration
    /// When the reported state began, or `nil` without a date of the monitor's start.
    var since: PlaylistDate?
    var sample: StreamSample
    var counters: StreamCounters
    var isLive: Bool
    var playlistAge: Duration?
    var lateness: Duration?
    var certificateExpirationDate: PlaylistDate?
    var certificateRemaining: Duration?
    var decodes: Bool

    init(_ stream: WatchedStream, decodes: Bool) {
        let (health, now) = (stream.snapshot, stream.now)
        self.init(name: stream.entry.name, url: stream.shownURL, health: health, at: now, decodes: decodes)
        since = stream.date(at: now - held)
    }

    init(name: String, url: String, health: StreamHealth, at now: Duration, decodes: Bool = false) {
        self.name = name
        self.url = url
        state = health.state
        current = health.current
        reason = health.reason(at: now)
        troubles = health.allTroubles
        held = health.stateHeld(at: now)
        sample = health.sample
        counters = health.counters
        isLive = health.isLive
        playlistAge = health.playlistAge(at: now)
        lateness = health.lateness
        certificateExpirationDate = health.certificateExpirationDate
        certificateRemaining = health.certificateRemaining(at: now)
        self.decodes = decodes
    }

    var stateName: String { state?.name ?? "starting" }
    /// Whole days until the certificate expires; negative after that.
    var certificateDays: Int? {
        certificateRemaining.map { Int(($0.inSeconds / 86_400).rounded(.down)) }
    }
    var errorCount: Int { counters.errorCounts.values.reduce(0, &+) }

    /// Orders rows: the worst state first, then the latest change, then the name. Starting streams come after streams
    /// with problems.
    static func isWorse(_ one: StreamRow, _ other: StreamRow) -> Bool {
        func rank(_ state: StreamState, _ row: StreamRow) -> Int {
            switch state {
            case .down: 0
            case .degraded: 1
            case .up: row.state == nil ? 2 : 3
            }
        }
        func ranks(_ row: StreamRow) -> (Int, Int) {
            (rank(max(row.state ?? .up, row.current ?? .up), row), rank(row.state ?? .up, row))
        }
        let (first, second) = (ranks(one), ranks(other))
        return first != second ? first < second : one.name < other.name
    }

    /// The members of a JSON line. Names include their unit, and unknown values are null.
    var members: [JSONValue.Member] {
        let values: KeyValuePairs<String, JSONValue> = [
            "stream": .string(name), "url": .string(url), "state": .string(stateName),
            "up": current.map { .bool($0 != .down) } ?? .null, "reason": reason.isEmpty ? .null : .string(reason),
            "troubles": .array(troubles.map { .string($0.rawValue) }), "state_seconds": .number(held.inSeconds),
            "state_since": JSONValue(since?.description),
            "live": .bool(isLive), "latency_seconds": JSONValue(sample.latency?.inSeconds),
            "buffer_seconds": .number(sample.buffered.inSeconds), "variant": .string(sample.variant),
            "bitrate": JSONValue(sample.bitRate), "throughput": JSONValue(sample.throughput),
            "stalls": .integer(counters.stallCount), "stall_seconds": .number(counters.stallTime.inSeconds),
            "missing_segments": .integer(counters.missingSegmentCount),
            "missing_seconds": .number(counters.missingTime.inSeconds), "segments": .integer(counters.segmentCount),
            "bytes": .integer(counters.receivedByteCount), "playlists": .integer(counters.playlistCount),
            "late_playlists": .integer(counters.latePlaylistCount),
            "playlist_late_seconds": JSONValue(lateness?.inSeconds),
            "playlist_age_seconds": JSONValue(playlistAge?.inSeconds),
            "sequence_resets": .integer(counters.sequenceResetCount),
            "discontinuities": .integer(counters.discontinuityCount),
            "variant_switches": .integer(counters.variantSwitchCount),
            "damaged_samples": .integer(counters.damagedSampleCount), "failures": .integer(counters.failureCount),
            "outages": .integer(counters.outageCount),
            "errors": .object(
                counters.errorCounts.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .integer($0.value)) }),
            "audio_tracks": .integer(sample.audioTrackCount), "caption_tracks": .integer(sample.captionTrackCount),
            "certificate_days": JSONValue(certificateDays), "decoded": .bool(decodes),
        ]
        return values.map { .init(name: $0.key, value: $0.value) }
    }
}

extension StreamHealth.Change {
    /// The members of a JSON line, which also form a webhook's body and a command's environment.
    func members(of stream: WatchedStream) -> [JSONValue.Member] {
        let values: KeyValuePairs<String, JSONValue> = [
            "stream": .string(stream.entry.name), "url": .string(stream.shownURL),
            "old": JSONValue(old?.name ?? "starting"), "new": .string(new.name),
            "reason": JSONValue(trouble?.rawValue), "code": JSONValue(failure?.code),
            "text": JSONValue(failure?.text), "held_seconds": .number(held.inSeconds),
            "date": .string(stream.date(at: time).description),
        ]
        return values.map { .init(name: $0.key, value: $0.value) }
    }

    /// Text such as `news is down: stalled: HTTP 503`.
    func text(of name: String) -> String {
        var text = "\(TerminalText.escaped(name)) is \(new.name)"
        if new == .up, let old {
            text += " after \(Decimals.length(held.inSeconds)) \(old.name)"
        }
        if let trouble {
            text += new == .up ? " (\(trouble.rawValue)" : ": \(trouble.rawValue)"
            if let failure { text += ": \(failure.text)" }
            if new == .up { text += ")" }
        }
        return text
    }
}
