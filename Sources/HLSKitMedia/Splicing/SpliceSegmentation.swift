public import HLSKitTime

/// A segmentation descriptor of splice information, which describes what begins or ends at its time.
///
/// Source: ANSI/SCTE 35 2023r1, §10.3.3.
public struct SpliceSegmentation: Sendable, Hashable {
    /// The type of segment that begins or ends (`segmentation_type_id`).
    ///
    /// The set is open. The names come from table 23 of the standard.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `0x10`.
        public static let programStart = Kind(rawValue: 0x10)
        /// `0x11`.
        public static let programEnd = Kind(rawValue: 0x11)
        /// `0x20`.
        public static let chapterStart = Kind(rawValue: 0x20)
        /// `0x21`.
        public static let chapterEnd = Kind(rawValue: 0x21)
        /// `0x22`.
        public static let breakStart = Kind(rawValue: 0x22)
        /// `0x23`.
        public static let breakEnd = Kind(rawValue: 0x23)
        /// `0x30`.
        public static let providerAdvertisementStart = Kind(rawValue: 0x30)
        /// `0x31`.
        public static let providerAdvertisementEnd = Kind(rawValue: 0x31)
        /// `0x32`.
        public static let distributorAdvertisementStart = Kind(rawValue: 0x32)
        /// `0x33`.
        public static let distributorAdvertisementEnd = Kind(rawValue: 0x33)
        /// `0x34`.
        public static let providerPlacementOpportunityStart = Kind(rawValue: 0x34)
        /// `0x35`.
        public static let providerPlacementOpportunityEnd = Kind(rawValue: 0x35)
        /// `0x36`.
        public static let distributorPlacementOpportunityStart = Kind(rawValue: 0x36)
        /// `0x37`.
        public static let distributorPlacementOpportunityEnd = Kind(rawValue: 0x37)
        /// `0x40`.
        public static let unscheduledEventStart = Kind(rawValue: 0x40)
        /// `0x41`.
        public static let unscheduledEventEnd = Kind(rawValue: 0x41)
        /// `0x50`.
        public static let networkStart = Kind(rawValue: 0x50)
        /// `0x51`.
        public static let networkEnd = Kind(rawValue: 0x51)
    }

    /// The identifier of the event (`segmentation_event_id`).
    ///
    /// Descriptors with the same one describe the same event.
    public var eventID: UInt32
    /// A Boolean value that indicates whether the announced event is cancelled.
    ///
    /// In that case, no other properties are known.
    public var isCancelled = false
    /// The type of segment that begins or ends.
    public var type = Kind(rawValue: 0)
    /// The duration of the segment, or `nil` if unknown.
    public var duration: MediaTime?
    /// The kind of ``upid`` (`segmentation_upid_type`).
    ///
    /// 0: none, 0x08: a Turner identifier, 0x09: ADI, 0x0C: private, 0x0F: a URI …
    public var upidType: UInt8 = 0
    /// The identifier of the content (`segmentation_upid`), which may be empty.
    public var upid: [UInt8] = []
    /// The number of the segment (`segment_num`), from 1, or 0 if unused.
    public var number = 0
    /// The expected number of segments (`segments_expected`), or 0 if unused.
    public var count = 0

    static let tag: UInt8 = 2
    private static let identifier = Array("CUEI".utf8)

    /// - Parameter content: The bytes after the descriptor's length. The result is nil if they are incomplete or belong
    ///   to another organization.
    init?(descriptor content: [UInt8]) {
        guard content.starts(with: Self.identifier) else { return nil }
        var reader = BitReader(Array(content.dropFirst(Self.identifier.count)))
        eventID = UInt32(truncatingIfNeeded: reader.bits(32))
        isCancelled = reader.flag()
        reader.skip(7)
        if !isCancelled {
            let isOfProgram = reader.flag()
            let hasDuration = reader.flag()
            reader.skip(6)
            if !isOfProgram { reader.skip(48 * reader.bits(8)) }
            if hasDuration { duration = MediaTime(value: Int64(reader.wideBits(40)), timescale: 90_000) }
            upidType = UInt8(truncatingIfNeeded: reader.bits(8))
            for _ in 0..<reader.bits(8) where !reader.isExhausted {
                upid.append(UInt8(truncatingIfNeeded: reader.bits(8)))
            }
            type = Kind(rawValue: UInt8(truncatingIfNeeded: reader.bits(8)))
            number = reader.bits(8)
            count = reader.bits(8)
        }
        guard !reader.isExhausted else { return nil }
    }

    /// The ``upid`` as text, or `nil` if it is empty or not entirely printable ASCII.
    public var upidText: String? {
        guard !upid.isEmpty, upid.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        return String(decoding: upid, as: UTF8.self)
    }
}

extension SpliceSegmentation.Kind: CustomStringConvertible {
    /// The name in the standard, in lower case, or a number for other types.
    public var description: String {
        let name: String? =
            switch self {
            case .programStart: "program start"
            case .programEnd: "program end"
            case .chapterStart: "chapter start"
            case .chapterEnd: "chapter end"
            case .breakStart: "break start"
            case .breakEnd: "break end"
            case .providerAdvertisementStart: "provider advertisement start"
            case .providerAdvertisementEnd: "provider advertisement end"
            case .distributorAdvertisementStart: "distributor advertisement start"
            case .distributorAdvertisementEnd: "distributor advertisement end"
            case .providerPlacementOpportunityStart: "provider placement opportunity start"
            case .providerPlacementOpportunityEnd: "provider placement opportunity end"
            case .distributorPlacementOpportunityStart: "distributor placement opportunity start"
            case .distributorPlacementOpportunityEnd: "distributor placement opportunity end"
            case .unscheduledEventStart: "unscheduled event start"
            case .unscheduledEventEnd: "unscheduled event end"
            case .networkStart: "network start"
            case .networkEnd: "network end"
            default: nil
            }
        return name ?? "segmentation type \(rawValue)"
    }
}
