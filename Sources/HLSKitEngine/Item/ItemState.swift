package import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// An item as an engine receives it.
package struct EngineItem: Sendable, Hashable {
    package var url: String
    /// The destination of measurements, or nil if none are needed.
    var diary: ItemDiary?
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
        url: String, diary: ItemDiary? = nil, awaitsAssetKeys: Bool = false, followsSchedule: Bool = false,
        owner: String? = nil
    ) {
        self.url = url
        self.diary = diary
        self.awaitsAssetKeys = awaitsAssetKeys
        self.followsSchedule = followsSchedule
        self.owner = owner
    }
}

/// The engine's state of its current item.
package struct ItemState: Sendable {
    /// The URL of the first playlist: the original one or the fresh one that replaced it.
    package var url: String
    /// See ``EngineItem/owner``.
    let owner: String?
    var refresh = URLRefresh()
    /// The way back from a failing server that the item's URL was redirected to.
    var wayBack = URLRefresh.WayBack()
    package let session: ItemSession?
    /// The multivariant playlist, or nil if the app opened a media playlist.
    @Shared var multivariant: MultivariantPlaylist? = nil
    var multivariantURL: String?
    /// nil without content steering.
    @Shared var steering: ItemSteering? = nil
    /// The variants, and the current one.
    var variants = VariantChooser()
    /// The renditions that are loaded with the variant.
    var renditions = RenditionChooser()
    package var lanes = MediaLanes()
    /// The maps and keys that are loaded or loading.
    var resources = ItemResources()
    /// The lifetimes of keys.
    var keys = KeyLeases()
    /// The previously loaded media playlists.
    var knownPlaylists = KnownPlaylists()
    /// The start and end of the item.
    var extent = ItemExtent()
    package var endTime = EndTime()
    /// The point at which the item is left for a break.
    var breakPoint = BreakPoint()
    /// The possible rates and how they are played.
    var rates = ItemRates()
    /// The ranges of missing media that were reported.
    var holes = KnownHoles()
    /// The seeks, and the wait for outputs.
    package var seek = SeekMachine()
    /// The state of the item's end.
    var end = EndOfItem()
    /// The last reported duration.
    @Shared var toldDuration: MediaTime? = nil
    package var isReady = false
    var awaitsAssetKeys = false
    /// How far playlists were checked for ranges to skip.
    var schedule = BreakPoint.ScheduleReach()
    /// The failure state.
    var failure = ItemFailure()
    var timelines = TimelineNumbers()
    var live = LiveSilence()
    /// The state of live playback.
    var stream = LiveStream()
    /// The known reason against low latency.
    var lowLatency = LowLatencyNotice()
    /// The connections that load parts.
    var partConnections = PartConnections()
    /// The alignment with the live edge when low-latency playback starts.
    var alignment = EdgeAlignment()
    /// The distance from the edge after low-latency playback ends.
    var ordinaryDistance = OrdinaryDistance()
    /// The date ranges that the playhead reaches.
    var dateRanges = DateRangePassage()
    /// The ad markers and the timed metadata that the playhead reaches.
    var spliceMarkers = SpliceMarkerPassage()
    var metadata = TimedMetadataPassage()
    package var contents = ItemContents()
    /// The kinds of media that are disabled.
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

    /// All variants, and the current one by its index and as apps see it.
    package var candidates: [AssetVariant] { variants.candidates }
    var variantIndex: Int? { variants.current }
    var variant: AssetVariant? { variants.description }
    /// The I-frame playback that replaces regular playback.
    package var trick: TrickPlay? {
        _read { yield rates.trick }
    }
    /// The item time before which media is not presented.
    var startWindow: Duration? { seek.window }
    /// Whether the item has video that can be stepped through.
    package var hasPictures: Bool { seek.hasPictures }
    /// The playlist of the variant that was left last.
    var previousTracker: PlaylistTracker? { lanes[.main]?.playlist.left }
    package var audibleOption: AudioRendition? { renditions.audibleOption }
    var loadsAudioOfVariant: Bool { renditions.loadsAudioOfVariant }
    package var legibleLanguage: String? { renditions.legibleLanguage }
    var isSoundOnly: Bool { renditions.isSoundOnly }
    package var capabilities: TimeControlMachine.RateCapabilities { rates.capabilities }
    /// The URI of the current variant in the multivariant playlist.
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
    /// The error with which the item fails after its loaded media, because loading cannot continue.
    var pendingFailure: HLSError? {
        _read { yield failure.pending }
    }
    var failingLane: LaneID? { failure.lane }
    /// Whether all conditions for becoming ready are met.
    var mayBecomeReady: Bool {
        guard error == nil, !awaitsAssetKeys else { return false }
        let lanes = requiredLanes
        return !lanes.isEmpty && lanes.allSatisfy { $0.isDemuxed || $0.isComplete }
    }
    /// The `VIDEO-RANGE` of the current variant.
    var declaredVideoRange: VideoRange? {
        guard let index = variantIndex, let variants = multivariant?.variants, variants.indices.contains(index) else {
            return nil
        }
        return variants[index].videoRange
    }
    var isLive: Bool { lanes[.main]?.tracker?.isLive ?? false }
    var requiredLanes: [MediaLane] { lanes.values.filter(\.isRequired) }
    /// Whether any media was passed to outputs.
    var hasPresentable: Bool { contents.hasPresentable }
    /// Whether the player is paused in a live stream and makes no requests.
    var isAtRest: Bool { stream.isAtRest }
    /// Whether the item is live, including while the variant's playlist is loading.
    var isLiveStream: Bool { lanes[.main]?.tracker?.isLive ?? previousTracker?.isLive ?? false }
    /// Whether a playlist of the item was loaded.
    var hasOpened: Bool { multivariant != nil || !lanes.isEmpty }
    /// Whether the live stream is assumed to have ended.
    var isClosed: Bool { live.isClosed }
    /// Whether no further media will be loaded.
    var isComplete: Bool { !lanes.isEmpty && requiredLanes.allSatisfy(\.isComplete) }
    /// The end of the longest lane, or nil while the variant is live.
    var listedEnd: Duration? {
        guard lanes[.main]?.tracker?.isLive == false else { return nil }
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
    /// The end of loaded media.
    var loadedEnd: Duration { requiredLanes.compactMap(\.loadedEnd).max() ?? start ?? .zero }
    /// Whether all media was presented.
    var isDrained: Bool { isComplete && requiredLanes.allSatisfy { $0.drainedEnd != nil } }
}
