package import HLSKitCaptions
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Closed captions inside the video, offered as options of the legible group.
///
/// If the playlist names closed captions, only those are offered. Otherwise each service with text in the video becomes
/// an option, unless the playlist says `CLOSED-CAPTIONS=NONE`. Such options are named `CC1` or `SERVICE1`, have no
/// language, and are never selected automatically.
///
/// Source: RFC 8216 §4.3.4.1, §4.3.4.2.
extension PlaybackEngine {
    /// The selected service, or `nil` if there is none.
    package var closedCaptionService: ClosedCaptionService? {
        guard item?.tracks.isEnabled(.text) == true else { return nil }
        return mediaSelection.closedCaptionService(in: item?.closedCaptionGroup)
    }

    /// Called when captions are found in the video.
    mutating func offerClosedCaptions(_ services: Set<ClosedCaptionService>) {
        guard item != nil, item?.error == nil,
            case .options(let isWanted) = mediaSelection.offer(services, besides: item?.multivariant)
        else { return }
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        if isWanted { applyMediaSelection() }
    }

    /// Applies the user's choice for media without a multivariant playlist, which has no other options.
    mutating func applyClosedCaptions() {
        guard mediaSelection.selectClosedCaptions(wish: preferences.subtitles) else { return }
        effects.append(.clearLane(.subtitles))
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
    }

    // MARK: Captions of the app

    /// Replaces the captions that the app supplies.
    mutating func setSidecarCaptions(_ sidecars: [SidecarCaptions]) {
        let before = mediaSelection.selectedSidecar
        changeMediaSelection { $0.setSidecars(sidecars) }
        // The option is the same, but it shows other captions.
        guard item != nil, let before, let now = mediaSelection.selectedSidecar, now != before else { return }
        effects.append(.clearLane(.subtitles))
    }
}

extension ItemState {
    /// The closed-caption group of the loaded variant, or `nil` if it declares none.
    fileprivate var closedCaptionGroup: String? {
        guard let index = variantIndex, let variants = multivariant?.variants, variants.indices.contains(index),
            case .group(let name)? = variants[index].closedCaptions
        else { return nil }
        return name
    }
}
