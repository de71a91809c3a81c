public import HLSKitLoading

/// A rule that chooses among the eligible variants.
///
/// Asked before each segment for which there is a choice and, while one is on its way, each time that its progress is
/// worth a look. A rule may keep state between calls; it belongs to one item and is called from one place at a time. It
/// must be quick (well under a millisecond). A program's own rule is called on the player's task without any lock: it may
/// read the player.
public protocol VariantSelector: Sendable {
    /// Decides for the situation that `input` describes.
    mutating func decide(_ input: SelectionInput) -> SelectionDecision
}

/// The input of a ``VariantSelector``. Bit rates are bits per second, times those of the player's clock.
public struct SelectionInput: Sendable {
    /// A segment that comes next.
    public struct UpcomingSegment: Sendable, Hashable {
        /// Its length by the playlist.
        public var duration: Duration
        /// Bytes per candidate, in the order of ``SelectionInput/candidates``; empty if the playlist does not say.
        public var byteCounts: [Int]

        /// Makes a segment of unknown size, unless stated otherwise.
        public init(duration: Duration, byteCounts: [Int] = []) {
            self.duration = duration
            self.byteCounts = byteCounts
        }
    }

    /// A segment that is on its way.
    public struct Download: Sendable, Hashable {
        /// The variant that it belongs to: ``AssetVariant/id``.
        public var variantID: AssetVariant.ID
        /// Its length by the playlist.
        public var segmentDuration: Duration
        /// When it was requested, and when its first byte came (nil: not yet).
        public var requested: Duration
        /// When its first byte arrived; nil before.
        public var firstByte: Duration?
        /// Bytes that have arrived.
        public var receivedByteCount: Int
        /// The whole size, as declared or as good as is known.
        public var expectedByteCount: Int

        /// Makes a download.
        public init(
            variantID: AssetVariant.ID, segmentDuration: Duration, requested: Duration, firstByte: Duration? = nil,
            receivedByteCount: Int, expectedByteCount: Int
        ) {
            self.variantID = variantID
            self.segmentDuration = segmentDuration
            self.requested = requested
            self.firstByte = firstByte
            self.receivedByteCount = receivedByteCount
            self.expectedByteCount = expectedByteCount
        }
    }

    /// How many segments ``upcoming`` holds at most.
    package static let maximumUpcomingCount = 20

    /// The time of the decision.
    public var now: Duration
    /// The eligible variants, lowest `BANDWIDTH` first. Never empty.
    public var candidates: [AssetVariant]
    /// The variant in use, that of the last segment, by ``AssetVariant/id``; nil at the first. It may no longer be eligible.
    public var currentVariantID: AssetVariant.ID?
    /// nil while nothing was measured.
    public var throughput: ThroughputEstimate?
    /// The last finished transfers of media, newest last, at most 20.
    public var recentTransfers: [MeasuredTransfer]
    /// Playable media ahead of the playhead.
    public var forwardBuffer: Duration
    /// How much media is held at most.
    public var bufferCapacity: Duration
    /// The desired rate, or the one that playback would have. Not 0.
    public var rate: Double
    /// Playback runs now.
    public var isPlaying: Bool
    /// Live: media time between the playhead and the end of what is listed; nil for VOD.
    public var availableAhead: Duration?
    /// The next segments, the one to choose for (or that is on its way) first, at most 20.
    public var upcoming: [UpcomingSegment]
    /// Position of the first of these segments in the item and number of its segments; nil for live.
    public var segmentNumber: Int?
    /// Number of segments of the item; nil for live.
    public var segmentCount: Int?
    /// Live by parts: how long a part is at most; nil where whole segments are loaded.
    package var partTarget: Duration?
    /// The running download to judge; nil to choose for the next segment.
    public var download: Download?
    /// What the server of the last response told (CMSD). Its limit of the bit rate is kept to by ``candidates`` already. nil
    /// where it told nothing, or ``PlayerConfiguration/mindsServerData`` is off.
    public var serverData: ServerData? {
        get { serverNote?.data }
        set { serverNote = newValue.map(ServerDataNote.init) }
    }
    package var serverNote: ServerDataNote?

    /// Makes an input; what has a default is unknown or does not apply.
    public init(
        now: Duration, candidates: [AssetVariant], currentVariantID: AssetVariant.ID? = nil,
        throughput: ThroughputEstimate? = nil, recentTransfers: [MeasuredTransfer] = [],
        forwardBuffer: Duration, bufferCapacity: Duration = .seconds(30), rate: Double = 1, isPlaying: Bool = true,
        availableAhead: Duration? = nil, upcoming: [UpcomingSegment], segmentNumber: Int? = nil,
        segmentCount: Int? = nil, download: Download? = nil
    ) {
        self.now = now
        self.candidates = candidates
        self.currentVariantID = currentVariantID
        self.throughput = throughput
        self.recentTransfers = recentTransfers
        self.forwardBuffer = forwardBuffer
        self.bufferCapacity = bufferCapacity
        self.rate = rate
        self.isPlaying = isPlaying
        self.availableAhead = availableAhead
        self.upcoming = upcoming
        self.segmentNumber = segmentNumber
        self.segmentCount = segmentCount
        self.download = download
    }
}

/// The decision of a ``VariantSelector``.
public struct SelectionDecision: Sendable, CustomStringConvertible {
    /// The variant to load from, by ``AssetVariant/id``; one that the item does not have changes nothing. While a download is
    /// judged: its own variant to let it continue, another one to abandon it and load the segment from there.
    public var variantID: AssetVariant.ID
    /// Load only when no more media than this is ahead; nil loads at once.
    public var maximumForwardBuffer: Duration?
    private let makeExplanation: @Sendable () -> String

    /// `explanation` is made only when someone reads it.
    public init(
        variantID: AssetVariant.ID, maximumForwardBuffer: Duration? = nil,
        explanation: @autoclosure @escaping @Sendable () -> String
    ) {
        self.variantID = variantID
        self.maximumForwardBuffer = maximumForwardBuffer
        makeExplanation = explanation
    }

    /// Why, with the numbers that counted, in one line.
    public var explanation: String { makeExplanation() }

    public var description: String { "variant \(variantID): \(explanation)" }
}
