import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime

extension PlaybackEngine {
    package var journal: SessionLogger? { sessions.journal }

    /// Records an event. Called once for each event, when its effects are known.
    mutating func keepJournal(of event: EngineEvent?) {
        if sessions.isOther(than: item?.session) { changeJournal() }
        guard sessions.journal != nil else { return }
        if clientData != nil { keepClientDataIfNews(event) }
        if effects.isEmpty, case .progress(let id, let byteCount)? = event {
            return sessions.received(byteCount, of: id)
        }
        let reported = sessions.look(at: event, effects, hasStart: item?.start != nil, journalView)
        effects += reported
    }

    /// Apart from the first bytes of a body, arriving bytes are not recorded.
    private mutating func keepClientDataIfNews(_ event: EngineEvent?) {
        if case .progress(let id, _)? = event {
            clientData?.receive(id, at: now)
            if effects.isEmpty { return }
        }
        keepClientData(of: event)
    }

    private mutating func changeJournal() {
        closeJournal()
        sessions.open(item?.session, epoch: configuration.epoch, isCurrent: !isInQueue, at: now)
    }

    private mutating func closeJournal() {
        guard sessions.journal != nil else { return }
        closeClientData()
        let reported = sessions.close(journalView)
        effects += reported
    }

    package mutating func endSession(at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        let before = effects
        effects = []
        closeJournal()
        defer { effects = before }
        return effects
    }

    private var journalView: SessionLogger.View {
        var urls: [LaneID: String] = [:]
        for id in LaneID.allCases {
            if let url = item?.lanes[id]?.playlistURL, !url.isEmpty { urls[id] = url }
        }
        return SessionLogger.View(
            now: now, playhead: playhead, watched: watchedDuration,
            isExpensive: networkConditions.isExpensive, isLive: item?.isLive ?? false, itemURL: item?.url ?? "",
            error: item?.error, variant: item?.multivariant == nil ? nil : item?.variant,
            loadedTimeRanges: buffer.loadedTimeRanges().map { MediaTimeRange($0) },
            throughput: loading.estimatedBitsPerSecond(at: now), latency: latencies.mean(at: now), playlistURLs: urls,
            isTrickPlay: item?.trick != nil, pathway: pathway)
    }
}
