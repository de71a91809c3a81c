import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork

struct SampleTime: Sendable, Hashable {
    /// In units of the track's timescale.
    var pts: Int64
    var duration: Int64
    var isSync: Bool
}

struct SampleExtent: Sendable {
    /// Samples beyond this number are counted but not kept.
    static let maximumKeptCount = 4096

    private(set) var count = 0
    private(set) var byteCount = 0
    private(set) var first = Int64.max
    private(set) var last = Int64.min
    private var lastEnd = Int64.min
    /// In decoding order.
    private(set) var times: [SampleTime] = []

    mutating func note(pts: Int64, duration: Int64, byteCount size: Int, isSync: Bool) {
        // Real media has no times beyond this, and sums of them would overflow.
        guard pts.magnitude < UInt64(1) << 61, (0..<Int64(1) << 32).contains(duration) else { return }
        count += 1
        byteCount += size
        first = min(first, pts)
        last = max(last, pts)
        lastEnd = max(lastEnd, pts + duration)
        if times.count < Self.maximumKeptCount {
            times.append(SampleTime(pts: pts, duration: duration, isSync: isSync))
        }
    }

    /// The end of the last sample, estimated from the mean distance if samples have no duration.
    var end: Int64 {
        guard count > 0 else { return 0 }
        if lastEnd > last { return lastEnd }
        return count > 1 ? last + (last - first) / Int64(count - 1) : last
    }
}

package struct MediaHead: Sendable {
    var tracks: [MediaTrack] = []
    /// By the container's track number.
    var extents: [Int: SampleExtent] = [:]
    var tags: [ID3Tag] = []
    var isWhole = false
    var byteCount = 0
}

struct MediaHeadReader: ResourceReader {
    struct Amount: Sendable {
        var sampleCount: Int
        var byteCount: Int

        static let tracks = Amount(sampleCount: 2, byteCount: 2 << 20)
        static let estimate = Amount(sampleCount: 512, byteCount: 1 << 20)
        static let all = Amount(sampleCount: .max, byteCount: .max)
    }

    private let amount: Amount
    private let initialization: MP4InitializationSection?
    private var decryption: DecryptionBox?
    private let declared: ContainerProbe.Container?
    private var probe: [UInt8] = []
    private var demuxer: (any Demuxer)?
    private var isWebVTT = false
    private var head = MediaHead()

    init(
        _ amount: Amount, initialization: MP4InitializationSection? = nil, decryption: DecryptionBox? = nil,
        declared: ContainerProbe.Container? = nil
    ) {
        self.declared = declared
        self.amount = amount
        self.initialization = initialization
        self.decryption = decryption
        if let initialization { head.tracks = initialization.tracks }
    }

    mutating func begin(_ response: TransportResponse) {}

    mutating func take(_ bytes: [UInt8]) throws -> MediaHead? {
        let bytes = try decryption?.decrypt(bytes) ?? bytes
        head.byteCount += bytes.count
        try demux(bytes, isEnd: false)
        return isEnough ? head : nil
    }

    mutating func finish() throws -> MediaHead {
        let last = try decryption?.finish().bytes ?? []
        head.byteCount += last.count
        try demux(last, isEnd: true)
        var events: [DemuxerEvent] = []
        // Errors at the end do not affect the facts.
        try? demuxer?.finish(to: &events)
        note(events)
        head.isWhole = true
        guard !head.tracks.isEmpty else { throw MediaError(code: .malformed, text: "no track was found") }
        return head
    }

    private mutating func demux(_ bytes: [UInt8], isEnd: Bool) throws {
        if isWebVTT { return }
        var bytes = bytes
        if demuxer == nil {
            probe += bytes
            guard let container = ContainerProbe.identify(probe[...], isComplete: isEnd, declared: declared) else {
                return
            }
            try open(container)
            ContainerProbe.removeImage(from: &probe, before: container)
            bytes = probe
            probe = []
        }
        var events: [DemuxerEvent] = []
        defer { note(events) }
        try demuxer?.append(bytes[...], to: &events)
    }

    private mutating func open(_ container: ContainerProbe.Container) throws(MediaError) {
        if case .webVTT = container {
            isWebVTT = true
            head.tracks = [MediaTrack(id: 0, mediaType: .text, codec: .webVTT, timescale: 1000)]
        } else {
            demuxer = try container.makeDemuxer(initialization: initialization)
        }
    }

    private mutating func note(_ events: [DemuxerEvent]) {
        for event in events {
            switch event {
            case .tracks(let tracks): head.tracks = tracks
            case .sample(let sample):
                head.extents[sample.trackID, default: SampleExtent()].note(
                    pts: sample.pts, duration: sample.duration, byteCount: sample.data.count, isSync: sample.isSync)
                noteTag(sample)
            case .eventMessage, .unreadTrack, .note: break
            }
        }
    }

    private mutating func noteTag(_ sample: MediaSample) {
        guard head.tags.count < 16,
            head.tracks.contains(where: { $0.id == sample.trackID && $0.codec == .id3 }),
            let tag = try? sample.data.withUnsafeBytes({ try ID3Tag(parsing: $0) })
        else { return }
        head.tags.append(tag)
    }

    private var isEnough: Bool {
        if isWebVTT { return true }
        let media = head.tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }
        guard !media.isEmpty else { return false }
        if head.byteCount >= amount.byteCount { return true }
        return media.allSatisfy { track in
            let isKnown = track.mediaType == .video ? track.width > 0 : track.sampleRate > 0
            return isKnown && head.extents[track.id, default: SampleExtent()].count >= amount.sampleCount
        }
    }
}
