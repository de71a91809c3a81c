public import FoundationEssentials
public import HLSKitAsset
public import HLSKitEngine
public import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
public import HLSKitSelection
public import HLSKitTime
import Synchronization

/// One presentation of an asset: how to play it, and where its media goes.
///
/// Belongs to at most one player.
public final class PlayerItem: Sendable {
    /// Distinguishes items; never the same twice in a process.
    public let id = ID()
    private struct State {
        var preferences = PlayerItemPreferences()
        var forwardPlaybackEndTime: Duration?
        var reversePlaybackEndTime: Duration?
        var start: Duration?
        var skipRule: SkipRule?
        var handlesInterstitials = true
        /// A program's; nil leaves it to the playlist.
        var interstitialEvents: [InterstitialEvent]?
        weak var core: PlayerCore?
        /// It has been some player's, which it stays.
        var isTaken = false
        var choices: [MediaCharacteristic: MediaSelectionChoice] = [:]
        var sidecars: [SidecarCaptions] = []
        /// It is in the queue of its player now.
        var isQueued = false
        /// Its final state, once it was taken out of its player.
        var last: PlayerState?
        var error: HLSError?
        var details = Details()
        var disabledTracks: Set<MediaKind> = []
        /// Resources loaded by copies of the item, and by the asset it is made from.
        var cache: ResourceCache?
    }

    /// State of an item beyond ``PlayerState``.
    struct Details: Sendable {
        var tracks: [MediaTrack] = []
        /// Subtitles or captions are selected.
        var hasText = false
    }

    /// Facts about an item that a player needs before loading it.
    struct Wishes {
        var preferences: PlayerItemPreferences
        var forwardPlaybackEndTime: Duration?
        var reversePlaybackEndTime: Duration?
        var start: Duration?
        var choices: [MediaCharacteristic: MediaSelectionChoice]
        var disabledTracks: Set<MediaKind>
        var sidecars: [SidecarCaptions]
    }

    /// The absolute URL of the multivariant or media playlist, or of a media file without a playlist, exactly as it was
    /// given.
    public let urlString: String
    /// The same as a `URL`, with what a URL cannot hold percent-encoded; nil where the text is not a URL even so. Requests are
    /// made by ``urlString``.
    public var url: URL? { URL(string: urlString) }
    /// The asset the item was made from; nil if it was made from a URL.
    public let asset: Asset?
    /// The properties of the asset that are loaded, or have failed, before the item becomes ready to play. The item fails
    /// with one that fails.
    public let automaticallyLoadedAssetKeys: [PartialAssetProperty]
    let outputs: OutputRegistry
    /// The URL of the item in whose place it is played; nil for all that programs make.
    let owner: String?
    var isInterstitial: Bool { owner != nil }
    let diary = ItemDiary()
    let eventBroadcast = Broadcast<PlayerEvent>()
    /// An element for each moment at which something that the item shows may differ.
    let changes = Broadcast<Void>(.bufferingNewest(1))
    private let state = Mutex(State())

    /// No I/O takes place before the item becomes a player's current one, or soon will.
    public convenience init(url: URL) { self.init(urlString: url.absoluteString) }

    /// No I/O takes place before the item becomes a player's current one, or soon will. Playlists name URLs that `URL` would
    /// change or refuse: this takes them as they are.
    ///
    /// - Parameter urlString: an absolute http, https or file URL. A plain path is not a URL: the item fails.
    public init(urlString: String) {
        self.urlString = urlString
        asset = nil
        automaticallyLoadedAssetKeys = []
        outputs = OutputRegistry()
        owner = nil
    }

    /// What is played in the place of another item.
    init(interstitial urlString: String, owner: String, outputs: OutputRegistry) {
        self.urlString = urlString
        asset = nil
        automaticallyLoadedAssetKeys = []
        self.outputs = outputs
        self.owner = owner
    }

