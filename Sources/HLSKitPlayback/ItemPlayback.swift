import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

/// One item of a player with all that plays it: its engine, what that decided and is not carried out yet, and where the
/// driver gets its news.
///
/// The item after the current one has one as well as soon as it is loaded. Guarded by the lock of ``PlayerCore``.
struct ItemPlayback: Sendable {
    let id: Int
    /// nil for a player without an item: nothing is carried out then, and there is no driver.
    let item: PlayerItem?
    /// What its playlist schedules is played in it.
    let handlesInterstitials: Bool
    /// What of it is left out; nil for nothing.
    let skipRule: SkipRule?
    var engine: PlaybackEngine
    var effects: [EngineEffect] = []
    /// Of the events among ``effects``, in their order: their places among all of the player.
    var tickets: [Int] = []
    let inbox = DriverInbox()
    let counters = RendererCounters()
    /// Callers that wait for the end of a seek.
    var seeks = SeekQueue()
    /// Callers that wait for decoded media.
    var prerolls: [OneShot<Bool>] = []
    var driver: Task<Void, Never>?
    /// Loads what the item wants to know of its asset.
    var assetKeys: Task<Void, Never>?
    /// The item's asset knows its duration.
    var hasNotedDuration = false
    /// The driver is through.
    var hasEnded = false
    /// It is not in the queue any more; only its driver has still to end.
    var isRetired = false

    /// - Parameter item: what to load at once, with the item's preferences.
    init(id: Int, item: PlayerItem?, engine: PlaybackEngine, at now: Duration) {
        self.id = id
        self.item = item
        skipRule = item?.skipRule
        handlesInterstitials = item.map { $0.automaticallyHandlesInterstitialEvents && !$0.isInterstitial } ?? false
        self.engine = engine
        self.engine.isInQueue = true
        guard let item else { return }
        let wishes = item.wishes
        effects += self.engine.handle(.control(.setPreferences(wishes.preferences)), at: now)
        effects += self.engine.handle(.control(.setItem(EngineItem(item))), at: now)
        for type in MediaKind.allCases where wishes.disabledTracks.contains(type) {
            effects += self.engine.handle(.control(.setTrackEnabled(type, false)), at: now)
        }
        if !wishes.sidecars.isEmpty {
            effects += self.engine.handle(.control(.setSidecarCaptions(wishes.sidecars)), at: now)
        }
        for (characteristic, choice) in wishes.choices {
            effects += self.engine.handle(.control(.select(characteristic, choice)), at: now)
        }
        if let end = wishes.forwardPlaybackEndTime {
            effects += self.engine.handle(.control(.setForwardPlaybackEndTime(end)), at: now)
        }
        if let end = wishes.reversePlaybackEndTime {
            effects += self.engine.handle(.control(.setReversePlaybackEndTime(end)), at: now)
        }
        if let start = wishes.start {
            seeks.add(nil)
            effects += self.engine.handle(.control(.seek(to: start)), at: now)
        }
    }

    /// The state of the item and of the player.
    func snapshot(at now: Duration) -> PlayerState {
        var state = engine.state(at: now)
        state.currentItemID = item?.id
        counters.fill(&state.statistics)
        return state
    }
}

/// An item that waits for its turn.
struct UpcomingItem: Sendable {
    let item: PlayerItem
    /// Its playback, once it is being made ready.
    var playback: Int?
}

extension ItemPlayback {
    /// The item is over: what its logs and metrics still have to say, since no driver comes to it any more.
    mutating func closeJournal(at now: Duration) -> [EngineEffect] {
        var statistics = PlaybackStatistics()
        counters.fill(&statistics)
        engine.sessions.noteDroppedFrames(statistics.numberOfDroppedVideoFrames, inPeriodBefore: false)
        return engine.endSession(at: now)
    }
}
