import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Leaving the item for a break, in which other engines play other items, and resuming it afterwards.
///
/// The design is described in the decision record on interstitials.
extension PlaybackEngine {
    /// Suspends the item because other items are played from now on. If time reached the break, `now` is that moment.
    ///
    /// - Returns: The intent with which the other items continue.
    package mutating func suspend(at now: Duration) -> (intent: PlayerIntent, effects: [EngineEffect]) {
        self.now = max(now, self.now)
        let (intent, actions) = timeControl.suspend(timeBounds, at: self.now)
        effects.append(.hold)
        carryOut(actions)
        return (PlayerIntent(timeControl: intent, networkConditions: networkConditions), settled())
    }

    /// Loads media from the resume time and has its first samples decoded. To the app, the playhead stays where the
    /// item was left.
    mutating func prepareToResume(at time: Duration, next: BreakPoint.Place?) {
        setBreakPoint(next)
        guard machine.isInterstitialRunning, item?.start != nil, item?.error == nil, item?.trick == nil else { return }
        // Cut exactly at that frame and sample, because earlier media was already presented or is skipped.
        let landing = SeekTarget.sync(time)
        let isCut = LaneID.allCases.contains { item?.lanes[$0]?.isCutAtEnd == true }
        let isHeld = !isCut && heldMedia.reaches(time)
        endSeek(finished: false)
        carryOut(item?.seek.resume(at: landing, isHeld: isHeld))
    }

    /// Resumes the item at the prepared time, at the moment when the break ends.
    ///
    /// - Parameter isSought: Whether a seek of the user led there. Such a seek is reported like any other.
    package mutating func resume(_ intent: PlayerIntent, isSought: Bool, at now: Duration) -> [EngineEffect] {
        self.now = max(now, self.now)
        let left = timeControl.heldTime
        effects.append(.present)
        networkConditions = intent.networkConditions
        if intent.timeControl.isRunning { noteFirstDecoded() }
        carryOut(timeControl.resume(intent.timeControl, timeBounds, at: self.now))
        if !isSought, let left, left != playhead {
            jumpPassages(to: playhead)
            effects.append(.publish(.timeJumped(to: MediaTime(playhead))))
        }
        return settled()
    }

    // MARK: Asset lists

    /// Requests the asset list of an interstitial, in parallel with all other loading. A failed request is not retried,
    /// because the break leaves no time for it.
    mutating func askForAssets(_ request: AssetLists.Request) {
        guard item?.error == nil else { return effects.append(.assetList(request.id, nil)) }
        send(RequestOrder(assetListOf: request.id, at: request.url, namedBy: item?.mainTracker?.url))
    }

    mutating func takeAssetList(
        _ id: RequestID, _ result: Result<InterstitialAssetList, InterstitialAssetList.Invalid>, url: String,
        _ metrics: TransferMetrics
    ) {
        guard let context = loading.end(id, at: now), case .assetList(let event) = context.purpose else { return }
        loading.note(metrics, of: context)
        switch result {
        case .success(let list): effects.append(.assetList(event, AssetLists.Answer(list: list, base: url)))
        case .failure(let error): failAssetList(of: event, error.description)
        }
    }

    mutating func failAssetList(of event: String, _ text: String) {
        effects.append(.publish(.warning("asset list of \(event): \(text)")))
        effects.append(.assetList(event, nil))
    }

    /// Called when the playlist was searched for skipped parts. Its media may then be loaded, or the break point
    /// changes.
    mutating func noteSchedule() {
        if let tracker = item?.mainTracker { item?.schedule.note(tracker) }
    }

    package var awaitsSchedule: Bool { item?.schedule.isAwaited ?? false }
    /// Whether the newest part of the playlist has not been searched yet.
    package var lacksSchedule: Bool {
        item?.schedule.isFollowed == true && item?.schedule.lacks(item?.mainTracker) == true
    }

    package var hasBreakAhead: Bool { item?.breakPoint.place != nil }
    package var primaryTimeline: PrimaryTimeline? {
        guard let item, item.start != nil, let tracker = item.mainTracker else { return nil }
        let trackers = [tracker] + [LaneID.audio].compactMap { item.lanes[$0]?.tracker }
        return PrimaryTimeline(
            start: tracker.start, end: tracker.end, isLive: tracker.isLive, targetDuration: tracker.pacingTarget,
            boundaries: trackers.map { $0.segmentStarts + [$0.end] })
    }

    package var shownTime: Duration { timeControl.heldTime ?? playhead }
    /// The playhead's position as the app sees it, at a time that is not before the last event.
    package func shownTime(at now: Duration) -> Duration { timeControl.heldTime ?? playhead(at: now) }
}
