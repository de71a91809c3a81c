package import HLSKitCore

extension PlayerState {
    /// Returns the state of a player whose item lasts 9:56 and is loaded from the start to `end`.
    package static func sample(
        _ status: TimeControlStatus, _ reason: WaitingReason? = nil, at time: Int64 = 12, loadedUntil end: Int64 = 24
    ) -> PlayerState {
        var state = PlayerState()
        state.timeControlStatus = status
        state.reasonForWaitingToPlay = reason
        state.rate = status == .paused ? 0 : 1
        state.timebaseRate = status == .playing ? 1 : 0
        state.currentTime = .seconds(time)
        state.duration = .seconds(596)
        if end > 0 { state.loadedTimeRanges = [MediaTimeRange(start: .zero, duration: .seconds(end))] }
        state.isPlaybackBufferEmpty = end <= time
        state.isPlaybackLikelyToKeepUp = status == .playing
        state.variant = AssetVariant(
            index: 1, peakBitRate: 800_000, presentationSize: PixelSize(width: 640, height: 360))
        state.statistics.throughputEstimate = 2_400_000
        return state
    }

    /// Returns the state of a player whose live item has a seekable range of 115 s.
    package static func liveSample() -> PlayerState {
        var state = sample(.playing, at: 3700)
        state.duration = .indefinite
        state.liveOffset = .seconds(8.25)
        state.isPlaybackBufferEmpty = false
        state.seekableTimeRanges = [MediaTimeRange(start: .seconds(3600), duration: .seconds(115))]
        state.loadedTimeRanges = [MediaTimeRange(start: .seconds(3690), duration: .seconds(22))]
        return state
    }

    /// Returns the state of a player that plays the first of two 15 s interstitials, 4.2 s after its start.
    package static func inBreak(_ skippable: InterstitialEvent.SkippableEventState) -> PlayerState {
        var state = sample(.waitingToPlayAtSpecifiedRate, .interstitialEvent)
        state.interstitial = InterstitialProgress(
            event: InterstitialEvent(id: "ad", time: .seconds(12), content: .assets([])), number: 1, count: 2,
            currentTime: .seconds(4.2), duration: .seconds(15), skippableState: skippable)
        return state
    }
}
