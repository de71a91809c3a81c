public import FoundationEssentials
public import HLSKitAsset
public import HLSKitEngine
public import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
public import HLSKitSelection
public import HLSKitTime
import Synchronization

/// A presentation of an asset: its playback settings and its outputs.
///
/// An item belongs to at most one player.
public final class PlayerItem: Sendable {
    /// The identifier of the item, unique within the process.
    public let id = ID()
    private struct State {
        var preferences = PlayerItemPreferences()
        var forwardPlaybackEndTime: Duration?
        var reversePlaybackEndTime: Duration?
        var start: Duration?
        var skipRule: SkipRule?
        var handlesInterstitials = true
        /// Events that the app schedules, or `nil` to use the playlist's events.
        var interstitialEvents: [InterstitialEvent]?
        weak var core: PlayerCore?
        /// Whether the item has ever belonged to a player. Such an item cannot move to another player.
        var isTaken = false
        var choices: [MediaCharacteristic: MediaSelectionChoice] = [:]
        var sidecars: [SidecarCaptions] = []
        var isQueued = false
        var last: PlayerState?
        var error: HLSError?
        var details = Details()
        var disabledTracks: Set<MediaKind> = []
        /// Resources that copies of the item and its asset have loaded.
        var cache: ResourceCache?
    }

    struct Details: Sendable {
        var tracks: [MediaTrack] = []
        var hasText = false
    }

    /// Facts about an item that a player needs before loading it.
    struct LoadSettings {
        var preferences: PlayerItemPreferences
        var forwardPlaybackEndTime: Duration?
        var reversePlaybackEndTime: Duration?
        var start: Duration?
        var choices: [MediaCharacteristic: MediaSelectionChoice]
        var disabledTracks: Set<MediaKind>
        var sidecars: [SidecarCaptions]
    }

    /// The absolute URL of the playlist, or of a media file without a playlist, exactly as given.
    ///
    /// The playlist is a multivariant or media playlist.
    public let urlString: String
    /// The URL as a `URL`, or `nil` if the text is not a valid URL.
    ///
    /// Characters that a URL cannot contain are percent-encoded. Requests use ``urlString``.
    public var url: URL? { URL(string: urlString) }
    /// The asset that the item was created from, or `nil` if it was created from a URL.
    public let asset: Asset?
    /// The asset properties that finish loading before the item becomes ready to play.
    ///
    /// If one of them fails to load, the item fails.
    public let automaticallyLoadedAssetKeys: [PartialAssetProperty]
    let outputs: OutputRegistry
    /// The URL of the item that this interstitial replaces, or `nil` for items that the app creates.
    let owner: String?
    var isInterstitial: Bool { owner != nil }
    let diary = ItemLog()
    let eventBroadcast = Broadcast<PlayerEvent>()
    let changes = Broadcast<Void>(.bufferingNewest(1))
    private let state = Mutex(State())

    /// Creates an item for a URL.
    ///
    /// The item does no I/O until it becomes a player's current item, or is about to.
    public convenience init(url: URL) { self.init(urlString: url.absoluteString) }

    /// Creates an item for a URL string, which is used exactly as given.
    ///
    /// Playlists can contain URLs that `URL` would change or reject. The item does no I/O until it becomes a player's
    /// current item, or is about to.
    ///
    /// - Parameter urlString: An absolute http, https or file URL. If it is a plain path, the item fails.
    public init(urlString: String) {
        self.urlString = urlString
        asset = nil
        automaticallyLoadedAssetKeys = []
        outputs = OutputRegistry()
        owner = nil
    }

    init(interstitial urlString: String, owner: String, outputs: OutputRegistry) {
        self.urlString = urlString
        asset = nil
        automaticallyLoadedAssetKeys = []
        self.outputs = outputs
        self.owner = owner
    }

    /// Creates an item for an asset.
    ///
    /// The item reuses playlists that the asset has loaded or is loading. The request options of the asset apply to the
    /// item.
    ///
    /// - Parameters:
    ///   - asset: The asset. You can inspect and play it at the same time.
    ///   - automaticallyLoadedAssetKeys: The properties of the asset to load before the item becomes ready to play. The
    ///     default is the duration, which costs nothing because the player always needs it. Other properties may need
    ///     more requests.
    public init(asset: Asset, automaticallyLoadedAssetKeys: [PartialAssetProperty] = [.duration]) {
        urlString = asset.urlString
        self.asset = asset
        self.automaticallyLoadedAssetKeys = automaticallyLoadedAssetKeys
        outputs = OutputRegistry()
        owner = nil
        state.withLock { $0.cache = asset.cache }
    }

    deinit { closeObservers() }

    func closeObservers() {
        eventBroadcast.close()
        changes.close()
    }

