public import FoundationEssentials
import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
public import HLSKitTime

/// An item's place in a live stream.
///
/// See docs/behaviour/live.md.
extension PlayerItem {
    /// The date of what is being presented; nil if the playlist has no `EXT-X-PROGRAM-DATE-TIME`, and while the item is
    /// not in a player.
    public var currentDate: Date? {
        let time = currentTime
        let date = attachedCore?.read(of: self) { engine in
            time.duration.flatMap { engine.item?.lanes[.main]?.tracker?.date(at: $0) }
        }
        return date.map(Date.init)
    }

    /// How far behind the live edge to play the item.
    ///
    /// nil (the default), like every time that is not a number, leaves it to the playlist: its `PART-HOLD-BACK` where
    /// parts are loaded, its `HOLD-BACK`, else three target durations. That is then what is read here while a live stream
    /// is loaded; nil for others. Counts for where playing starts and where a seek to the edge goes; for what is being
    /// played only as ``liveCatchUpRate`` allows.
    public var configuredTimeOffsetFromLive: MediaTime? {
        get {
            (preferences.configuredTimeOffsetFromLive ?? attachedCore?.read(of: self) { $0.configuredLiveOffset })
                .map { MediaTime($0) }
        }
        set {
            // Beyond this no window is as long, and sums of times are no times any more.
            let offset = newValue?.duration.map { min(max($0, .zero), .seconds(1_000_000_000)) }
            changePreferences { $0.configuredTimeOffsetFromLive = offset }
        }
    }

    /// How far behind the live edge playback would probably not stall; nil where the item is not live.
    ///
    /// ``configuredTimeOffsetFromLive``, and one target duration (three of parts, where parts are loaded) more for each
    /// stall of the last five minutes, up to the length of the playlist.
    /// ``PlayerEvent/Kind/recommendedTimeOffsetFromLiveChanged(_:)`` reports changes.
    public var recommendedTimeOffsetFromLive: MediaTime? {
        attachedCore?.read(of: self) { $0.recommendedLiveOffset }.map { MediaTime($0) }
    }

    /// After a wait, skip forward to the distance from the live edge at which it began. Default false: what was missed
    /// is played later.
    public var automaticallyPreservesTimeOffsetFromLive: Bool {
        get { preferences.automaticallyPreservesTimeOffsetFromLive }
        set { changePreferences { $0.automaticallyPreservesTimeOffsetFromLive = newValue } }
    }

    /// The highest rate at which a live item is played, while ``Player/rate`` is 1, to come back to its distance from the live edge:
    /// `1...2`, in hundredths; 1 (the default) never changes the rate. What is not a number is 1.
    ///
    /// The distance is ``configuredTimeOffsetFromLive``. Nearer to the edge the item is played as much slower, by a tenth at most.
    /// Differences of up to a quarter of a segment, or of a part where parts are loaded, are left alone. After several
    /// stalls in five minutes nothing is caught up with up to ``recommendedTimeOffsetFromLive`` less what one stall adds to it.
    /// Where a pause or a stall leaves more behind than this rate takes back in a minute, playing continues at the distance if
    /// ``fellBehindPolicy`` is ``FellBehindPolicy/jumpToEdge``. A place that far from the edge that was sought is kept.
    ///
    /// ``PlayerState/timebaseRate`` is the rate that holds. Sound keeps its pitch (``audioTimePitchAlgorithm``).
    public var liveCatchUpRate: Float {
        get { preferences.liveCatchUpRate }
        set { changePreferences { $0.liveCatchUpRate = newValue >= 1 ? min(newValue, 2) : 1 } }
    }

    /// How late what is being presented is; nil where the item is not live or not in a player.
    ///
    /// The time since the date that the playlist gives it (`EXT-X-PROGRAM-DATE-TIME`), which is as right as the clocks of the
    /// server and of this machine; below zero where they differ by more. Without dates, and under a virtual clock without
    /// ``PlayerConfiguration/wallClock``, the distance from the live edge: the end of what is listed and the age of the list.
    /// While time stands it grows.
    public var liveLatency: Duration? {
        guard let core = attachedCore else { return nil }
        let now = core.clock.now
        return core.read(of: self) { $0.liveLatency(at: now) }
    }

    /// A live item keeps loading while the player is paused. Default false: it asks for nothing once it is ready to
    /// play, what can be sought in stays as it was, and the next play loads the playlist first. Seeking and
    /// ``Player/preroll(atRate:)`` load what they need. Without pacing there is no rest.
    public var canUseNetworkResourcesForLiveStreamingWhilePaused: Bool {
        get { preferences.canUseNetworkResourcesForLiveStreamingWhilePaused }
        set { changePreferences { $0.canUseNetworkResourcesForLiveStreamingWhilePaused = newValue } }
    }
}

extension Player {
    /// Moves the playhead of a live stream to ``PlayerItem/configuredTimeOffsetFromLive`` from the edge, that of other
    /// streams to the end.
    ///
    /// - Returns: As ``seek(to:toleranceBefore:toleranceAfter:)``.
    public func seekToLiveEdge() async -> Bool {
        await core.seek(SeekRequest(destination: .edge))
    }
}
