import HLSKitCodec
public import HLSKitEngine
public import HLSKitLoading
import HLSKitMedia
public import HLSKitTime

extension PlayerItem {
    /// The status of the item: whether it can be played.
    ///
    /// The status changes from `unknown` to `readyToPlay` or `failed`. It changes from `readyToPlay` to `failed` if the
    /// rest of the item cannot be loaded. It does not change when the item leaves its player.
    public var status: PlayerItemStatus { snapshot.itemStatus }

    /// The duration of the item.
    ///
    /// It is `.indefinite` until it is known, and while a live stream continues.
    public var duration: MediaTime { snapshot.duration }

    /// The item time of the media that is currently presented.
    public var currentTime: MediaTime { snapshot.currentTime }

    /// The size at which to show the video, or zero until it is known and if there is no video.
    ///
    /// The size is the clean aperture in square pixels, rotated as the track specifies. It equals
    /// ``VideoFrame/presentationSize`` of the item's frames.
    public var presentationSize: PixelSize {
        let track = details.tracks.first { $0.mediaType == .video && $0.width > 0 }
        return track.map { PictureGeometry($0).presentationSize } ?? .zero
    }

    /// The time ranges that you can seek to, in order.
    public var seekableTimeRanges: [MediaTimeRange] { snapshot.seekableTimeRanges }
    /// The time ranges of the loaded media, in order.
    ///
    /// They include media without an output, although the player does not keep it.
    public var loadedTimeRanges: [MediaTimeRange] { snapshot.loadedTimeRanges }
    /// A Boolean value that indicates whether playback is likely to reach the end without a stall.
    public var isPlaybackLikelyToKeepUp: Bool { snapshot.isPlaybackLikelyToKeepUp }
    /// A Boolean value that indicates whether the player has stopped loading because it has enough media.
    public var isPlaybackBufferFull: Bool { snapshot.isPlaybackBufferFull }
    /// A Boolean value that indicates whether no media is loaded ahead of the playhead.
    public var isPlaybackBufferEmpty: Bool { snapshot.isPlaybackBufferEmpty }
    /// A consistent snapshot of the complete state, including the item's counters.
    public var latestState: PlayerState { snapshot }
}
