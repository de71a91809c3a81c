/// What is known at a moment that servers can be told; nil for what is not.
package struct ClientDataFacts: Sendable, Hashable {
    /// What is asked for, by its token.
    package enum ObjectType: String, Sendable, Hashable, CaseIterable {
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
    package enum State: String, Sendable, Hashable, CaseIterable {
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

    package enum StreamType: String, Sendable, Hashable { case onDemand = "v", live = "l", lowLatency = "ll" }

    /// A resource that is asked for next.
    package struct NextObject: Sendable, Hashable {
        package var url: String
        package var byteRange: Range<UInt64>?

        package init(url: String, byteRange: Range<UInt64>? = nil) {
            self.url = url
            self.byteRange = byteRange
        }
    }

    /// Bit rates that a playlist declares, in bits per second: of one kind of object, or of all that play together.
    package struct BitRates: Sendable, Hashable {
        package var isAggregate = false
        package var encoded: Double?
        package var top: Double?
        package var lowest: Double?
        /// The highest that may be chosen.
        package var topPlayable: Double?

        package init(
            isAggregate: Bool = false, encoded: Double? = nil, top: Double? = nil, lowest: Double? = nil,
            topPlayable: Double? = nil
        ) {
            self.isAggregate = isAggregate
            self.encoded = encoded
            self.top = top
            self.lowest = lowest
            self.topPlayable = topPlayable
        }
    }

    /// Codes of errors in the order in which they occurred.
    package struct Errors: Sendable, Hashable {
        /// Of all, also of those whose codes are forgotten.
        private(set) var count = 0
        private var codes: [String] = []

        package init() {}
        private static let maximumCount = 16

        package mutating func append(_ code: String) {
            count += 1
            codes.append(code)
            if codes.count > Self.maximumCount { codes.removeFirst() }
        }

        /// The last ones, for who knows the first `count` of all.
        func since(_ known: Int) -> [String] { Array(codes.suffix(max(0, count - known))) }
    }

    // The object.
    package var objectType: ObjectType?
    package var bitRates = BitRates()
    package var duration: Duration?
    package var next: NextObject?
    /// It is not for showing.
    package var isNotRendered = false

    // The buffer, and time.
    package var bufferLength: Duration?
    package var targetBufferLength: Duration?
    package var deadline: Duration?
    package var isUrgent = false
    /// Bits per second.
    package var throughput: Double?
    package var playheadBitRate: Double?
    package var rate: Double?
    package var state: State?
    /// Of the playhead: in the item, or since 1970 where a live stream has dates.
    package var playheadTime: Duration?
    package var liveLatency: Duration?
    package var startDelay: Duration?
    package var droppedFrameCount: Int?

    // Since the session began.
    package var starvationCount = 0
    /// Of those that are over.
    package var starvations: [Duration] = []
    package var errors = Errors()

    // The session.
    package var streamType: StreamType?
    package var sessionID: String?
    package var network: String?
    package var isBackgrounded: Bool?

    package init() {}
}

/// Facts that a request has with it. Whoever has none carries eight bytes.
package final class ClientDataNote: Sendable, Hashable {
    package let facts: ClientDataFacts

    package init(_ facts: ClientDataFacts) { self.facts = facts }

    package static func == (one: ClientDataNote, other: ClientDataNote) -> Bool {
        one === other || one.facts == other.facts
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(facts) }
}

/// What happened, and what only this kind of event says.
package struct ClientDataEvent: Sendable, Hashable {
    package var kind: ClientData.Event
    /// Milliseconds since 1970.
    var date: Int
    /// The end of a request.
    package var response: Response?
    /// `ec`.
    package var errorCode: String?
    /// `cen`.
    package var name: String?
    /// `h`.
    package var host: String?

    package struct Response: Sendable, Hashable {
        /// Without secrets.
        package var url: String
        /// 0 where none came.
        package var status: Int
        package var firstByte: Duration?
        package var firstBodyByte: Duration?
        /// nil where the body did not come whole.
        package var lastByte: Duration?
        /// `CMSD-Static` and `CMSD-Dynamic`, as sent.
        package var staticData: String?
        package var dynamicData: String?
        /// `SMRT-Data`, as sent.
        package var tracing: String?

        package init(
            url: String, status: Int, firstByte: Duration? = nil, firstBodyByte: Duration? = nil,
            lastByte: Duration? = nil, staticData: String? = nil, dynamicData: String? = nil, tracing: String? = nil
        ) {
            self.url = url
            self.status = status
            self.firstByte = firstByte
            self.firstBodyByte = firstBodyByte
            self.lastByte = lastByte
            self.staticData = staticData
            self.dynamicData = dynamicData
            self.tracing = tracing
        }
    }

    package init(_ kind: ClientData.Event, date: Int) {
        self.kind = kind
        self.date = date
    }
}
