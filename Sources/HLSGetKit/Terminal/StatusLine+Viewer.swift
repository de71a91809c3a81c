package import HLSKitCore

extension StatusLine {
    /// The state in a viewer's words, for a window: time, status and quality.
    ///
    ///     0:12 / 3:00  buffering 40 %  720p
    package static func viewerText(_ state: PlayerState) -> String {
        [viewerTime(state), viewerStatus(state), state.variant?.name(withBitRate: false) ?? ""]
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// `0:12 / 9:56`, or `live, 0:08 after`.
    private static func viewerTime(_ state: PlayerState) -> String {
        if let offset = state.liveOffset?.inSeconds { return "live, \(Decimals.length(max(0, offset))) behind" }
        let now = state.currentTime.finiteSeconds.map(Decimals.clock) ?? "-:--"
        return state.duration.finiteSeconds.map { "\(now) / \(Decimals.clock($0))" } ?? now
    }

    /// Nothing if it plays at the usual rate.
    private static func viewerStatus(_ state: PlayerState) -> String {
        if let interstitial = state.interstitial, state.timeControlStatus != .paused {
            return status(interstitial, rate: state.rate).map(\.text).joined()
        }
        switch state.timeControlStatus {
        case .paused: return state.itemStatus == .failed ? "failed" : "paused"
        case .playing: return state.rate == 1 ? "" : Decimals.rate(Double(state.rate))
        case .waitingToPlayAtSpecifiedRate:
            if state.reasonForWaitingToPlay == .coordinatedPlayback { return "waiting for others" }
            guard let goal = state.bufferingGoal?.inSeconds, goal > 0 else { return "buffering" }
            return "buffering \(Decimals.text((min(1, ahead(state) / goal) * 100).rounded(.down), places: 0)) %"
        }
    }
}
