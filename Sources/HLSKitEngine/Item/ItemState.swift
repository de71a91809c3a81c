package import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

package struct EngineItem: Sendable, Hashable {
    package var url: String
    var diary: ItemLog?
    /// Whether the item becomes ready only after ``EngineControl/assetKeysEnded(_:)``.
    var awaitsAssetKeys = false
    /// Whether ranges of the item may be skipped.
    ///
    /// If so, a segment is requested only after its playlist was checked for such ranges. In addition, the item must
    /// know its first break point or that there is none.
    var followsSchedule = false
    /// The URL of the item that this one interrupts and that names it, or nil if the app supplied it.
    var owner: String?

    package init(
        url: String, diary: ItemLog? = nil, awaitsAssetKeys: Bool = false, followsSchedule: Bool = false,
        owner: String? = nil
    ) {
        self.url = url
        self.diary = diary
        self.awaitsAssetKeys = awaitsAssetKeys
        self.followsSchedule = followsSchedule
        self.owner = owner
    }
}

package struct ItemState: Sendable {
    /// The URL of the first playlist: the original one or the fresh one that replaced it.
    package var url: String
    /// See ``EngineItem/owner``.
    let owner: String?
    var refresh = URLRefresh()
    var wayBack = URLRefresh.WayBack()
    package let session: ItemSession?
    /// The multivariant playlist, or nil if the app opened a media playlist.
    @Shared var multivariant: MultivariantPlaylist? = nil
    var multivariantURL: String?
    /// nil without content steering.
    @Shared var steering: ItemSteering? = nil
    var variants = VariantChooser()
    var renditions = RenditionChooser()
    package var lanes = MediaLanes()
    var resources = ItemResources()
    var keys = KeyLeases()
    var knownPlaylists = KnownPlaylists()
    var extent = ItemExtent()
    package var endTime = EndTime()
    var breakPoint = BreakPoint()
    var rates = ItemRates()
    var gaps = KnownGaps()
    package var seek = SeekMachine()
    var end = EndOfItem()
    @Shared var reportedDuration: MediaTime? = nil
    package var isReady = false
    var awaitsAssetKeys = false
    var schedule = BreakPoint.ScheduleReach()
    var failure = ItemFailure()
    var timelines = TimelineNumbers()
    var live = StaleStreamPolicy()
    var stream = LiveStream()
    /// The known reason against low latency.
    var lowLatency = LowLatencyNotice()
    var partConnections = PartConnections()
    var alignment = EdgeAlignment()
    var ordinaryDistance = FallbackHoldBack()
    var dateRanges = DateRangePassage()
    var spliceMarkers = SpliceMarkerPassage()
    var metadata = TimedMetadataPassage()
    package var contents = ItemContents()
    package var tracks = TrackSwitches()

    /// The origins that may receive the user's credentials, and the credentials of the URL itself (R60).
    let credentialOrigins: Set<URLOrigin>
    @Shared private(set) var authorization: TransportField? = nil

    /// - Parameter credentialOrigins: Origins in addition to the URL's own.
    init(url: String, owner: String? = nil, credentialOrigins: Set<URLOrigin>, session: ItemSession? = nil) {
        self.url = url
        self.owner = owner
        self.session = session
        // A server that is only listed in another item receives no user credentials.
        let credentials = RequestCredentials(url: owner ?? url, origins: credentialOrigins)
        self.credentialOrigins = credentials.origins
        authorization = credentials.authorization
    }

    package var candidates: [AssetVariant] { variants.candidates }
    var variantIndex: Int? { variants.current }
    var variant: AssetVariant? { variants.description }
    package var trick: TrickPlay? {
        _read { yield rates.trick }
    }
    var startWindow: Duration? { seek.window }
    package var hasFrames: Bool { seek.hasFrames }
    var previousTracker: PlaylistTracker? { lanes[.main]?.playlist.left }
    package var audibleOption: AudioRendition? { renditions.audibleOption }
    var loadsAudioOfVariant: Bool { renditions.loadsAudioOfVariant }
    package var legibleLanguage: String? { renditions.legibleLanguage }
    var isAudioOnly: Bool { renditions.isAudioOnly }
    package var capabilities: TimeControlMachine.RateCapabilities { rates.capabilities }
    var variantURI: String? {
        guard let index = variantIndex, candidates.indices.contains(index) else { return nil }
        return candidates[index].uri
    }
    package var start: Duration? { extent.start }
    var mediaEnd: Duration? { extent.mediaEnd }
    /// The time at which forward playback stops before the media ends: the app's end time or a break.
    var forwardEnd: Duration? {
        guard let time = breakPoint.time else { return endTime.time }
        return endTime.time.map { min($0, time) } ?? time
    }
    package var error: HLSError? {
        _read { yield failure.error }
    }
    var pendingFailure: HLSError? {
        _read { yield failure.pending }
    }
    var failingLane: LaneID? { failure.lane }
    var mayBecomeReady: Bool {
        guard error == nil, !awaitsAssetKeys else { return false }
        let lanes = requiredLanes
        return !lanes.isEmpty && lanes.allSatisfy { $0.isDemuxed || $0.isComplete }
    }
    func duration(in tracker: PlaylistTracker) -> MediaTime {
        if tracker.isLive { return .indefinite }
        let hasFailed = error != nil || pendingFailure != nil
        return MediaTime(
            extent.duration(listedEnd: tracker.end, forwardEnd: endTime.time, hasFailed: hasFailed))
    }
    var declaredVideoRange: VideoRange? {
        guard let index = variantIndex, let variants = multivariant?.variants, variants.indices.contains(index) else {
            return nil
        }
        return variants[index].videoRange
    }
    var isLive: Bool { lanes.isMainLive ?? false }
    var requiredLanes: [MediaLane] { lanes.values.filter(\.isRequired) }
    var hasPresentable: Bool { contents.hasPresentable }
    var isIdle: Bool { stream.isIdle }
    /// Whether the item is live, including while the variant's playlist is loading.
    var isLiveStream: Bool { lanes.isMainLive ?? previousTracker?.isLive ?? false }
    var hasOpened: Bool { multivariant != nil || !lanes.isEmpty }
    /// Whether the live stream is assumed to have ended.
    var isClosed: Bool { live.isClosed }
    var isComplete: Bool { !lanes.isEmpty && requiredLanes.allSatisfy(\.isComplete) }
    /// The end of the longest lane, or nil while the variant is live.
    var listedEnd: Duration? {
        guard lanes.isMainLive == false else { return nil }
        return requiredLanes.compactMap(\.tracker).filter { !$0.isLive }.map(\.end).max()
    }
    /// The live playlist that decides whether the item continues, preferably the variant's.
    var liveTracker: PlaylistTracker? {
        let trackers = LaneID.allCases.compactMap { lanes[$0] }.filter(\.isRequired).compactMap(\.tracker)
        return trackers.first(where: \.isLive)
    }
    /// The end of the required media that failed, or nil if it is unknown or nothing failed.
    var failsAt: Duration? {
        guard pendingFailure != nil, let id = failingLane, let lane = lanes[id], lane.segments.isEmpty else {
            return nil
        }
        return lane.loadedEnd
    }
    var loadedEnd: Duration { requiredLanes.compactMap(\.loadedEnd).max() ?? start ?? .zero }
    var isDrained: Bool { isComplete && requiredLanes.allSatisfy { $0.drainedEnd != nil } }
}
