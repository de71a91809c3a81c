import HLSMedia
import HLSTime

/// A tag or an event as media has it, with its time on the media's own clock.
struct TimedMetadata: Sendable {
    enum Content: Sendable {
        case id3(SampleData)
        case event(EventMessage)
    }

    var time: Duration
    /// The container's number of its track.
    var trackID = TimedMetadataGroup.eventMessageTrackID
    /// The clock wraps at 33 bits.
    var wraps = false
    /// ``time`` counts from the segment's first sample.
    var isFromSegmentStart = false
    var duration: Duration?
    var content: Content
}

/// Makes groups of metadata for outputs, each once: segments are read again, and variants repeat what others said.
struct MetadataReader: Sendable {
    /// Groups that are known again, and given again after a seek back. A stream that repeats more than these repeats itself.
    private static let maxKnownCount = 512

    private struct Key: Hashable {
        /// In thousandths of a second: variants differ by less.
        var time: Int64
        var content: Int
    }

    private var known: Set<Key> = []
    private var order: [(key: Key, time: Duration, group: TimedMetadataGroup)] = []

    /// nil for what was given before, and for what is no metadata.
    mutating func group(of metadata: TimedMetadata, at time: Duration) -> TimedMetadataGroup? {
        var hasher = Hasher()
        var items: [MetadataItem] = []
        let sample: SampleData
        switch metadata.content {
        case .id3(let data):
            sample = data
            data.withUnsafeBytes { hasher.combine(bytes: $0) }
            items = Self.items(ofTag: data.withUnsafeBytes { Array($0) })
        case .event(let message):
            sample = SampleData(message.messageData)
            hasher.combine(message.schemeIDURI)
            hasher.combine(message.value)
            hasher.combine(message.id)
            hasher.combine(message.messageData)
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
        let (seconds, attoseconds) = time.components
        let milliseconds = Int64(clamping: Int128(seconds) * 1000 + Int128(attoseconds / 1_000_000_000_000_000))
        let key = Key(time: milliseconds, content: hasher.finalize())
        guard known.insert(key).inserted else { return nil }
        let group = TimedMetadataGroup(
            timeRange: MediaTimeRange(
                start: MediaTime(time), duration: metadata.duration.map { MediaTime($0) } ?? .indefinite),
            items: items, trackID: metadata.trackID, sample: sample)
        order.append((key, time, group))
        if order.count > Self.maxKnownCount { known.remove(order.removeFirst().key) }
        return group
    }

    /// What was given before and begins at `time` or later: time has jumped to where media is kept.
    func groups(from time: Duration) -> [TimedMetadataGroup] { order.filter { $0.time >= time }.map(\.group) }

    /// ID3 in `emsg`: "Carriage of ID3 Timed Metadata in CMAF", AOM; and Apple's name for the same.
    private static let id3Schemes: Set<String> = [
        "https://aomedia.org/emsg/ID3", "https://developer.apple.com/streaming/emsg-id3",
    ]

    private static func items(ofTag bytes: [UInt8]) -> [MetadataItem] {
        guard let tag = try? ID3Tag(parsing: bytes) else { return [] }
        return MetadataItem.items(of: tag)
    }

    /// Time has jumped: what comes again is wanted again.
    mutating func removeAll() {
        known = []
        order = []
    }
}
