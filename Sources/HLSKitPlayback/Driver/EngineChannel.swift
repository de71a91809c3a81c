import HLSKitCaptions
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import Synchronization

struct EngineTurn: Sendable {
    /// The effects to carry out in order, including effects of earlier decisions.
    var effects: [EngineEffect]
    var view: EngineView
}

/// The owner of the engines of a player's items, which one lock protects, as seen by the drivers.
protocol EngineHost: AnyObject, Sendable {
    var clock: HostClock { get }
    var audio: AudioControl { get }
    var timeObservers: TimeObservers { get }
    var interstitialTimeObservers: TimeObservers { get }

    func exchange(_ events: [EngineEvent], playback id: Int) -> EngineTurn?
    func read<Result: Sendable>(playback id: Int, _ body: (borrowing PlaybackEngine) -> Result?) -> Result?
    func publishNext(playback id: Int)
    func publish(_ kind: PlayerEvent.Kind, playback id: Int)
    func driverHasEnded(playback id: Int)
}

struct EngineChannel: Sendable {
    private let host: any EngineHost
    private let playback: Int

    init(host: any EngineHost, playback: Int) {
        self.host = host
        self.playback = playback
    }

    var now: Duration { host.clock.now }
    var clock: HostClock { host.clock }
    var audio: AudioControl { host.audio }

    /// Passes events to the engine. An empty array only fetches decisions that were made elsewhere.
    ///
    /// Returns `nil` if the player has released the item.
    func exchange(_ events: [EngineEvent]) -> EngineTurn? { host.exchange(events, playback: playback) }

    func read<Result: Sendable>(_ body: (borrowing PlaybackEngine) -> Result?) -> Result? {
        host.read(playback: playback, body)
    }

    /// Records the measured throughput for later players. `url` is the last loaded URL.
    func note(_ url: String, in history: BandwidthHistory) {
        guard let host = URLOrigin(of: url)?.authority else { return }
        let now = now
        let measured = read { engine in
            engine.loading.estimator.bitsPerSecond(at: now).map { ($0, engine.configuration.epoch + now) }
        }
        if let (bitsPerSecond, date) = measured { history.note(bitsPerSecond, host: host, at: date) }
    }

    /// The host time of the next call to the time observers. For the current item's driver.
    var nextObserverTime: Duration? {
        [host.timeObservers.due, host.interstitialTimeObservers.due].compactMap(\.self).min()
    }
    func publishTime() {
        host.timeObservers.report(at: host.clock.now, isLast: false)
        host.interstitialTimeObservers.report(at: host.clock.now, isLast: false)
    }

    func publishNext() { host.publishNext(playback: playback) }

    func publish(_ kind: PlayerEvent.Kind) { host.publish(kind, playback: playback) }

    func driverHasEnded() { host.driverHasEnded(playback: playback) }
}

/// The driver's side of its engine: passes events to it, and keeps its effects until they are carried out.
struct EngineLink {
    private let channel: EngineChannel
    private let inbox: DriverInbox
    private(set) var view = EngineView()
    private var effects: [EngineEffect] = []

    init(_ channel: EngineChannel, inbox: DriverInbox) {
        self.channel = channel
        self.inbox = inbox
    }

    mutating func handle(_ event: EngineEvent) { handle([event]) }

    /// Passes events to the engine. Takes the player's lock once.
    mutating func handle(_ events: [EngineEvent]) {
        guard !events.isEmpty else { return }
        exchange(events)
    }

    private mutating func exchange(_ events: [EngineEvent]) {
        // The exchange returns all pending news.
        _ = inbox.takeNews()
        guard let turn = channel.exchange(events) else { return }
        view = turn.view
        if effects.isEmpty { effects = turn.effects } else { effects += turn.effects }
    }

    mutating func takeEffects() -> [EngineEffect] {
        if effects.isEmpty, inbox.takeNews() { exchange([]) }
        defer { effects = [] }
        return effects
    }

    mutating func takeLastEffects() -> [EngineEffect] {
        exchange([])
        defer { effects = [] }
        return effects
    }
}

/// The engine state that an item's driver needs, as of the last event.
///
/// It is read as a whole, so that the driver does not take the player's lock for each value.
struct EngineView: Sendable {
    var isCurrent = false
    var url: String?
    var start: Duration?
    var forwardEnd: Duration?
    var keepsPresented = false
    var closedCaptionService: ClosedCaptionService?
    var sidecar: SidecarCaptions?
    var audibleLanguage: String?
    /// The name and flags of the audio rendition.
    var audibleLabel = MediaTrackLabel()
    var audioTrackRule: AudioTrackRule?
    var legibleLanguage: String?
    /// The lanes that must have media before presentation starts.
    var requiredLanes: [LaneID] = []
    var hasAudioLane = false
    var hasReplacedAudio = false
    var hasSeveralVariants = false
    var disabledTracks: Set<MediaKind> = []
    /// Whether no media of the variant itself is loaded.
    var isVariantIdle = false

    init() {}

    init(_ engine: borrowing PlaybackEngine, isCurrent: Bool) {
        self.isCurrent = isCurrent
        keepsPresented = engine.keepsPresented
        closedCaptionService = engine.closedCaptionService
        sidecar = engine.mediaSelection.selectedSidecar
        audioTrackRule = engine.mediaSelection.audioTrackRule
        url = engine.item?.url
        start = engine.item?.start
        forwardEnd = engine.item?.endTime.time
        audibleLanguage = engine.item?.audibleOption?.language
        if let option = engine.mediaSelection.current[.audible] { audibleLabel = MediaTrackLabel(option) }
        legibleLanguage = engine.item?.legibleLanguage
        if let tracks = engine.item?.tracks { disabledTracks = tracks.disabled }
        isVariantIdle = engine.item?.lanes[.main]?.presence == .idle
        hasSeveralVariants = (engine.item?.candidates.count ?? 0) > 1
        // Do not use the dictionary's keys, because that would copy the lanes.
        for lane in LaneID.allCases where engine.item?.lanes[lane]?.isRequired == true { requiredLanes.append(lane) }
        hasAudioLane = engine.item?.lanes[.audio] != nil
        hasReplacedAudio = engine.item?.lanes[.audio]?.hasReplaced == true
    }
}

// MARK: - Volume

final class AudioControl: Sendable {
    private struct State {
        var volume: Float = 1
        var isMuted = false
    }

    private let state = Mutex(State())

    var volume: Float {
        get { state.withLock(\.volume) }
        set { state.withLock { $0.volume = newValue.isNaN ? $0.volume : min(1, max(0, newValue)) } }
    }

    var isMuted: Bool {
        get { state.withLock(\.isMuted) }
        set { state.withLock { $0.isMuted = newValue } }
    }

    var gain: Float { state.withLock { $0.isMuted ? 0 : $0.volume } }
}

extension MediaTrackLabel {
    fileprivate init(_ option: MediaSelectionOption) {
        self.init()
        name = option.displayName
        isDefault = option.isDefault
        isForced = option.isForced
        describesAudio = option.hasMediaCharacteristic(.describesMusicAndSoundForAccessibility)
        describesVideo = option.hasMediaCharacteristic(.describesVideoForAccessibility)
    }
}
