public import FoundationEssentials
import HLSPlaylist
public import HLSTime

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
    /// nil (the default), like every time that is not a number, leaves it to the playlist: its `HOLD-BACK`, else three target
    /// durations. That is then what is read here while a live stream is loaded; nil for others. Counts for where playing
    /// starts and where a seek to the edge goes, not for what is being played.
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
    /// ``configuredTimeOffsetFromLive``, and one target duration more for each stall of the last five minutes, up to the
    /// length of the playlist. ``PlayerEvent/Kind/recommendedTimeOffsetFromLiveChanged(_:)`` reports changes.
    public var recommendedTimeOffsetFromLive: MediaTime? {
        attachedCore?.read(of: self) { $0.recommendedLiveOffset }.map { MediaTime($0) }
    }

    /// After a wait, skip forward to the distance from the live edge at which it began. Default false: what was missed
    /// is played later.
    public var automaticallyPreservesTimeOffsetFromLive: Bool {
        get { preferences.automaticallyPreservesTimeOffsetFromLive }
        set { changePreferences { $0.automaticallyPreservesTimeOffsetFromLive = newValue } }
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
