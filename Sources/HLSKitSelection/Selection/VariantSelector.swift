public import HLSKitLoading

/// A rule that chooses among the eligible variants.
///
/// The player calls a rule before each segment for which there is a choice, and repeatedly while the segment loads. A
/// rule may keep state between calls. It belongs to one item, and its calls never overlap. It must be quick, well under
/// a millisecond. Your own rule is called on the player's task without any lock, so it may access the player.
public protocol VariantSelector: Sendable {
    /// Returns the decision for a situation.
    mutating func decide(_ input: SelectionInput) -> SelectionDecision
}

/// The input of a ``VariantSelector``.
///
/// Bit rates are in bits per second, and times are on the player's clock.
public struct SelectionInput: Sendable {
    /// An upcoming segment.
    public struct UpcomingSegment: Sendable, Hashable {
        /// The duration according to the playlist.
        public var duration: Duration
        /// The sizes in bytes in the order of ``SelectionInput/candidates``, or an empty array if they are unknown.
        public var byteCounts: [Int]

        /// Creates a segment.
        ///
        /// By default, its sizes are unknown.
        public init(duration: Duration, byteCounts: [Int] = []) {
            self.duration = duration
            self.byteCounts = byteCounts
        }
    }

    /// A running download of a segment.
    public struct Download: Sendable, Hashable {
        /// The variant of the segment, as its ``AssetVariant/id``.
        public var variantID: AssetVariant.ID
        /// The duration of the segment according to the playlist.
        public var segmentDuration: Duration
        /// The time of the request.
        public var requested: Duration
        /// The time at which the first byte arrived, or `nil` if it has not.
        public var firstByte: Duration?
        /// The number of received bytes.
        public var receivedByteCount: Int
        /// The total number of bytes, as declared or estimated.
        public var expectedByteCount: Int

        /// Creates a download.
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

    package static let maximumUpcomingCount = 20

    /// The time of the decision.
    public var now: Duration
    /// The eligible variants, sorted by ascending `BANDWIDTH`.
    ///
    /// The array is never empty.
    public var candidates: [AssetVariant]
    /// The variant of the last segment, as its ``AssetVariant/id``, or `nil` before the first.
    ///
    /// It may no longer be eligible.
    public var currentVariantID: AssetVariant.ID?
    /// The estimated throughput, or `nil` before the first measurement.
    public var throughput: ThroughputEstimate?
    /// The last finished transfers of media, newest last, at most 20.
    public var recentTransfers: [MeasuredTransfer]
    /// The duration of playable media ahead of the playhead.
    public var forwardBuffer: Duration
    /// The longest duration of media that the buffer holds.
    public var bufferCapacity: Duration
    /// The desired rate, or the rate at which playback would run.
    ///
    /// The rate is never 0.
    public var rate: Double
    /// A Boolean value that indicates whether playback is running.
    public var isPlaying: Bool
    /// The duration of listed live media after the playhead, or `nil` for VOD.
    public var availableAhead: Duration?
    /// The next segments, at most 20.
    ///
    /// The first one is the segment to choose for, or the one that is loading.
    public var upcoming: [UpcomingSegment]
    /// The index in the item of the first upcoming segment, or `nil` for a live stream.
    public var segmentNumber: Int?
    /// The number of segments of the item, or `nil` for a live stream.
    public var segmentCount: Int?
    /// The longest duration of a part in low-latency playback, or nil if whole segments are loaded.
    package var partTarget: Duration?
    /// The running download to judge, or `nil` to choose for the next segment.
    public var download: Download?
    /// The CMSD data of the last response, or `nil` if there is none.
    ///
    /// Its bit-rate limit is already applied to ``candidates``. The value is also `nil` if
    /// ``PlayerConfiguration/usesServerHints`` is off.
    public var serverData: ServerData? {
        get { serverNote?.data }
        set { serverNote = newValue.map(CMSDRecord.init) }
    }
    package var serverNote: CMSDRecord?

    /// Creates an input.
    ///
    /// Default values stand for unknown or inapplicable values.
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
    /// The variant to load from, as its ``AssetVariant/id``.
    ///
    /// An unknown variant has no effect. While a download is judged, its own variant lets it continue. Another variant
    /// abandons it and loads the segment from that variant.
    public var variantID: AssetVariant.ID
    /// The forward buffer below which the next segment is loaded, or `nil` to load it at once.
    public var maximumForwardBuffer: Duration?
    private let makeExplanation: @Sendable () -> String

    /// Creates a decision.
    ///
    /// The explanation is only created when it is read.
    public init(
        variantID: AssetVariant.ID, maximumForwardBuffer: Duration? = nil,
        explanation: @autoclosure @escaping @Sendable () -> String
    ) {
        self.variantID = variantID
        self.maximumForwardBuffer = maximumForwardBuffer
        makeExplanation = explanation
    }

    /// The reason for the decision in one line, with the numbers that decided.
    public var explanation: String { makeExplanation() }

    public var description: String { "variant \(variantID): \(explanation)" }
}
