/// What is known at a moment that servers can be told; nil for what is not.
struct ClientDataFacts: Sendable, Hashable {
    /// What is asked for, by its token.
    enum ObjectType: String, Sendable, Hashable, CaseIterable {
        case text = "m"
        case audio = "a"
        case video = "v"
        case muxed = "av"
        case initializationSection = "i"
        case caption = "c"
        case timedText = "tt"
        case key = "k"
        case other = "o"

        var hasDuration: Bool { [.audio, .video, .muxed, .timedText, .caption, .other].contains(self) }
        var hasPlayableBitrate: Bool { [.audio, .video, .muxed, .caption].contains(self) }
        var isMedia: Bool { [.audio, .video, .muxed].contains(self) }
        var hasFrames: Bool { [.video, .muxed, .other].contains(self) }
    }

    /// The state of playback, by its token.
    enum State: String, Sendable, Hashable, CaseIterable {
        case starting = "s"
        case playing = "p"
        case seeking = "k"
        case rebuffering = "r"
        case paused = "a"
        case ended = "e"
        case failed = "f"
        case quit = "q"
        case preloading = "d"
    }

    enum StreamType: String, Sendable, Hashable { case onDemand = "v", live = "l", lowLatency = "ll" }

    /// A resource that is asked for next.
    struct NextObject: Sendable, Hashable {
        var url: String
        var byteRange: Range<UInt64>?
    }

    /// Bit rates that a playlist declares, in bits per second: of one kind of object, or of all that play together.
    struct BitRates: Sendable, Hashable {
        var isAggregate = false
        var encoded: Double?
        var top: Double?
        var lowest: Double?
        /// The highest that may be chosen.
        var topPlayable: Double?
    }

    /// Codes of errors in the order in which they occurred.
    struct Errors: Sendable, Hashable {
        /// Of all, also of those whose codes are forgotten.
        private(set) var count = 0
        private var codes: [String] = []
        private static let maximumCount = 16

        mutating func append(_ code: String) {
            count += 1
            codes.append(code)
            if codes.count > Self.maximumCount { codes.removeFirst() }
        }

        /// The last ones, for who knows the first `count` of all.
        func since(_ known: Int) -> [String] { Array(codes.suffix(max(0, count - known))) }
    }

    // The object.
    var objectType: ObjectType?
    var bitRates = BitRates()
    var duration: Duration?
    var next: NextObject?
    /// It is not for showing.
    var isNotRendered = false

    // The buffer, and time.
    var bufferLength: Duration?
    var targetBufferLength: Duration?
    var deadline: Duration?
    var isUrgent = false
    /// Bits per second.
    var throughput: Double?
    var playheadBitRate: Double?
    var rate: Double?
    var state: State?
    /// Of the playhead: in the item, or since 1970 where a live stream has dates.
    var playheadTime: Duration?
    var liveLatency: Duration?
    var startDelay: Duration?
    var droppedFrameCount: Int?

    // Since the session began.
    var starvationCount = 0
    /// Of those that are over.
    var starvations: [Duration] = []
    var errors = Errors()

    // The session.
    var streamType: StreamType?
    var sessionID: String?
    var network: String?
    var isBackgrounded: Bool?
}

/// Facts that a request has with it. Whoever has none carries eight bytes.
final class ClientDataNote: Sendable, Hashable {
    let facts: ClientDataFacts

    init(_ facts: ClientDataFacts) { self.facts = facts }

    static func == (one: ClientDataNote, other: ClientDataNote) -> Bool { one === other || one.facts == other.facts }
    func hash(into hasher: inout Hasher) { hasher.combine(facts) }
}

/// What happened, and what only this kind of event says.
struct ClientDataEvent: Sendable, Hashable {
    var kind: ClientData.Event
    /// Milliseconds since 1970.
    var date: Int
    /// The end of a request.
    var response: Response?
    /// `ec`.
    var errorCode: String?
    /// `cen`.
    var name: String?
    /// `h`.
    var host: String?

    struct Response: Sendable, Hashable {
        /// Without secrets.
        var url: String
        /// 0 where none came.
        var status: Int
        var firstByte: Duration?
        var firstBodyByte: Duration?
        /// nil where the body did not come whole.
        var lastByte: Duration?
        /// `CMSD-Static` and `CMSD-Dynamic`, as sent.
        var staticData: String?
        var dynamicData: String?
        /// `SMRT-Data`, as sent.
        var tracing: String?
    }

    init(_ kind: ClientData.Event, date: Int) {
        self.kind = kind
        self.date = date
    }
}
