/// The events of one session, read from its logs. Times are seconds since the start of the session.
///
/// The size is bounded: samples and requests of very long sessions are thinned out, while totals stay exact. Texts are
/// external input. Escape them and remove secrets before displaying them.
package struct SessionRecord: Sendable, Equatable {
    var url: String?
    var software: String?
    /// The wall clock time at the start, as written in the log.
    var date: String?
    package var end = 0.0
    package var variants: [Int: Variant] = [:]
    /// Whether ``variants`` is complete.
    var hasLadder = false
    /// The states of playback from 0 to ``end``, without gaps, or empty if the log does not contain them.
    package var spells: [Spell] = []
    package var samples: [Sample] = []
    /// In the order of their starts.
    package var requests: [Request] = []
    var totals: [RequestKind: RequestTotals] = [:]
    var decisions: [Decision] = []
    var failures: [Failure] = []
    /// The number of failures that were omitted from ``failures``.
    var numberOfMoreFailures = 0
    var periods: [Period] = []
    var summary = Summary()
    var outcome = Outcome.unknown
    var reading = Reading()

    package init() {}

    package struct Variant: Sendable, Equatable {
        package var index: Int
        /// Bits per second, or 0 if undeclared.
        package var bandwidth: Double
        var averageBandwidth: Double?
        var width = 0
        var height = 0
        var codecs = ""

        package init(
            index: Int, bandwidth: Double, averageBandwidth: Double? = nil, width: Int = 0, height: Int = 0,
            codecs: String = ""
        ) {
            self.index = index
            self.bandwidth = bandwidth
            self.averageBandwidth = averageBandwidth
            self.width = width
            self.height = height
            self.codecs = codecs
        }
    }

    package struct Spell: Sendable, Equatable {
        package var start: Double
        package var end: Double
        package var activity: Activity
        var itemTime: Double?

        package init(start: Double, end: Double, activity: Activity, itemTime: Double? = nil) {
            self.start = start
            self.end = end
            self.activity = activity
            self.itemTime = itemTime
        }
        var duration: Double { end - start }
    }

    package enum Activity: Sendable, Equatable {
        case playing, paused
        case waiting(WaitCause)

        var waitCause: WaitCause? { if case .waiting(let cause) = self { cause } else { nil } }
    }

    package enum WaitCause: Sendable, Equatable {
        case start, stall, seek, resume
        /// The reason given by the player.
        case other(String)
    }

    package struct Sample: Sendable, Equatable {
        package var time: Double
        var itemTime: Double?
        /// Seconds of buffered media after the playhead.
        package var ahead: Double?
        /// The estimated throughput in bits per second.
        var throughput: Double?
        var variant: Int?
        /// Seconds behind the live edge.
        var liveOffset: Double?

        package init(
            time: Double, itemTime: Double? = nil, ahead: Double? = nil, throughput: Double? = nil, variant: Int? = nil,
            liveOffset: Double? = nil
        ) {
            self.time = time
            self.itemTime = itemTime
            self.ahead = ahead
            self.throughput = throughput
            self.variant = variant
            self.liveOffset = liveOffset
        }
    }

    package enum RequestKind: String, Sendable, CaseIterable {
        case multivariantPlaylist, mediaPlaylist, initializationSection, video, audio, subtitles, key
    }

    package struct Request: Sendable, Equatable {
        package var kind: RequestKind
        package var url: String
        package var start: Double
        package var end: Double
        /// The end of each phase, or `nil` if it was skipped or is unknown.
        var transferStart: Double?
        var nameLookupEnd: Double?
        var connectEnd: Double?
        var secureConnectEnd: Double?
        package var responseStart: Double?
        package var byteCount = 0
        var error: String?
        /// Whether it was cancelled in favour of a smaller variant.
        package var isAbandoned = false
        var isFromCache = false
        var isReload = false
        package var mediaSequence: Int?
        var segmentStart: Double?
        package var segmentDuration: Double?
        package var variant: Int?
        var protocolName: String?
        var serverAddress: String?

        package init(
            kind: RequestKind, url: String, start: Double, end: Double, transferStart: Double? = nil,
            nameLookupEnd: Double? = nil, connectEnd: Double? = nil, secureConnectEnd: Double? = nil,
            responseStart: Double? = nil, byteCount: Int = 0, error: String? = nil, isAbandoned: Bool = false,
            isFromCache: Bool = false, isReload: Bool = false, mediaSequence: Int? = nil, segmentStart: Double? = nil,
            segmentDuration: Double? = nil, variant: Int? = nil, protocolName: String? = nil,
            serverAddress: String? = nil
        ) {
            self.kind = kind
            self.url = url
            self.start = start
            self.end = end
            self.transferStart = transferStart
            self.nameLookupEnd = nameLookupEnd
            self.connectEnd = connectEnd
            self.secureConnectEnd = secureConnectEnd
            self.responseStart = responseStart
            self.byteCount = byteCount
            self.error = error
            self.isAbandoned = isAbandoned
            self.isFromCache = isFromCache
            self.isReload = isReload
            self.mediaSequence = mediaSequence
            self.segmentStart = segmentStart
            self.segmentDuration = segmentDuration
            self.variant = variant
            self.protocolName = protocolName
            self.serverAddress = serverAddress
        }

        var duration: Double { end - start }
        var hasFailed: Bool { error != nil }
        /// Bits per second from the first byte on, or `nil` if the request says nothing about the network.
        var throughput: Double? {
            guard let responseStart, !isFromCache, byteCount >= 1000, end - responseStart > 0.001 else { return nil }
            return Double(byteCount) * 8 / (end - responseStart)
        }
        /// The bit rate of its media, in bits per second.
        var mediaBitRate: Double? {
            guard let segmentDuration, segmentDuration > 0, !hasFailed, !isAbandoned, byteCount > 0 else { return nil }
            return Double(byteCount) * 8 / segmentDuration
        }
        var isNotable: Bool { hasFailed || isAbandoned || duration > 2 }
    }

    struct RequestTotals: Sendable, Equatable {
        var count = 0
        var failedCount = 0
        var byteCount = 0
        /// The sum of their durations in seconds.
        var duration = 0.0
        var longest = 0.0
        /// Seconds until the first byte, if there was one.
        var firstByte = Quantiles()
        /// The number of requests on a reused connection, among those with known connections.
        var reusedCount = 0
        var connectionCount = 0
    }

    struct Decision: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            case start, up, down, same, abandon, pathway, skip, seek, live, rendition, other
        }
        var time: Double
        var kind: Kind
        var what: String
        var reason: String?
        var variant: Int?
    }

    struct Failure: Sendable, Equatable {
        var time: Double?
        var isRecoverable: Bool
        var code: String?
        var cause: String
        var url: String?
        var detail: String?
    }

    struct Period: Sendable, Equatable {
        /// Seconds since the start of the session.
        var start: Double?
        var uri: String?
        var watched = 0.0
        var stalls = 0
        var byteCount = 0
        var requestCount = 0
        var indicatedBitrate: Double?
        var observedBitrate: Double?
        var startupTime: Double?
    }

    /// Totals that the log states, or `nil` if it does not.
    struct Summary: Sendable, Equatable {
        var watched: Double?
        var duration: Double?
        var startedAfter: Double?
        var stalls: Int?
        var stallDuration: Double?
        var bytes: Int?
        var requests: Int?
        var averageBitrate: Double?
        var droppedFrames: Int?
        var skippedSegments: Int?
    }

    enum Outcome: Sendable, Equatable {
        case playedToEnd
        case failed(Failure)
        /// The user ended the session.
        case ended
        /// The log ends without a result.
        case unknown
    }

    struct Reading: Sendable, Equatable {
        var lineCount = 0
        /// Lines that are truncated, too long or not JSON.
        var damagedCount = 0
        /// Unknown kinds of lines by name. If there are too many kinds, the rest is counted together.
        var unknownKinds: [String: Int] = [:]
        var unknownCount: Int { unknownKinds.values.reduce(0, +) }
        /// Requests and samples that were counted but not kept.
        var thinnedCount = 0
        /// Lines that the player dropped because they could not be written fast enough.
        var lostCount = 0
    }

    var isEmpty: Bool {
        spells.isEmpty && samples.isEmpty && requests.isEmpty && periods.isEmpty && failures.isEmpty
            && decisions.isEmpty && outcome == .unknown
    }

    var stalls: [Spell] { spells.filter { $0.activity == .waiting(.stall) } }
    /// Seconds of playback.
    var playingTime: Double { spells.reduce(0) { $0 + ($1.activity == .playing ? $1.duration : 0) } }
    var firstPlaying: Double? { spells.first { $0.activity == .playing }?.start }
    var requestCount: Int { totals.values.reduce(0) { $0 + $1.count } }
    var failedRequestCount: Int { totals.values.reduce(0) { $0 + $1.failedCount } }
    var byteCount: Int { totals.values.reduce(0) { $0 &+ $1.byteCount } }
    var ladder: [Variant] { variants.values.sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) } }
}
