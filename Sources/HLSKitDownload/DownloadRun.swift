import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

struct DownloadRun: Sendable {
    struct Amount: Sendable {
        var segmentCount = 0
        var duration = Duration.zero
    }

    var plan: DownloadPlan
    var alternates: DownloadAlternates
    var result: DownloadTask.Result
    var live = LiveStreamMonitor()
    /// The last reload error of each lane.
    var failures: [Int: HLSError] = [:]
    var reloads: [Int: RequestRetrier.Account] = [:]
    var lanes: [DownloadLane] = []
    var multivariant: MultivariantPlaylist?
    var variables: [String: String] = [:]
    var window = TimeWindow(from: .zero, until: .zero)
    /// Whether frames at the start of the window are known to need no earlier segment, or the window includes it.
    var isStartProved = true
    var seen: Set<DownloadPlan.ItemID> = []
    var skips: SegmentSkips?
    private var leftOut: Set<DownloadPlan.ItemID> = []
    var done = Amount()
    var totals = Amount()
    var mediaDuration = Duration.zero
    var storedByteCount = 0
    var loaded = DownloadedRanges()
    var files: [ResourceID: String] = [:]
    var failedMaps: [ResourceID: HLSError] = [:]
    private(set) var firstLoss: HLSError?
    var provenKeys: Set<String> = []
    /// Whether segments have been served since one was refused for good.
    var refusalsMayPass = false
    /// The segments whose requests began before that.
    var beganEarly: Set<DownloadPlan.ItemID> = []
    var folders = SilentFolders()
    /// Whether playlists are no longer reloaded.
    var isOver = false
    /// The accounts that count the failures of each segment of a chosen playlist, over all sources.
    private var accounts: [DownloadPlan.ItemID: RequestRetrier.Account] = [:]

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

    /// The maximum difference between the end of a rendition and the end of the variant.
    private static let endTolerance = BufferingConfiguration().maxGapJump

    /// Whether more wanted segments may be listed. After the variant has ended, a rendition is at most as long as it.
    var isLive: Bool {
        guard !isOver, let main = lanes.first?.tracker else { return false }
        let end = main.isLive ? nil : main.end - Self.endTolerance
        let wanted = [window.end, end].compactMap(\.self).min()
        return followed.map { lanes[$0].tracker }.contains { tracker in
            tracker.isLive && wanted.map { tracker.end < $0 } ?? true
        }
    }

    var numberOfInterstitials: Int {
        lanes.first.map { $0.tracker.playlist.dateRanges.count { $0.interstitial != nil } } ?? 0
    }

    /// Whether the stream was live when the run began, so that some segments may not have been loaded in time.
    var beganLive: Bool { lanes.first?.tracker.beganLive ?? false }

    /// The variant's segment at the start of the window, while frames there may depend on the segment before it.
    var unprovedStart: SegmentPosition? {
        guard !isStartProved, window.lead == nil, let start = window.start, let lane = lanes.first,
            let index = lane.tracker.entryIndex(containing: start), index > 0, lane.tracker.starts[index] <= start,
            lane.entry.wanted.contains(.video)
        else { return nil }
        let segments = lane.tracker.playlist.segments
        let isSkipped = [index - 1, index].contains {
            leftOut.contains(DownloadPlan.ItemID(lane: 0, position: lane.position(at: $0)))
        }
        guard !isSkipped else { return nil }
        let follows = lane.tracker.discontinuity(at: index - 1) == lane.tracker.discontinuity(at: index)
        return follows && !segments[index - 1].isGap && !segments[index].isGap ? lane.position(at: index) : nil
    }

    var followed: [Int] {
        let others = Set(alternates.lanes.values)
        return lanes.indices.filter { !others.contains($0) }
    }

    /// Whether to leave out a segment that is listed for the first time.
    mutating func skips(_ id: DownloadPlan.ItemID, at index: Int) -> Bool {
        let tracker = lanes[id.lane].tracker
        let range = tracker.starts[index]..<tracker.starts[index + 1]
        let isSkipped = id.lane == 0 ? skips?.leavesOut(range) : skips?.skipped.contains(range)
        guard isSkipped == true else { return false }
        leftOut.insert(id)
        return true
    }

    /// The listed segments of a lane in the window, without those that the playlist declares missing.
    func segments(of index: Int) -> [DownloadJournal.Segment] {
        let lane = lanes[index]
        return lane.indices(in: window).filter { !lane.tracker.playlist.segments[$0].isGap }.map {
            var segment = lane.description(at: $0)
            segment.isSkipped = leftOut.contains(DownloadPlan.ItemID(lane: index, position: segment.position))
            return segment
        }
    }

    mutating func add(
        _ entry: DownloadSelection.Entry, _ playlist: MediaPlaylist, known: [DownloadJournal.Segment], now: Duration
    ) {
        let start = lanes.first?.tracker.start(of: playlist, at: now) ?? .zero
        lanes.append(DownloadLane(entry, playlist, known: known, start: start, keys: keys, now: now))
    }

    /// The account that counts the failures of a segment. A replacement uses the account of the segment it replaces.
    mutating func account(of id: DownloadPlan.ItemID, _ retrier: RequestRetrier) -> RequestRetrier.Account {
        let target = alternates.alternateRequest(of: id)?.target ?? id
        if let account = accounts[target] { return account }
        let account = retrier.makeAccount()
        accounts[target] = account
        return account
    }

    mutating func closeAccount(of id: DownloadPlan.ItemID, _ retrier: RequestRetrier) {
        if let account = accounts.removeValue(forKey: alternates.alternateRequest(of: id)?.target ?? id) {
            retrier.close(account)
        }
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

    mutating func noteLoaded(_ id: DownloadPlan.ItemID) {
        let target = alternates.alternateRequest(of: id)?.target ?? id
        guard target.lane == 0, let tracker = lanes.first?.tracker, let index = lanes.first?.index(of: target.position)
        else { return }
        loaded.insert(from: tracker.starts[index], to: tracker.starts[index + 1])
    }

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

    func keyID(of id: DownloadPlan.ItemID) -> ResourceID? {
        let lane = lanes[id.lane]
        guard let index = lane.index(of: id.position), let key = try? lane.resources(at: index).key, !key.isOfSamples
        else { return nil }
        return key.resource
    }
}
