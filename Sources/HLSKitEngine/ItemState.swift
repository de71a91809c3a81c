package import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// An item as it is given to an engine.
package struct EngineItem: Sendable, Hashable {
    package var url: String
    /// Where what is measured goes; nil where nobody asks.
    var diary: ItemDiary?
    /// It does not become ready before ``EngineControl/assetKeysEnded(_:)``.
    var awaitsAssetKeys = false
    /// Parts of it may be left out: no segment is asked for before the list was looked at that lists it, and before the item was
    /// told where it is left first, or that it is not.
    var followsSchedule = false
    /// The URL of the item in whose place it is played, which has named it; nil where the program did.
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

/// What an engine knows of its current item.
package struct ItemState: Sendable {
    /// That of its first playlist: as it was given, or the fresh one that took its place.
    package var url: String
    /// As that of ``EngineItem``.
    let owner: String?
    var refresh = URLRefresh()
    /// From a machine that its URL has led to, and that fails.
    var wayBack = WayBack()
    package let session: ItemSession?
    /// nil for a media playlist that was opened directly.
    @Shared var multivariant: MultivariantPlaylist? = nil
    var multivariantURL: String?
    /// nil where nobody steers it.
    @Shared var steering: ItemSteering? = nil
    /// Its variants, and which of them is in use.
    var variants = VariantChooser()
    /// Which renditions are loaded beside the variant.
    var renditions = RenditionChooser()
    package var lanes = MediaLanes()
    /// Maps and keys that are here or on their way.
    var resources = ItemResources()
    /// How long keys hold.
    var keys = KeyLeases()
    /// Media playlists that were loaded before.
    var knownPlaylists = KnownPlaylists()
    /// Where it starts and ends.
    var extent = ItemExtent()
    package var endTime = EndTime()
    /// Where it is left for others to be played.
    var breakPoint = BreakPoint()
    /// The rates that it can be played at, and what is played at them.
    var rates = ItemRates()
    /// Holes that were told.
    var holes = KnownHoles()
    /// Moves of the playhead, and what is waited for at the outputs.
    package var seek = SeekMachine()
    /// Whether it is over.
    var end = EndOfItem()
    /// The duration that was told last.
    @Shared var toldDuration: MediaTime? = nil
    package var isReady = false
    var awaitsAssetKeys = false
    /// How far it was looked at for parts that are left out.
    var schedule = ScheduleReach()
    /// Whether it fails.
    var failure = ItemFailure()
    var timelines = TimelineNumbers()
    var live = LiveSilence()
    /// What it takes besides playing where it is live.
    var stream = LiveStream()
    /// What is known of why it is not played with low latency.
    var lowLatency = LowLatencyNotice()
    /// Over which connections its parts come.
    var partConnections = PartConnections()
    /// Its distance from the edge when it begins to play by parts.
    var alignment = EdgeAlignment()
    /// What becomes of its distance from the edge where it is played so no longer.
    var ordinaryDistance = OrdinaryDistance()
    /// Date ranges that the playhead comes to.
    var dateRanges = DateRangePassage()
    /// Markers of breaks that it comes to, and metadata in the media.
    var spliceMarkers = SpliceMarkerPassage()
    var metadata = TimedMetadataPassage()
    package var contents = ItemContents()
    /// Which kinds of its media are switched off.
    package var tracks = TrackSwitches()

    /// Where the user's credentials may go, and those that the URL itself carried (R60).
    let credentialOrigins: Set<URLOrigin>
    @Shared private(set) var authorization: TransportField? = nil

    /// `credentialOrigins` besides the URL's own.
    init(url: String, owner: String? = nil, credentialOrigins: Set<URLOrigin>, session: ItemSession? = nil) {
        self.url = url
        self.owner = owner
        self.session = session
        // Whoever is only named gets no credentials of the user.
        let credentials = RequestCredentials(url: owner ?? url, origins: credentialOrigins)
        self.credentialOrigins = credentials.origins
        authorization = credentials.authorization
    }

    /// All variants, and the one in use, by its index and as programs see it.
    package var candidates: [AssetVariant] { variants.candidates }
    var variantIndex: Int? { variants.current }
    var variant: AssetVariant? { variants.description }
    /// I-frames are played in the place of media.
    package var trick: TrickPlay? {
        _read { yield rates.trick }
    }
    /// Media before this item time is not presented.
    var startWindow: Duration? { seek.window }
    /// The item has pictures, which can be stepped through.
    package var hasPictures: Bool { seek.hasPictures }
    /// The list that the variant was left with last.
    var previousTracker: PlaylistTracker? { lanes[.main]?.playlist.left }
    package var audibleOption: AudioRendition? { renditions.audibleOption }
    var loadsAudioOfVariant: Bool { renditions.loadsAudioOfVariant }
    package var legibleLanguage: String? { renditions.legibleLanguage }
    var isSoundOnly: Bool { renditions.isSoundOnly }
    package var capabilities: TimeControlMachine.RateCapabilities { rates.capabilities }
    /// The chosen variant's URI as the multivariant playlist has it.
    var variantURI: String? {
        guard let index = variantIndex, candidates.indices.contains(index) else { return nil }
        return candidates[index].uri
    }
    package var start: Duration? { extent.start }
    var mediaEnd: Duration? { extent.mediaEnd }
    /// Where playing forward stops before the media does: at the end time of the program, or for a break.
    var forwardEnd: Duration? {
        guard let time = breakPoint.time else { return endTime.time }
        return endTime.time.map { min($0, time) } ?? time
    }
    package var error: HLSError? {
        _read { yield failure.error }
    }
    /// Loading cannot go on; the item fails when what was loaded is played.
    var pendingFailure: HLSError? {
        _read { yield failure.pending }
    }
    var failingLane: LaneID? { failure.lane }
    /// All that becoming ready takes is there.
    var mayBecomeReady: Bool {
        guard error == nil, !awaitsAssetKeys else { return false }
        let lanes = requiredLanes
        return !lanes.isEmpty && lanes.allSatisfy { $0.isDemuxed || $0.isComplete }
    }
    /// What the variant in use says of its frames.
    var declaredVideoRange: VideoRange? {
        guard let index = variantIndex, let variants = multivariant?.variants, variants.indices.contains(index) else {
            return nil
        }
        return variants[index].videoRange
    }
    var isLive: Bool { lanes[.main]?.tracker?.isLive ?? false }
    var requiredLanes: [MediaLane] { lanes.values.filter(\.isRequired) }
    /// Whether any media was handed on.
    var hasPresentable: Bool { contents.hasPresentable }
    /// The player is paused in a live stream, and asks for nothing.
    var isAtRest: Bool { stream.isAtRest }
    /// The item is live, also while the list of its variant is on its way.
    var isLiveStream: Bool { lanes[.main]?.tracker?.isLive ?? previousTracker?.isLive ?? false }
    /// A playlist of it is here.
    var hasOpened: Bool { multivariant != nil || !lanes.isEmpty }
    /// The live stream is taken to be over.
    var isClosed: Bool { live.isClosed }
    /// No further media will be loaded.
    var isComplete: Bool { !lanes.isEmpty && requiredLanes.allSatisfy(\.isComplete) }
    /// Where the longest of the lanes ends; nil while the variant is live.
    var listedEnd: Duration? {
        guard lanes[.main]?.tracker?.isLive == false else { return nil }
        return requiredLanes.compactMap(\.tracker).filter { !$0.isLive }.map(\.end).max()
    }
    /// The playlist that tells whether the item goes on: the variant's, then any that has not ended.
    var liveTracker: PlaylistTracker? {
        let trackers = LaneID.allCases.compactMap { lanes[$0] }.filter(\.isRequired).compactMap(\.tracker)
        return trackers.first(where: \.isLive)
    }
    /// Where the media ends without which nothing is played; nil where that is not known yet, or there is no such media.
    var failsAt: Duration? {
        guard pendingFailure != nil, let id = failingLane, let lane = lanes[id], lane.segments.isEmpty else {
            return nil
        }
        return lane.loadedEnd
    }
    /// Where what was loaded ends.
    var loadedEnd: Duration { requiredLanes.compactMap(\.loadedEnd).max() ?? start ?? .zero }
    /// All media was presented.
    var isDrained: Bool { isComplete && requiredLanes.allSatisfy { $0.drainedEnd != nil } }
}
