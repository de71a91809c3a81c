import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Leaving the item for a break, in which other engines play other items, and resuming it.
///
/// See docs/decisions/interstitials.md.
extension PlaybackEngine {
    /// Others are played in the item's place from now on: at the moment at which time came to the break, if it did.
    ///
    /// - Returns: the intent that they continue with.
    package mutating func suspend(at now: Duration) -> (intent: PlayerIntent, effects: [EngineEffect]) {
        self.now = max(now, self.now)
        let (intent, actions) = timeControl.suspend(timeBounds, at: self.now)
        effects.append(.hold)
        carryOut(actions)
        return (PlayerIntent(timeControl: intent, networkConditions: networkConditions), settled())
    }

    /// Loads from where the item is to resume, and has its first media decoded. Programs see it stand where it was left.
    mutating func prepareToResume(at time: Duration, next: BreakPoint.Place?) {
        setBreakPoint(next)
        guard machine.isInterstitialRunning, item?.start != nil, item?.error == nil, item?.trick == nil else { return }
        // To the frame that begins there, and to the sample: what is before it was presented, or is left out.
        let landing = Landing.sync(time)
        let isCut = LaneID.allCases.contains { item?.lanes[$0]?.isCutAtEnd == true }
        let isHeld = !isCut && heldMedia.reaches(time)
        endSeek(finished: false)
        carryOut(item?.seek.resume(at: landing, isHeld: isHeld))
    }

    /// The item continues where it was made ready to, at the moment at which those ended that were played in its place.
    ///
    /// - Parameter isSought: a seek of the user has brought it there, which is told as any other.
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

    // MARK: Lists of assets

    /// Asks what an interstitial plays, beside everything else that is loaded. Nothing is asked twice: when it is played
    /// there is no time for it.
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

    /// The list was looked at for parts that are left out: what it lists may be loaded, or the break point says otherwise.
    mutating func noteSchedule() {
        if let tracker = item?.mainTracker { item?.schedule.note(tracker) }
    }

    /// The item was not told yet where it is left.
    package var awaitsSchedule: Bool { item?.schedule.isAwaited ?? false }
    /// It was not looked at as far as it is listed now.
    package var lacksSchedule: Bool {
        item?.schedule.isFollowed == true && item?.schedule.lacks(item?.mainTracker) == true
    }

    /// The item is left for a break before it ends.
    package var hasBreakAhead: Bool { item?.breakPoint.place != nil }
    /// What a schedule of breaks has to know; nil before the item has a place to start at.
    package var primaryTimeline: PrimaryTimeline? {
        guard let item, item.start != nil, let tracker = item.mainTracker else { return nil }
        let trackers = [tracker] + [LaneID.audio].compactMap { item.lanes[$0]?.tracker }
        return PrimaryTimeline(
            start: tracker.start, end: tracker.end, isLive: tracker.isLive, targetDuration: tracker.pacingTarget,
            boundaries: trackers.map { $0.segmentStarts + [$0.end] })
    }

    /// Where programs see the playhead.
    package var shownTime: Duration { timeControl.heldTime ?? playhead }
    /// The same at a time that is not before the last event.
    package func shownTime(at now: Duration) -> Duration { timeControl.heldTime ?? playhead(at: now) }
}
