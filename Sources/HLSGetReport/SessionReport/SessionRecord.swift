/// What happened in one session, as its logs tell it. Times are seconds since the start of the session.
///
/// A value of bounded size: of very long sessions samples and requests are thinned out, while totals stay exact. Texts in
/// it come from elsewhere: whoever shows them escapes them and hides what is secret.
package struct SessionRecord: Sendable, Equatable {
    /// What was played; nil where no line tells.
    var url: String?
    /// The program that wrote the log.
    var software: String?
    /// The wall clock at the start, as the log writes it.
    var date: String?
    /// When the last thing happened.
    package var end = 0.0
    /// Variants that are known, by their place in the playlist.
    package var variants: [Int: Variant] = [:]
    /// Whether those are all that there are.
    var hasLadder = false
    /// What the viewer had, without holes, from 0 to ``end``. Empty where the log does not tell.
    package var spells: [Spell] = []
    package var samples: [Sample] = []
    /// By their starts.
    package var requests: [Request] = []
    var totals: [RequestKind: RequestTotals] = [:]
    var decisions: [Decision] = []
    var failures: [Failure] = []
    /// Those of the list above that were left out because there were too many.
    var numberOfMoreFailures = 0
    var periods: [Period] = []
    var summary = Summary()
    var outcome = Outcome.unknown
    var reading = Reading()

    package init() {}

    /// A variant, as the playlist declares it.
    package struct Variant: Sendable, Equatable {
        package var index: Int
        /// Bits per second; 0 where undeclared.
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

    /// What the viewer had for a while.
    package struct Spell: Sendable, Equatable {
        package var start: Double
        package var end: Double
        package var activity: Activity
        /// Where playback was at its start.
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

    /// What a wait belongs to.
    package enum WaitCause: Sendable, Equatable {
        case start, stall, seek, resume
        /// In the player's words.
        case other(String)
    }

    /// The state of the player at a moment.
    package struct Sample: Sendable, Equatable {
        package var time: Double
        var itemTime: Double?
        /// Seconds of media ahead of the playhead.
        package var ahead: Double?
        /// Expected throughput in bits per second.
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

    /// One request, from its start to its end.
    package struct Request: Sendable, Equatable {
        package var kind: RequestKind
        package var url: String
        package var start: Double
        package var end: Double
        /// Ends of phases; nil for those that did not take place or are not known.
        var transferStart: Double?
        var nameLookupEnd: Double?
        var connectEnd: Double?
        var secureConnectEnd: Double?
        package var responseStart: Double?
        package var byteCount = 0
        var error: String?
        /// Given up for a smaller one.
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
        /// Bits per second from the first byte on; nil for what says nothing about the network.
        var throughput: Double? {
            guard let responseStart, !isFromCache, byteCount >= 1000, end - responseStart > 0.001 else { return nil }
            return Double(byteCount) * 8 / (end - responseStart)
        }
        /// Bits per second that its media takes to play.
        var mediaBitRate: Double? {
            guard let segmentDuration, segmentDuration > 0, !hasFailed, !isAbandoned, byteCount > 0 else { return nil }
            return Double(byteCount) * 8 / segmentDuration
        }
        /// Whether it is worth keeping where there are too many.
        var isNotable: Bool { hasFailed || isAbandoned || duration > 2 }
    }

    /// All requests of a kind.
    struct RequestTotals: Sendable, Equatable {
        var count = 0
        var failedCount = 0
        var byteCount = 0
        /// Seconds in which they were under way, added up.
        var duration = 0.0
        var longest = 0.0
        /// Seconds until the first byte, of those that had one.
        var firstByte = Quantiles()
        /// Those that could use a connection that was open, of those that tell.
        var reusedCount = 0
        var connectionCount = 0
    }

    /// Something that the player decided, or that it told.
    struct Decision: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            case start, up, down, same, abandon, pathway, skip, seek, live, rendition, other
        }
        var time: Double
        var kind: Kind
        var what: String
        var reason: String?
        /// The variant from then on.
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

    /// A line of the access log.
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

    /// Totals that the log itself states; nil for what it does not.
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
        /// Somebody ended it.
        case ended
        /// The log ends without telling.
        case unknown
    }

    /// How much of the log was understood.
    struct Reading: Sendable, Equatable {
        var lineCount = 0
        /// Not what it should be: cut off, not JSON, too long.
        var damagedCount = 0
        /// Lines of kinds that are not known, by name. Of more than a few kinds the rest is counted together.
        var unknownKinds: [String: Int] = [:]
        var unknownCount: Int { unknownKinds.values.reduce(0, +) }
        /// Requests and samples that were counted but not kept.
        var thinnedCount = 0
        /// Lines that the player itself could not write fast enough.
        var lostCount = 0
    }

    /// Whether there is anything to show.
    var isEmpty: Bool {
        spells.isEmpty && samples.isEmpty && requests.isEmpty && periods.isEmpty && failures.isEmpty
            && decisions.isEmpty && outcome == .unknown
    }

    /// Waits that a stall began, in order.
    var stalls: [Spell] { spells.filter { $0.activity == .waiting(.stall) } }
    /// Seconds of the session in which media was played.
    var playingTime: Double { spells.reduce(0) { $0 + ($1.activity == .playing ? $1.duration : 0) } }
    /// When playing first began.
    var firstPlaying: Double? { spells.first { $0.activity == .playing }?.start }
    var requestCount: Int { totals.values.reduce(0) { $0 + $1.count } }
    var failedRequestCount: Int { totals.values.reduce(0) { $0 + $1.failedCount } }
    var byteCount: Int { totals.values.reduce(0) { $0 &+ $1.byteCount } }
    /// Variants from the lowest to the highest.
    var ladder: [Variant] { variants.values.sorted { ($0.bandwidth, $0.index) < ($1.bandwidth, $1.index) } }
}
