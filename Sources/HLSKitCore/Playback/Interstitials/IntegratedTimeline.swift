public import HLSTime

extension PlayerItem {
    /// The item with its interstitials, as one timeline.
    public var integratedTimeline: IntegratedTimeline { IntegratedTimeline(item: self) }
}

/// One timeline of an item and the interstitials that are played in it: what there is, where the player is on it, and how to
/// get elsewhere.
///
/// The semantics are those of `AVPlayerItemIntegratedTimeline`. Interstitials are on it while the item is its player's current
/// one. Keeps the item, and not the player.
///
/// See docs/behaviour/interstitials.md.
public struct IntegratedTimeline: Sendable {
    let item: PlayerItem

    /// All of it, as it is now; without segments before the item is loaded. Lengths that are not known yet count nothing.
    public var currentSnapshot: IntegratedTimelineSnapshot {
        item.attachedCore?.integratedTimeline(of: item) ?? IntegratedTimelineSnapshot()
    }

    /// Where the player is on the timeline; 0 before the item is loaded. Stands while an event at a single point plays.
    public var currentTime: MediaTime { currentSnapshot.currentTime }

    /// Goes to a time on the timeline: an item time, or the middle of an event, which is then played from there.
    ///
    /// - Parameters:
    ///   - time: `.positiveInfinity` is the end.
    ///   - toleranceBefore: as for ``Player/seek(to:toleranceBefore:toleranceAfter:)``; of no meaning inside of events.
    ///   - toleranceAfter: the same.
    /// - Returns: true when the playhead was moved, or an event that may not be jumped over is played first; false where that
    ///   returns false, where an event that plays may not be left (``PlayerEvent/Kind/interstitialSeekRefused(_:)``), and for
    ///   an item that is not current or not loaded.
    /// - Throws: ``HLSError/Code/invalidTime``.
    public func seek(
        to time: MediaTime, toleranceBefore: MediaTime = .positiveInfinity,
        toleranceAfter: MediaTime = .positiveInfinity
    ) async throws(HLSError) -> Bool {
        let request = try Player.seekRequest(time, before: toleranceBefore, after: toleranceAfter)
        guard let core = item.attachedCore, core.currentItem === item, let request else { return false }
        let snapshot = currentSnapshot
        guard !snapshot.segments.isEmpty, case .time(let wanted) = request.destination else {
            return await core.seek(request)
        }
        switch snapshot.place(at: wanted) {
        case .interstitial(let id, let offset): return core.enterInterstitial(id, at: offset, of: item)
        case .primary(let place):
            return await core.seek(SeekRequest(destination: .time(place), tolerance: request.tolerance))
        case nil: return false
        }
    }
}