    /// The item of an asset. Playlists that the asset has loaded, or loads, are not loaded again, and its options for
    /// requests hold for the item.
    ///
    /// - Parameters:
    ///   - asset: may be inspected and played at the same time.
    ///   - automaticallyLoadedAssetKeys: properties of the asset to load before the item is ready to play. Default: the
    ///     duration, which costs nothing, because the player needs it itself. Others cost what they cost.
    public init(asset: Asset, automaticallyLoadedAssetKeys: [PartialAssetProperty] = [.duration]) {
        urlString = asset.urlString
        self.asset = asset
        self.automaticallyLoadedAssetKeys = automaticallyLoadedAssetKeys
        outputs = OutputRegistry()
        owner = nil
        state.withLock { $0.cache = asset.cache }
    }

    deinit { closeObservers() }

    /// Ends the sequences of all who follow the item.
    func closeObservers() {
        eventBroadcast.close()
        changes.close()
    }

    /// All settings together (`PlayerItem+Settings`).
    package var preferences: PlayerItemPreferences {
        get { state.withLock(\.preferences) }
        set { changePreferences { $0 = newValue } }
    }

    /// Item time at which playing ends, before the end of the media. nil (the default), like every time that is not a
    /// number, plays all.
    public var forwardPlaybackEndTime: MediaTime? {
        get { state.withLock(\.forwardPlaybackEndTime).map { MediaTime($0) } }
        set {
            // Beyond this there is no media, and sums of times are no times any more.
            let end = newValue?.duration.map { min(max($0, .zero), .seconds(1_000_000_000)) }
            let core = state.withLock { state in
                state.forwardPlaybackEndTime = end
                return state.core
            }
            core?.control(.setForwardPlaybackEndTime(state.withLock(\.forwardPlaybackEndTime)), of: self)
        }
    }

    /// Item time at which playing in reverse ends, after the start of the media. nil (the default), like every time that is
    /// not a number, is the start. Says nothing of playing forward, as ``forwardPlaybackEndTime`` says nothing of this.
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

    /// Item time at which playing starts; nil (the default) leaves it to ``startPosition``. Read when the item is loaded.
    var startTime: Duration? {
        get { state.withLock(\.start) }
        set { state.withLock { $0.start = newValue } }
    }

    /// Whether the interstitials that the item's playlist schedules are played in it. Default true. Read when the item is loaded.
    /// Off, only the events of an ``InterstitialEventController`` are.
    ///
    /// See docs/behaviour/interstitials.md.
    public var automaticallyHandlesInterstitialEvents: Bool {
        get { state.withLock(\.handlesInterstitials) }
        set { state.withLock { $0.handlesInterstitials = newValue } }
    }

    /// What of the item is left out: neither loaded nor played, but for I-frames. Playing continues behind it, in live streams when
    /// they have come so far, and writers get what they get without a hole. ``PlayerEvent/Kind/contentSkipped(_:)`` tells each time.
    /// nil (the default), as a rule that means nothing, leaves out nothing. Read when the item is loaded.
    public var skipRule: SkipRule? {
        get { state.withLock(\.skipRule) }
        set { state.withLock { $0.skipRule = newValue?.isEmpty == false ? newValue : nil } }
    }

    /// What a program schedules in the item; nil leaves it to the playlist.
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

    /// Why the item failed; nil while it has not.
    public var error: HLSError? {
        let (core, last) = state.withLock { ($0.isQueued ? $0.core : nil, $0.error) }
        return core?.read(of: self) { $0.item?.error } ?? last
    }

    /// The player that the item belongs to.
    var attachedCore: PlayerCore? { state.withLock(\.core) }

    // MARK: Copies

