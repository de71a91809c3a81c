import HLSPlaylist

/// Low latency: requests that servers hold, and what is told of servers that do not do what they should.
///
/// See docs/behaviour/live.md.
extension PlaybackEngine {
    /// A request for a list failed. Where the fault may be that of what it asked for besides the list, the list is asked for
    /// plainly at once.
    ///
    /// - Returns: whether it was.
    mutating func asksPlainly(for id: LaneID, after trouble: PlaylistTrouble, _ error: @autoclosure () -> HLSError)
        -> Bool
    {
        guard item?.lanes[id]?.playlist.noteFailure(ReloadPlan.Failure(trouble)) == true else { return false }
        effects.append(.publish(.recoverableError(error())))
        checkLowLatency(of: id)
        reloadPlaylist(of: id)
        return true
    }

    /// Loads parts where the server does what that takes; tells why it does not, though it offers them.
    mutating func checkLowLatency(of id: LaneID) {
        guard id != .subtitles, item?.trick == nil, let playlist = item?.lanes[id]?.playlist,
            let tracker = playlist.tracker
        else { return }
        let profile = LowLatencyProfile(
            of: tracker.written, isAllowed: configuration.allowsLowLatency, keepsWord: playlist.plan.keepsWord,
            keepsConnections: playlist.connections.areKept)
        item?.lanes[id]?.playlist.use(parts: profile == .lowLatency)
        guard id == .main, let reason = item?.lowLatency.news(profile) else { return }
        effects.append(.publish(.lowLatencyDeclined(url: Redaction.url(tracker.url), cause: reason.text)))
    }

    /// Nothing is to be told: servers hold no request any longer.
    mutating func cancelHeldReloads() {
        for id in LaneID.allCases {
            guard let request = item?.lanes[id]?.playlist.heldRequest else { continue }
            cancel(request)
            item?.lanes[id]?.playlist.forgetRequest()
        }
    }
}

extension ReloadPlan.Failure {
    init(_ trouble: PlaylistTrouble) {
        switch trouble {
        case .playlist(let failure): self = failure.kind == .misfit ? .misfit : .other
        case .loading(let error):
            if let status = error.status {
                self = .status(status, tellsWhen: error.retryAfter != nil)
            } else {
                self = error.code == .timedOut ? .timeout : .other
            }
        }
    }
}
