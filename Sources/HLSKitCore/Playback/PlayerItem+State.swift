public import HLSMedia
public import HLSTime

/// The state of an item in a player; afterwards, its last state.
///
/// See docs/behaviour/playback.md.
extension PlayerItem {
    /// Whether the item can be played. Goes from `unknown` to `readyToPlay` or `failed`, and from `readyToPlay` to `failed`
    /// where the rest of it cannot be loaded; stays as it is when the item is taken out of its player.
    public var status: PlayerItemStatus { snapshot.itemStatus }

    /// `.indefinite` before it is known and while a live stream continues.
    public var duration: MediaTime { snapshot.duration }

    /// The time that is being presented.
    public var currentTime: MediaTime { snapshot.currentTime }

    /// The size at which to show the video: its clean aperture in square pixels, turned as the track says. Zero before it is
    /// known and without video. ``VideoFrame/presentationSize`` of its frames is the same.
    public var presentationSize: PixelSize {
        let track = details.tracks.first { $0.mediaType == .video && $0.width > 0 }
        return track.map { PictureGeometry($0).presentationSize } ?? .zero
    }

    /// The tracks of the media that is loaded; empty before they are known.
    public var tracks: [MediaTrack] { details.tracks }

    /// Times that can be sought, in order.
    public var seekableTimeRanges: [MediaTimeRange] { snapshot.seekableTimeRanges }
    /// Media that is loaded, in ranges without gaps.
    public var loadedTimeRanges: [MediaTimeRange] { snapshot.loadedTimeRanges }
    /// Playing that begins now is likely to come to the end without a stall.
    public var isPlaybackLikelyToKeepUp: Bool { snapshot.isPlaybackLikelyToKeepUp }
    /// No more is loaded ahead than is loaded now.
    public var isPlaybackBufferFull: Bool { snapshot.isPlaybackBufferFull }
    /// Nothing is loaded ahead of the playhead.
    public var isPlaybackBufferEmpty: Bool { snapshot.isPlaybackBufferEmpty }
    /// All of it at once, consistent, with the item's counters.
    public var latestState: PlayerState { snapshot }
}

/// The values of ``preferences`` under the names that AVFoundation has for them.
extension PlayerItem {
    /// Seconds of media to keep loaded ahead of the playhead; 0 (the default) leaves it to the player.
    public var preferredForwardBufferDuration: Double {
        get { preferences.preferredForwardBufferDuration }
        set { changePreferences { $0.preferredForwardBufferDuration = newValue } }
    }

    /// Bits per second above which variants are not considered while there are others; 0 (the default) means no limit.
    public var preferredPeakBitRate: Double {
        get { preferences.preferredPeakBitRate }
        set { changePreferences { $0.preferredPeakBitRate = newValue } }
    }

    /// As ``preferredPeakBitRate``, and besides it, while the network is expensive.
    public var preferredPeakBitRateForExpensiveNetworks: Double {
        get { preferences.preferredPeakBitRateForExpensiveNetworks }
        set { changePreferences { $0.preferredPeakBitRateForExpensiveNetworks = newValue } }
    }

    /// Size above which variants are not considered while there are others; nil (the default) means no limit.
    public var preferredMaximumResolution: PixelSize? {
        get { preferences.preferredMaximumResolution }
        set { changePreferences { $0.preferredMaximumResolution = newValue } }
    }

    /// As ``preferredMaximumResolution``, and besides it, while the network is expensive.
    public var preferredMaximumResolutionForExpensiveNetworks: PixelSize? {
        get { preferences.preferredMaximumResolutionForExpensiveNetworks }
        set { changePreferences { $0.preferredMaximumResolutionForExpensiveNetworks = newValue } }
    }

    /// Start on the first eligible variant of the playlist, whatever is known of the network. Default false.
    public var startsOnFirstEligibleVariant: Bool {
        get { preferences.startsOnFirstEligibleVariant }
        set { changePreferences { $0.startsOnFirstEligibleVariant = newValue } }
    }

    /// Kinds of variants that are played only where they are asked for. Default: none.
    public var variantPreferences: VariantPreferences {
        get { preferences.variantPreferences }
        set { changePreferences { $0.variantPreferences = newValue } }
    }

    /// How the variant is chosen. Default: by the rule.
    public var variantPolicy: VariantPolicy {
        get { preferences.variantPolicy }
        set { changePreferences { $0.variantPolicy = newValue } }
    }
}
