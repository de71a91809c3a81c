/// The values for client data at one moment. Unknown values are nil.
package struct ClientDataFacts: Sendable, Hashable {
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

    package struct NextObject: Sendable, Hashable {
        package var url: String
        package var byteRange: Range<UInt64>?

        package init(url: String, byteRange: Range<UInt64>? = nil) {
            self.url = url
            self.byteRange = byteRange
        }
    }

    /// The declared bit rates in bits per second, of one kind of object or of everything that plays together.
    package struct BitRates: Sendable, Hashable {
        package var isAggregate = false
        package var encoded: Double?
        package var top: Double?
        package var lowest: Double?
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

    package struct Errors: Sendable, Hashable {
        /// The number of all errors, including those whose codes were dropped.
        private(set) var count = 0
        private var codes: [String] = []

        package init() {}
        private static let maximumCount = 16

        package mutating func append(_ code: String) {
            count += 1
            codes.append(code)
            if codes.count > Self.maximumCount { codes.removeFirst() }
        }

        func since(_ known: Int) -> [String] { Array(codes.suffix(max(0, count - known))) }
    }

    package var objectType: ObjectType?
    package var bitRates = BitRates()
    package var duration: Duration?
    package var next: NextObject?
    package var isNotRendered = false

    package var bufferLength: Duration?
    package var targetBufferLength: Duration?
    package var deadline: Duration?
    package var isUrgent = false
    /// In bits per second.
    package var throughput: Double?
    package var playheadBitRate: Double?
    package var rate: Double?
    package var state: State?
    /// The item time of the playhead, or its time since 1970 if a live stream has dates.
    package var playheadTime: Duration?
    package var liveLatency: Duration?
    package var startDelay: Duration?
    package var droppedFrameCount: Int?

    // Totals since the start of the session.
    package var starvationCount = 0
    package var starvations: [Duration] = []
    package var errors = Errors()

    package var streamType: StreamType?
    package var sessionID: String?
    package var network: String?
    package var isBackgrounded: Bool?

    package init() {}
}

/// The facts that accompany a request. A request without facts only takes eight bytes.
package final class ClientDataNote: Sendable, Hashable {
    package let facts: ClientDataFacts

    package init(_ facts: ClientDataFacts) { self.facts = facts }

    package static func == (one: ClientDataNote, other: ClientDataNote) -> Bool {
        one === other || one.facts == other.facts
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(facts) }
}

package struct ClientDataEvent: Sendable, Hashable {
    package var kind: ClientData.Event
    /// In milliseconds since 1970.
    var date: Int
    package var response: Response?
    /// The key `ec`.
    package var errorCode: String?
    /// The key `cen`.
    package var name: String?
    /// The key `h`.
    package var host: String?

    package struct Response: Sendable, Hashable {
        /// Without secrets.
        package var url: String
        /// The status, or 0 if there was no response.
        package var status: Int
        package var firstByte: Duration?
        package var firstBodyByte: Duration?
        /// The time of the last byte, or nil if the body is incomplete.
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
