/// A live stream while the player is paused: nothing is asked for, and what can be sought in stays what it was.
///
/// `docs/behaviour/live-at-rest.md` says when. What the window has taken meanwhile is found out when the player goes on:
/// the playlists are loaded before anything else, and then ``PlayerItemPreferences/fellBehindPolicy`` decides.
extension PlaybackEngine {
    /// Looks whether a rest begins or ends.
    mutating func checkRest() {
        guard let item else { return }
        let rests = isToRest(item)
        guard rests != item.isAtRest else { return }
        self.item?.isAtRest = rests
        if rests {
            for id in LaneID.allCases { effects.append(.disarm(.reload(id))) }
            effects.append(.disarm(.stale))
        } else {
            goOnAfterRest()
        }
    }

    private func isToRest(_ item: borrowing ItemState) -> Bool {
        guard configuration.pacing == .realTime, machine.rate == 0,
            !preferences.canUseNetworkResourcesForLiveStreamingWhilePaused
        else { return false }
        // Before it is ready it is not known whether it can be played; a seek shows a picture.
        return item.isReady && item.isLive && item.trick == nil && !item.seek.isUnderWay && !item.seek.isPrerolling
    }

    private mutating func goOnAfterRest() {
        let now = now
        // That nothing new came was our own doing.
        item?.live.noteNews(at: now)
        // Also where it has never played: what the window takes is told when the lists are here.
        item?.windowLoss.rest()
        for id in LaneID.allCases {
            guard let lane = item?.lanes[id], !lane.isComplete else { continue }
            item?.lanes[id]?.lost = LostMedia()
            let roles = RequestRole.lasting(of: id) + lane.segments.map { .segment($0.role) }
            for role in roles where loading.requests.isWaiting(role) { effects.append(.arm(.retry(role), at: now)) }
            guard lane.tracker?.isLive == true, item?.isClosed == false else { continue }
            item?.lanes[id]?.playlist.awaitReload()
            requestPlaylist(of: id)
        }
    }
}
