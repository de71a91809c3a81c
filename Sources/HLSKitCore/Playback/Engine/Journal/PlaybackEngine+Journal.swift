import HLSMedia
import HLSPlaylist
import HLSTime

/// The journal looks at what goes in and out, and is told what it cannot see there.
extension PlaybackEngine {
    /// Writes down what happened. Called once for each event, when its effects are known.
    mutating func keepJournal(of event: EngineEvent?) {
        changeJournal()
        guard journal != nil else { return }
        if effects.isEmpty, case .progress(let id, let byteCount)? = event {
            journal?.received(byteCount, of: id)
            return
        }
        guard var journal = journal.take() else { return }
        let view = journalView
        if case .control(.seek)? = event,
            !effects.contains(where: { if case .seekRefused = $0 { true } else { false } })
        {
            let hasFlushed = effects.contains { if case .flush = $0 { true } else { false } }
            journal.noteSeek(isInBuffer: !hasFlushed && item?.start != nil, view)
        }
        journal.look(at: event, effects, view)
        effects += journal.takeEffects()
        self.journal = journal
    }

    /// Another item has another journal.
    private mutating func changeJournal() {
        guard item?.session?.id != journal?.session.id else { return }
        closeJournal()
        journal = item?.session.map {
            SessionJournal(session: $0, epoch: configuration.epoch, isCurrent: !isInQueue, at: now)
        }
    }

    /// The session is over.
    mutating func closeJournal() {
        guard var journal = journal.take() else { return }
        journal.close(journalView)
        effects += journal.takeEffects()
    }

    /// What comes out when no further event goes in.
    mutating func endSession(at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        let before = effects
        effects = []
        closeJournal()
        defer { effects = before }
        return effects
    }

    private var journalView: SessionJournal.View {
        var urls: [LaneID: String] = [:]
        for id in LaneID.allCases {
            if let url = item?.lanes[id]?.playlistURL, !url.isEmpty { urls[id] = url }
        }
        return SessionJournal.View(
            now: now, playhead: playhead, watched: watchedDuration,
            isExpensive: networkConditions.isExpensive, isLive: item?.isLive ?? false, itemURL: item?.url ?? "",
            error: item?.error, variant: item?.multivariant == nil ? nil : item?.variant,
            loadedTimeRanges: buffer.loadedTimeRanges().map { MediaTimeRange($0) },
            throughput: loading.estimatedBitsPerSecond(at: now), playlistURLs: urls, isTrickPlay: item?.trick != nil)
    }
}