    /// An item of the same stream with the same settings, for another player or another turn in a queue.
    ///
    /// Outputs are not copied. Resources that the item and its copies load from now on are kept in memory, up to 64 MiB, and
    /// used by all of them.
    public func copy() -> PlayerItem {
        let cache = state.withLock { state in
            let cache = state.cache ?? ResourceCache(keepsMedia: true)
            cache.keepMedia()
            state.cache = cache
            return cache
        }
        let (wishes, handlesInterstitials, events) = (
            wishes, automaticallyHandlesInterstitialEvents, interstitialEvents
        )
        let skipRule = skipRule
        let copy =
            asset.map { PlayerItem(asset: $0, automaticallyLoadedAssetKeys: automaticallyLoadedAssetKeys) }
            ?? PlayerItem(urlString: urlString)
        copy.state.withLock { state in
            state.preferences = wishes.preferences
            state.choices = wishes.choices
            state.sidecars = wishes.sidecars
            state.forwardPlaybackEndTime = wishes.forwardPlaybackEndTime
            state.reversePlaybackEndTime = wishes.reversePlaybackEndTime
            state.start = wishes.start
            state.handlesInterstitials = handlesInterstitials
            state.skipRule = skipRule
            state.interstitialEvents = events
            state.disabledTracks = wishes.disabledTracks
            state.cache = cache
        }
        return copy
    }

    var cache: ResourceCache? { state.withLock(\.cache) }

    // MARK: State

    /// The current or last state of the item.
    var snapshot: PlayerState {
        let (core, last) = state.withLock { ($0.isQueued ? $0.core : nil, $0.last) }
        guard var now = core?.snapshot(of: self) ?? state.withLock(\.last) else { return PlayerState() }
        // An item that was ready stays so when it is loaded once more.
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

    var wishes: Wishes {
        state.withLock { state in
            Wishes(
                preferences: state.preferences, forwardPlaybackEndTime: state.forwardPlaybackEndTime,
                reversePlaybackEndTime: state.reversePlaybackEndTime,
                start: state.start, choices: state.choices, disabledTracks: state.disabledTracks,
                sidecars: state.sidecars)
        }
    }

    /// Whether it can become an item of a player: it is no one's, or was this player's and has not failed.
    func canAttach(to core: PlayerCore) -> Bool {
        state.withLock { Self.canAttach($0, to: core) }
    }

    private static func canAttach(_ state: State, to core: PlayerCore) -> Bool {
        !state.isTaken || (state.core === core && !state.isQueued && state.error == nil)
    }

    /// Ties the item to a player. False if it belongs to one.
    func attach(to core: PlayerCore) -> Bool {
        state.withLock { state in
            guard Self.canAttach(state, to: core) else { return false }
            state.isTaken = true
            state.isQueued = true
            state.core = core
            return true
        }
    }

    /// Keeps a choice among the options of a group, for a player to come too.
    func choose(_ choice: MediaSelectionChoice, of characteristic: MediaCharacteristic) {
        let core = state.withLock { state in
            state.choices[characteristic] = choice
            return state.core
        }
        core?.control(.select(characteristic, state.withLock { $0.choices[characteristic] ?? choice }), of: self)
    }

    /// Kinds of media that are neither decoded nor, where that can be left out, loaded.
    var disabledTracks: Set<MediaKind> { state.withLock(\.disabledTracks) }

    /// Keeps what is switched off, for a player to come too.
    func setTrack(_ type: MediaKind, isEnabled: Bool) {
        let core = state.withLock { state in
            if isEnabled { state.disabledTracks.remove(type) } else { state.disabledTracks.insert(type) }
            return state.core
        }
        core?.control(.setTrackEnabled(type, !disabledTracks.contains(type)), of: self)
    }

    /// Keeps captions of the program, for a player to come too.
    func setSidecars(_ sidecars: [SidecarCaptions]) {
        let core = state.withLock { state in
            state.sidecars = sidecars
            return state.core
        }
        core?.control(.setSidecarCaptions(state.withLock(\.sidecars)), of: self)
    }

    /// The item is not in its player's queue any more: what it shows stays as it was last; nil if it was not loaded.
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
    /// Tells an item from every other one of the process, also from those that are gone.
    public typealias ID = PlayerItemID

    /// Whether both are the same item.
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
