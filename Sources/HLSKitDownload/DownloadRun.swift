import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// What one run of a download knows.
struct DownloadRun: Sendable {
    struct Amount: Sendable {
        var segmentCount = 0
        var duration = Duration.zero
    }

    var plan: DownloadPlan
    var alternates: DownloadAlternates
    var result: DownloadTask.Result
    /// Whether something new is listed.
    var live = LiveStreamMonitor()
    /// By lanes, why their playlists could not be loaded when they were last asked for.
    var failures: [Int: HLSError] = [:]
    /// By lanes, what counts the failures of reloads.
    var reloads: [Int: RequestRetrier.Account] = [:]
    var lanes: [DownloadLane] = []
    var variables: [String: String] = [:]
    var window = TimeWindow(from: .zero, until: .zero)
    var seen: Set<DownloadPlan.ItemID> = []
    var done = Amount()
    var totals = Amount()
    var mediaDuration = Duration.zero
    var storedByteCount = 0
    /// Of the variant.
    var loaded = DownloadedRanges()
    /// The files of maps and keys that were loaded.
    var files: [ResourceID: String] = [:]
    var failedMaps: [ResourceID: HLSError] = [:]
    /// Why the first of the missing segments is missing.
    private(set) var firstLoss: HLSError?
    /// Files of keys that have decrypted a segment.
    var provenKeys: Set<String> = []
    /// Whether segments have been served since one was refused for good.
    var refusalsMayPass = false
    /// Where media comes from, and where none does.
    var folders = SilentFolders()
    /// Playlists are not loaded again.
    var isOver = false
    /// What counts the failures of a segment of a chosen playlist, wherever it is looked for.
    private var accounts: [DownloadPlan.ItemID: RequestRetrier.Account] = [:]

    /// Which keys are used; nil where what is encrypted is stored as it is.
    private let keys: KeyRules?

    init(
        plan: DownloadPlan, alternates: DownloadAlternates, result: DownloadTask.Result, keys: KeyRules?,
        started: Duration
    ) {
        self.keys = keys
        self.plan = plan
        self.alternates = alternates
        self.result = result
        live.noteNews(at: started)
    }

    /// A rendition that ends this much before the variant ends with it.
    private static let endTolerance = BufferingConfiguration().maxGapJump

    /// More segments that are wanted may be listed. Once the variant has ended, a rendition is as long as that at the most.
    var isLive: Bool {
        guard !isOver, let main = lanes.first?.tracker else { return false }
        let end = main.isLive ? nil : main.end - Self.endTolerance
        let wanted = [window.end, end].compactMap(\.self).min()
        return followed.map { lanes[$0].tracker }.contains { tracker in
            tracker.isLive && wanted.map { tracker.end < $0 } ?? true
        }
    }

    /// What is not loaded in time is gone, or was.
    /// Interstitials that the playlist of the variant schedules now.
    var numberOfInterstitials: Int {
        lanes.first.map { $0.tracker.playlist.dateRanges.count { $0.interstitial != nil } } ?? 0
    }

    var beganLive: Bool { lanes.first?.tracker.beganLive ?? false }

    /// The lanes that are wanted: not those of alternates.
    var followed: [Int] {
        let others = Set(alternates.lanes.values)
        return lanes.indices.filter { !others.contains($0) }
    }

    mutating func add(
        _ entry: DownloadSelection.Entry, _ playlist: MediaPlaylist, known: [DownloadJournal.Segment], now: Duration
    ) {
        let start = lanes.first?.tracker.start(of: playlist, at: now) ?? .zero
        lanes.append(DownloadLane(entry, playlist, known: known, start: start, keys: keys, now: now))
    }

    /// What counts the failures of a segment: of one that stands for another, that one's.
    mutating func account(of id: DownloadPlan.ItemID, _ retrier: RequestRetrier) -> RequestRetrier.Account {
        let target = alternates.wish(of: id)?.target ?? id
        if let account = accounts[target] { return account }
        let account = retrier.makeAccount()
        accounts[target] = account
        return account
    }

    /// Nothing more is asked for in the name of a segment.
    mutating func closeAccount(of id: DownloadPlan.ItemID, _ retrier: RequestRetrier) {
        if let account = accounts.removeValue(forKey: alternates.wish(of: id)?.target ?? id) { retrier.close(account) }
    }

    mutating func skip(_ id: DownloadPlan.ItemID, _ error: HLSError) {
        totals.segmentCount -= 1
        firstLoss = firstLoss ?? error
        if let lane = lanes.indices.contains(id.lane) ? lanes[id.lane] : nil, let index = lane.index(of: id.position) {
            totals.duration -= lane.tracker.duration(at: index)
        }
        result.gaps.append(
            DownloadGap(urlString: error.urlString ?? "", cause: error.cause, detail: error.detail, isDeclared: false))
    }

    /// A segment is there, or what stands for it.
    mutating func noteLoaded(_ id: DownloadPlan.ItemID) {
        let target = alternates.wish(of: id)?.target ?? id
        guard target.lane == 0, let tracker = lanes.first?.tracker, let index = lanes.first?.index(of: target.position)
        else { return }
        loaded.insert(from: tracker.starts[index], to: tracker.starts[index + 1])
    }

    /// Completes what the journal will say of a segment with the files of its map and keys.
    func describe(_ request: inout DownloadLoader.Request, at index: Int, of lane: DownloadLane) {
        guard let resources = try? lane.resources(at: index) else { return }
        request.segment.map = resources.map.flatMap { files[$0] }
        request.segment.mapKey = stored(resources.mapKey)
        request.segment.key = stored(resources.key)
    }

    private func stored(_ key: SegmentKey?) -> DownloadJournal.Key? {
        guard let key, let file = files[key.resource] else { return nil }
        return DownloadJournal.Key(
            method: key.method.rawValue, file: file, vector: key.initializationVector.hexadecimalText)
    }

    /// The key of a segment that is encrypted as a whole.
    func keyID(of id: DownloadPlan.ItemID) -> ResourceID? {
        let lane = lanes[id.lane]
        guard let index = lane.index(of: id.position), let key = try? lane.resources(at: index).key, !key.isOfSamples
        else { return nil }
        return key.resource
    }
}
