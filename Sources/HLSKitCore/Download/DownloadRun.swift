import HLSMedia
import HLSPlaylist

/// What one run of a download knows.
struct DownloadRun: Sendable {
    struct Amount: Sendable {
        var segmentCount = 0
        var duration = Duration.zero
    }

    var plan: DownloadPlan
    var alternates: DownloadAlternates
    var result: DownloadTask.Result
    /// When something new was last listed.
    var lastNews: Duration
    /// By lanes, why their playlists could not be loaded when they were last asked for.
    var failures: [Int: AssetError] = [:]
    var lanes: [DownloadLane] = []
    var variables: [String: String] = [:]
    var window = Range<Duration>(uncheckedBounds: (.zero, .zero))
    var seen: Set<DownloadPlan.ItemID> = []
    var done = Amount()
    var totals = Amount()
    var mediaDuration = Duration.zero
    var storedByteCount = 0
    /// The files of maps and keys that were loaded.
    var files: [ResourceID: String] = [:]
    var failedMaps: [ResourceID: AssetError] = [:]
    /// Why the first of the missing segments is missing.
    private(set) var firstLoss: AssetError?
    /// Files of keys that have decrypted a segment.
    var provenKeys: Set<String> = []
    /// Playlists are not loaded again.
    var isOver = false

    init(plan: DownloadPlan, alternates: DownloadAlternates, result: DownloadTask.Result, started: Duration) {
        self.plan = plan
        self.alternates = alternates
        self.result = result
        lastNews = started
    }

    /// A rendition that ends this much before the variant ends with it.
    private static let endTolerance = Duration.milliseconds(500)

    /// More segments that are wanted may be listed. Once the variant has ended, a rendition is as long as that at the most.
    var isLive: Bool {
        guard !isOver, let main = lanes.first?.tracker else { return false }
        let end = main.isLive ? window.upperBound : min(window.upperBound, main.end - Self.endTolerance)
        return followed.contains { lanes[$0].tracker.isLive && lanes[$0].tracker.end < end }
    }

    /// What is not loaded in time is gone, or was.
    var beganLive: Bool { lanes.first?.tracker.beganLive ?? false }

    /// The lanes that are wanted: not those of alternates.
    var followed: [Int] {
        let others = Set(alternates.lanes.values)
        return lanes.indices.filter { !others.contains($0) }
    }

    mutating func add(
        _ entry: DownloadSelection.Entry, _ playlist: MediaPlaylist, known: [DownloadJournal.Segment], now: Duration
    ) {
        lanes.append(
            DownloadLane(entry, playlist, known: known, start: start(of: playlist), now: now))
    }

    /// Where a rendition's playlist begins: of a live stream what it has in common with the variant's tells.
    private func start(of playlist: MediaPlaylist) -> Duration {
        guard let main = lanes.first?.tracker, !playlist.hasEndList || playlist.mediaSequence > 0 else { return .zero }
        if let own = playlist.segments.first?.derivedProgramDateTime,
            let theirs = main.playlist.segments.first?.derivedProgramDateTime
        {
            return main.start + (own - theirs)
        }
        if let index = main.index(of: SegmentPosition(epoch: main.epoch, sequence: playlist.mediaSequence)) {
            return main.starts[index]
        }
        let end = main.end - playlist.duration
        return end
    }

    mutating func skip(_ id: DownloadPlan.ItemID, _ error: AssetError) {
        totals.segmentCount -= 1
        firstLoss = firstLoss ?? error
        if let lane = lanes.indices.contains(id.lane) ? lanes[id.lane] : nil, let index = lane.index(of: id.position) {
            totals.duration -= lane.tracker.duration(at: index)
        }
        result.gaps.append(
            DownloadGap(url: error.url ?? "", cause: error.cause, detail: error.detail, isDeclared: false))
    }

    /// Completes what the journal will say of a segment with the files of its map and keys.
    func describe(_ request: inout DownloadLoader.Request, at index: Int, of lane: DownloadLane) {
        let segment = lane.tracker.playlist.segments[index]
        if let map = segment.map, let url = lane.tracker.playlist.resolve(map.uri) {
            request.segment.map = files[ResourceID(kind: .map, url: url, byteRange: map.byteRange?.range)]
            request.segment.mapKey = key(of: map.keys, for: segment, in: lane)
        }
        request.segment.key = key(of: segment.keys, for: segment, in: lane)
    }

    private func key(
        of keys: [EncryptionKey], for segment: MediaSegment, in lane: DownloadLane
    ) -> DownloadJournal.Key? {
        guard let (key, id) = Self.key(of: keys, in: lane), let file = files[id] else { return nil }
        let vector = key.initializationVector(forMediaSequence: segment.mediaSequence).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return DownloadJournal.Key(method: key.method.rawValue, file: file, vector: vector.joined())
    }

    /// The key of a segment that is encrypted as a whole.
    func keyID(of id: DownloadPlan.ItemID) -> ResourceID? {
        let lane = lanes[id.lane]
        guard let index = lane.index(of: id.position),
            let (key, id) = Self.key(of: lane.tracker.playlist.segments[index].keys, in: lane), key.method == .aes128
        else { return nil }
        return id
    }

    /// The key among the alternatives that can be used; nil for clear media, and for what no key here opens.
    static func key(of keys: [EncryptionKey], in lane: DownloadLane) -> (key: EncryptionKey, id: ResourceID)? {
        let methods: [EncryptionKey.Method] = [.aes128, .sampleAES, .sampleAESCTR]
        guard let key = keys.first(where: { methods.contains($0.method) && $0.effectiveKeyFormat == "identity" }),
            let url = key.uri.flatMap(lane.tracker.playlist.resolve)
        else { return nil }
        return (key, ResourceID(kind: .key, url: url))
    }
}
