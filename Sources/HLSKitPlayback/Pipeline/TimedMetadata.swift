import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitTime

/// A tag or an event from the media, with its time on the media's clock.
package struct TimedMetadata: Sendable {
    enum Content: Sendable {
        case id3(SampleData)
        case event(EventMessage)
    }

    var time: Duration
    var trackID = TimedMetadataGroup.eventMessageTrackID
    var wraps = false
    /// Whether ``time`` counts from the segment's first sample.
    var isFromSegmentStart = false
    var duration: Duration?
    var content: Content
}

/// Creates groups of metadata and removes repetitions.
///
/// Segments may be read again, and segments, variants and renditions repeat each other's metadata.
struct MetadataReader: Sendable {
    /// The limit on known groups, which are returned again after a seek back. Metadata repeated later is not detected.
    private static let maxKnownCount = 512

    private var known: [(time: Duration, group: TimedMetadataGroup)] = []

    /// Returns `nil` for metadata that was already returned or is not valid.
    mutating func group(of metadata: TimedMetadata, at time: Duration) -> TimedMetadataGroup? {
        var items: [MetadataItem] = []
        let sample: SampleData
        switch metadata.content {
        case .id3(let data):
            sample = data
            items = Self.items(ofTag: data.withUnsafeBytes { Array($0) })
        case .event(let message):
            sample = SampleData(message.messageData)
            items =
                Self.id3Schemes.contains(message.schemeIDURI)
                ? Self.items(ofTag: message.messageData)
                : [
                    MetadataItem(
                        .eventMessage, key: message.schemeIDURI + (message.value.isEmpty ? "" : ":" + message.value),
                        common: nil, value: .data(message.messageData))
                ]
        }
        guard !items.isEmpty else { return nil }
        let (identity, spliceTime) = metadata.traits(at: time)
        let group = TimedMetadataGroup(
            timeRange: MediaTimeRange(
                start: MediaTime(time), duration: metadata.duration.map { MediaTime($0) } ?? .indefinite),
            items: items, trackID: metadata.trackID, sample: sample, spliceTime: spliceTime.map { MediaTime($0) },
            identity: identity)
        guard !known.contains(where: { $0.group.isSame(as: group, apart: abs($0.time - time)) }) else { return nil }
        known.append((time, group))
        if known.count > Self.maxKnownCount { known.removeFirst() }
        return group
    }

    func groups(from time: Duration) -> [TimedMetadataGroup] { known.filter { $0.time >= time }.map(\.group) }

    /// The schemes for ID3 in `emsg`: "Carriage of ID3 Timed Metadata in CMAF" by AOM, and Apple's scheme.
    private static let id3Schemes: Set<String> = [
        "https://aomedia.org/emsg/ID3", "https://developer.apple.com/streaming/emsg-id3",
    ]

    private static func items(ofTag bytes: [UInt8]) -> [MetadataItem] {
        guard let tag = try? ID3Tag(parsing: bytes) else { return [] }
        return MetadataItem.items(of: tag)
    }

    mutating func removeAll() { known = [] }
}

extension TimedMetadata {
    /// The largest time difference between variants and renditions.
    private static let sameTime = Duration.milliseconds(100)
    /// The tolerance for sections without a time. Their time is the time of arrival, which differs by variant,
    /// and writers repeat them.
    private static let sameMoment = Duration.seconds(2)
    /// The tolerance for an event relative to its segment's start, which later segments repeat with the same ID.
    private static let sameEvent = Duration.seconds(60)
    /// Unlimited, because the section itself contains its time.
    private static let always = Duration.seconds(1_000_000_000)

    fileprivate func traits(at time: Duration) -> (TimedMetadataGroup.Identity, spliceTime: Duration?) {
        var hasher = Hasher()
        let message: EventMessage
        switch content {
        case .id3(let data):
            data.withUnsafeBytes { hasher.combine(bytes: $0) }
            return (.init(content: hasher.finalize(), tolerance: Self.sameTime), nil)
        case .event(let event): message = event
        }
        hasher.combine(message.schemeIDURI)
        hasher.combine(message.value)
        hasher.combine(message.id)
        hasher.combine(message.messageData)
        var identity = TimedMetadataGroup.Identity(content: hasher.finalize(), tolerance: Self.sameTime)
        // The message is from a transport stream.
        if message.wrapsAt33Bits {
            let splice = (try? SpliceInformation(parsing: message.messageData))?.spliceTime?.duration
            identity.tolerance = splice == nil ? Self.sameMoment : Self.always
            let ahead = splice.map { $0 - self.time }
            let period = ItemTimeline.wrapPeriod
            return (identity, ahead.map { time + $0 - period * Int64(($0 / period).rounded()) })
        }
        if isFromSegmentStart, message.id != 0 { identity.tolerance = max(Self.sameEvent, duration ?? .zero) }
        return (identity, nil)
    }
}
