import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

/// The playback of an item: its engine, pending effects, and the inbox of its driver.
///
/// An upcoming item also has one once it is loaded. The lock of ``PlayerCore`` protects it.
struct ItemPlayback: Sendable {
    let id: Int
    /// The item, or `nil` for a player without one. In this case, there is no driver, and no effect is carried out.
    let item: PlayerItem?
    let handlesInterstitials: Bool
    let skipRule: SkipRule?
    var engine: PlaybackEngine
    var effects: [EngineEffect] = []
    /// The ticket numbers of the events in ``effects``, in order. They count all events of the player.
    var tickets: [Int] = []
    let inbox = DriverInbox()
    let counters = RendererCounters()
    var seeks = SeekQueue()
    var prerolls: [OneShot<Bool>] = []
    var driver: Task<Void, Never>?
    var assetKeys: Task<Void, Never>?
    var hasNotedDuration = false
    var hasEnded = false
    /// Whether the item has left the queue. Only its driver has not ended yet.
    var isRetired = false

    init(id: Int, item: PlayerItem?, engine: PlaybackEngine, at now: Duration) {
        self.id = id
        self.item = item
        skipRule = item?.skipRule
        handlesInterstitials = item.map { $0.automaticallyHandlesInterstitialEvents && !$0.isInterstitial } ?? false
        self.engine = engine
        self.engine.isInQueue = true
        guard let item else { return }
        let loadSettings = item.loadSettings
        effects += self.engine.handle(.control(.setPreferences(loadSettings.preferences)), at: now)
        effects += self.engine.handle(.control(.setItem(EngineItem(item))), at: now)
        for type in MediaKind.allCases where loadSettings.disabledTracks.contains(type) {
            effects += self.engine.handle(.control(.setTrackEnabled(type, false)), at: now)
        }
        if !loadSettings.sidecars.isEmpty {
            effects += self.engine.handle(.control(.setSidecarCaptions(loadSettings.sidecars)), at: now)
        }
        for (characteristic, choice) in loadSettings.choices {
            effects += self.engine.handle(.control(.select(characteristic, choice)), at: now)
        }
        if let end = loadSettings.forwardPlaybackEndTime {
            effects += self.engine.handle(.control(.setForwardPlaybackEndTime(end)), at: now)
        }
        if let end = loadSettings.reversePlaybackEndTime {
            effects += self.engine.handle(.control(.setReversePlaybackEndTime(end)), at: now)
        }
        if let start = loadSettings.start {
            seeks.add(nil)
            effects += self.engine.handle(.control(.seek(to: start)), at: now)
        }
    }

    func snapshot(at now: Duration) -> PlayerState {
        var state = engine.state(at: now)
        state.currentItemID = item?.id
        counters.fill(&state.statistics)
        return state
    }
}

struct UpcomingItem: Sendable {
    let item: PlayerItem
    var playback: Int?
}

extension ItemPlayback {
    /// Ends the session of an item, and returns its last log entries and metrics, because no driver will handle them.
    mutating func closeJournal(at now: Duration) -> [EngineEffect] {
        var statistics = PlaybackStatistics()
        counters.fill(&statistics)
        engine.sessions.noteDroppedFrames(statistics.numberOfDroppedVideoFrames, inPeriodBefore: false)
        return engine.endSession(at: now)
    }
}
