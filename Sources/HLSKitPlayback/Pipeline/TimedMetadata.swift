import HLSKitAsset
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitTime

/// A tag or an event as media has it, with its time on the media's own clock.
package struct TimedMetadata: Sendable {
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

/// Makes groups of metadata, each once: segments are read again, and segments, variants and renditions repeat what others said.
struct MetadataReader: Sendable {
    /// Groups that are known again, and given again after a seek back. A stream that repeats more than these repeats itself.
    private static let maxKnownCount = 512

    private var known: [(time: Duration, group: TimedMetadataGroup)] = []

    /// nil for what was given before, and for what is no metadata.
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

    /// What was given before and begins at `time` or later: time has jumped to where media is kept.
    func groups(from time: Duration) -> [TimedMetadataGroup] { known.filter { $0.time >= time }.map(\.group) }

    /// ID3 in `emsg`: "Carriage of ID3 Timed Metadata in CMAF", AOM; and Apple's name for the same.
    private static let id3Schemes: Set<String> = [
        "https://aomedia.org/emsg/ID3", "https://developer.apple.com/streaming/emsg-id3",
    ]

    private static func items(ofTag bytes: [UInt8]) -> [MetadataItem] {
        guard let tag = try? ID3Tag(parsing: bytes) else { return [] }
        return MetadataItem.items(of: tag)
    }

    /// Time has jumped: what comes again is wanted again.
    mutating func removeAll() { known = [] }
}

extension TimedMetadata {
    /// Variants and renditions differ by less.
    private static let sameTime = Duration.milliseconds(100)
    /// A section that says no time is of the moment at which it comes, which is another one in each variant; writers repeat it.
    private static let sameMoment = Duration.seconds(2)
    /// An event that counts from the start of its segment is repeated by the segments that follow, if its number says so.
    private static let sameEvent = Duration.seconds(60)
    /// As long as it is known: the section says when, whenever it comes.
    private static let always = Duration.seconds(1_000_000_000)

    /// What makes it the same as other metadata, and when the splice is that it announces.
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
        // Of a transport stream.
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