    package var preferences: PlayerItemPreferences {
        get { state.withLock(\.preferences) }
        set { changePreferences { $0 = newValue } }
    }

    /// The item time at which forward playback ends, before the end of the media.
    ///
    /// If the value is `nil` (the default) or not a number, playback continues to the end.
    public var forwardPlaybackEndTime: MediaTime? {
        get { state.withLock(\.forwardPlaybackEndTime).map { MediaTime($0) } }
        set {
            // No media is longer than this, and sums of greater times can overflow.
            let end = newValue?.duration.map { min(max($0, .zero), .seconds(1_000_000_000)) }
            let core = state.withLock { state in
                state.forwardPlaybackEndTime = end
                return state.core
            }
            core?.control(.setForwardPlaybackEndTime(state.withLock(\.forwardPlaybackEndTime)), of: self)
        }
    }

    /// The item time at which reverse playback ends, after the start of the media.
    ///
    /// If the value is `nil` (the default) or not a number, reverse playback ends at the start. This property does not
    /// affect forward playback, and ``forwardPlaybackEndTime`` does not affect reverse playback.
    public var reversePlaybackEndTime: MediaTime? {
        get { state.withLock(\.reversePlaybackEndTime).map { MediaTime($0) } }
        set {
            let end = newValue?.duration
            let core = state.withLock { state in
                state.reversePlaybackEndTime = end
                return state.core
            }
            core?.control(.setReversePlaybackEndTime(state.withLock(\.reversePlaybackEndTime)), of: self)
        }
    }

    /// The item time at which playback starts, or `nil` (the default) to use ``startPosition``. Read when the item is
    /// loaded.
    var startTime: Duration? {
        get { state.withLock(\.start) }
        set { state.withLock { $0.start = newValue } }
    }

    /// A Boolean value that indicates whether the item plays the interstitials in its playlist.
    ///
    /// If `false`, the item plays only the events of an ``InterstitialEventController``. The property is read when the
    /// item is loaded. The default is `true`. See <doc:Interstitials>.
    public var automaticallyHandlesInterstitialEvents: Bool {
        get { state.withLock(\.handlesInterstitials) }
        set { state.withLock { $0.handlesInterstitials = newValue } }
    }

    /// A rule that selects parts of the item to skip.
    ///
    /// Skipped parts are neither loaded nor played, except for I-frames. Playback continues after each of them. In a
    /// live stream, it first waits until the stream has passed the skipped part. Writers receive media without a gap.
    /// The player reports each skipped part with ``PlayerEvent/Kind/contentSkipped(_:)``. The property is read when the
    /// item is loaded. If the rule is `nil` (the default) or empty, the item skips nothing.
    public var skipRule: SkipRule? {
        get { state.withLock(\.skipRule) }
        set { state.withLock { $0.skipRule = newValue?.isEmpty == false ? newValue : nil } }
    }

    var interstitialEvents: [InterstitialEvent]? {
        get { state.withLock(\.interstitialEvents) }
        set {
            let core = state.withLock { state in
                state.interstitialEvents = newValue
                return state.core
            }
            core?.takeInterstitialEvents(of: self)
        }
    }

    /// The reason why the item failed, or `nil` if it has not failed.
    ///
    /// See <doc:FailuresAndRetry>.
    public var error: HLSError? {
        let (core, last) = state.withLock { ($0.isQueued ? $0.core : nil, $0.error) }
        return core?.read(of: self) { $0.item?.error } ?? last
    }

    var attachedCore: PlayerCore? { state.withLock(\.core) }

    // MARK: Copies

    /// Returns a new item with the same stream and settings, for another player or another turn in a queue.
    ///
    /// The new item has no outputs. The item and its copies keep the resources they load from now on in memory, up to
    /// 64 MiB, and share them.
    public func copy() -> PlayerItem {
        let cache = state.withLock { state in
            let cache = state.cache ?? ResourceCache(keepsMedia: true)
            cache.keepMedia()
            state.cache = cache
            return cache
        }
        let (loadSettings, handlesInterstitials, events) = (
            loadSettings, automaticallyHandlesInterstitialEvents, interstitialEvents
        )
        let skipRule = skipRule
        let copy =
            asset.map { PlayerItem(asset: $0, automaticallyLoadedAssetKeys: automaticallyLoadedAssetKeys) }
            ?? PlayerItem(urlString: urlString)
        copy.state.withLock { state in
            state.preferences = loadSettings.preferences
            state.choices = loadSettings.choices
            state.sidecars = loadSettings.sidecars
            state.forwardPlaybackEndTime = loadSettings.forwardPlaybackEndTime
            state.reversePlaybackEndTime = loadSettings.reversePlaybackEndTime
            state.start = loadSettings.start
            state.handlesInterstitials = handlesInterstitials
            state.skipRule = skipRule
            state.interstitialEvents = events
            state.disabledTracks = loadSettings.disabledTracks
            state.cache = cache
        }
        return copy
    }

