public import FoundationEssentials
import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
public import HLSKitTime

extension PlayerItem {
    /// The date of the media that is currently presented.
    ///
    /// The date is `nil` if the playlist has no `EXT-X-PROGRAM-DATE-TIME`, or if the item is not in a player.
    public var currentDate: Date? {
        let time = currentTime
        let date = attachedCore?.read(of: self) { engine in
            time.duration.flatMap { engine.item?.lanes[.main]?.tracker?.date(at: $0) }
        }
        return date.map(Date.init)
    }

    /// The configured distance between the playhead and the live edge.
    ///
    /// If you set `nil` (the default) or a value that is not a number, the playlist determines the distance. This is
    /// its `PART-HOLD-BACK` if the player loads partial segments, its `HOLD-BACK` or, without either, three target
    /// durations. While a live stream is loaded, the property then returns that distance. For other streams, it returns
    /// `nil`.
    ///
    /// The distance applies to the start position and to seeks to the live edge. It affects ongoing playback only if
    /// ``liveCatchUpRate`` allows.
    public var configuredTimeOffsetFromLive: MediaTime? {
        get {
            (preferences.configuredTimeOffsetFromLive ?? attachedCore?.read(of: self) { $0.configuredLiveOffset })
                .map { MediaTime($0) }
        }
        set {
            // No live window is longer than this, and sums of greater times can overflow.
            let offset = newValue?.duration.map { min(max($0, .zero), .seconds(1_000_000_000)) }
            changePreferences { $0.configuredTimeOffsetFromLive = offset }
        }
    }

    /// The distance from the live edge that is likely to avoid stalls, or `nil` if the item is not live.
    ///
    /// It is ``configuredTimeOffsetFromLive`` plus an extra amount for each stall of the last five minutes, up to the
    /// length of the playlist. The extra amount is one target duration, or three part target durations if the player
    /// loads partial segments. The player reports changes with
    /// ``PlayerEvent/Kind/recommendedTimeOffsetFromLiveChanged(_:)``.
    public var recommendedTimeOffsetFromLive: MediaTime? {
        attachedCore?.read(of: self) { $0.recommendedLiveOffset }.map { MediaTime($0) }
    }

    /// A Boolean value that indicates whether playback keeps its distance from the live edge after a wait.
    ///
    /// If `true`, the player skips forward after a wait to restore the distance it had before. If `false` (the
    /// default), playback continues where it stopped.
    public var automaticallyPreservesTimeOffsetFromLive: Bool {
        get { preferences.automaticallyPreservesTimeOffsetFromLive }
        set { changePreferences { $0.automaticallyPreservesTimeOffsetFromLive = newValue } }
    }

    /// The highest rate at which the player catches up with the live edge while ``Player/rate`` is 1.
    ///
    /// The value is limited to `1...2`, and the player changes the rate in steps of a hundredth. The default
    /// is 1, which never changes the rate. A value that is not a number becomes 1.
    ///
    /// The target is ``configuredTimeOffsetFromLive``. If the playhead is closer to the edge than that, the player
    /// plays slower by the same amount, at most by a tenth. It ignores differences of up to a quarter of a segment, or
    /// of a partial segment if it loads those. After several stalls in five minutes, it accepts a larger distance: up
    /// to ``recommendedTimeOffsetFromLive``, minus the amount that one stall adds.
    ///
    /// After a pause or a stall, the distance may be too large to catch up within a minute. The player then jumps to
    /// the target if ``fellBehindPolicy`` is ``FellBehindPolicy/jumpToEdge``. The player does not correct a distance
    /// this large after a seek.
    ///
    /// ``PlayerState/timebaseRate`` is the resulting rate. Audio keeps its pitch (``audioTimePitchAlgorithm``).
    public var liveCatchUpRate: Float {
        get { preferences.liveCatchUpRate }
        set { changePreferences { $0.liveCatchUpRate = newValue >= 1 ? min(newValue, 2) : 1 } }
    }

    /// The latency of the presented media, or `nil` if the item is not live or not in a player.
    ///
    /// The latency is the time since the media's date (`EXT-X-PROGRAM-DATE-TIME`). It is as accurate as the clocks of
    /// the server and of this machine, so it can be negative. If there are no dates, it is the distance from the live
    /// edge: the end of the playlist plus the time since it was loaded. The same applies to a virtual clock without
    /// ``PlayerConfiguration/wallClock``. The latency grows while playback is paused or waiting.
    public var liveLatency: Duration? {
        guard let core = attachedCore else { return nil }
        let now = core.clock.now
        return core.read(of: self) { $0.liveLatency(at: now) }
    }

    /// A Boolean value that indicates whether a live item keeps loading while the player is paused.
    ///
    /// If `false` (the default), an item that is ready to play makes no requests while the player is paused, and its
    /// seekable ranges do not change. When playback resumes, the player reloads the playlist first. Seeking and
    /// ``Player/preroll(atRate:)`` still load the media they need. An unpaced player always keeps loading.
    public var canUseNetworkResourcesForLiveStreamingWhilePaused: Bool {
        get { preferences.canUseNetworkResourcesForLiveStreamingWhilePaused }
        set { changePreferences { $0.canUseNetworkResourcesForLiveStreamingWhilePaused = newValue } }
    }
}

extension Player {
    /// Moves the playhead to ``PlayerItem/configuredTimeOffsetFromLive`` from the live edge.
    ///
    /// If the stream is not live, the playhead moves to the end.
    ///
    /// - Returns: `true` if the playhead moved, as for ``seek(to:toleranceBefore:toleranceAfter:)``.
    public func seekToLiveEdge() async -> Bool {
        await core.seek(SeekRequest(destination: .edge))
    }
}