    var cache: ResourceCache? { state.withLock(\.cache) }

    // MARK: State

    var snapshot: PlayerState {
        let (core, last) = state.withLock { ($0.isQueued ? $0.core : nil, $0.last) }
        guard var now = core?.snapshot(of: self) ?? state.withLock(\.last) else { return PlayerState() }
        // An item that was ready remains ready when it is loaded again.
        if now.itemStatus == .unknown, last?.itemStatus == .readyToPlay { now.itemStatus = .readyToPlay }
        return now
    }

    var details: Details {
        let core = state.withLock { $0.isQueued ? $0.core : nil }
        return core?.read(of: self) { Details(of: $0) } ?? state.withLock(\.details)
    }

    func changePreferences(_ change: (inout PlayerItemPreferences) -> Void) {
        let core = state.withLock { state in
            change(&state.preferences)
            return state.core
        }
        core?.control(.setPreferences(preferences), of: self)
    }

    // MARK: For its player

    var loadSettings: LoadSettings {
        state.withLock { state in
            LoadSettings(
                preferences: state.preferences, forwardPlaybackEndTime: state.forwardPlaybackEndTime,
                reversePlaybackEndTime: state.reversePlaybackEndTime,
                start: state.start, choices: state.choices, disabledTracks: state.disabledTracks,
                sidecars: state.sidecars)
        }
    }

    /// Whether the item can join this player: it has no player yet, or left this one without a failure.
    func canAttach(to core: PlayerCore) -> Bool {
        state.withLock { Self.canAttach($0, to: core) }
    }

    private static func canAttach(_ state: State, to core: PlayerCore) -> Bool {
        !state.isTaken || (state.core === core && !state.isQueued && state.error == nil)
    }

    /// Attaches the item to a player. Returns `false` if it already belongs to one.
    func attach(to core: PlayerCore) -> Bool {
        state.withLock { state in
            guard Self.canAttach(state, to: core) else { return false }
            state.isTaken = true
            state.isQueued = true
            state.core = core
            return true
        }
    }

    /// Stores a media selection choice, which also applies to a player that the item joins later.
    func choose(_ choice: MediaSelectionChoice, of characteristic: MediaCharacteristic) {
        let core = state.withLock { state in
            state.choices[characteristic] = choice
            return state.core
        }
        core?.control(.select(characteristic, state.withLock { $0.choices[characteristic] ?? choice }), of: self)
    }

    /// Kinds of media that are not decoded and, if they can be loaded separately, not loaded.
    var disabledTracks: Set<MediaKind> { state.withLock(\.disabledTracks) }

    /// Stores whether a track is enabled, which also applies to a player that the item joins later.
    func setTrack(_ type: MediaKind, isEnabled: Bool) {
        let core = state.withLock { state in
            if isEnabled { state.disabledTracks.remove(type) } else { state.disabledTracks.insert(type) }
            return state.core
        }
        core?.control(.setTrackEnabled(type, !disabledTracks.contains(type)), of: self)
    }

    /// Stores captions that the app supplies, which also apply to a player that the item joins later.
    func setSidecars(_ sidecars: [SidecarCaptions]) {
        let core = state.withLock { state in
            state.sidecars = sidecars
            return state.core
        }
        core?.control(.setSidecarCaptions(state.withLock(\.sidecars)), of: self)
    }

    /// Called when the item leaves its player's queue. Keeps its last state, or `nil` if it was not loaded.
    func freeze(_ last: PlayerState?, error: HLSError?, details: Details = Details()) {
        state.withLock { state in
            state.isQueued = false
            if var last {
                // As in ``snapshot``.
                if last.itemStatus == .unknown, state.last?.itemStatus == .readyToPlay {
                    last.itemStatus = .readyToPlay
                }
                state.last = last
                state.details = details
            }
            state.error = error
        }
    }
}

extension PlayerItem: Identifiable, Hashable {
    /// The identifier of an item.
    ///
    /// It is never reused within a process.
    public typealias ID = PlayerItemID

    /// Returns whether both values are the same item.
    public static func == (one: PlayerItem, other: PlayerItem) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension PlayerItem.Details {
    init(of engine: borrowing PlaybackEngine) {
        let known = engine.item?.contents.tracks ?? [:]
        tracks = LaneID.allCases.flatMap { known[$0] ?? [] }
        hasText = engine.mediaSelection.current[.legible] != nil
    }
}
