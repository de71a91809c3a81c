package import HLSKitCaptions
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Closed captions inside the video, as options of the legible group.
///
/// What a playlist names is offered, and nothing else. Where it names no closed captions and does not say that there are
/// none (`CLOSED-CAPTIONS=NONE`), each service that says something in the video becomes an option: `CC1`, `SERVICE1`,
/// without a language, and never selected by itself.
///
/// Source: RFC 8216 §4.3.4.1, §4.3.4.2. See docs/behaviour/captions.md.
extension PlaybackEngine {
    /// The service that is selected; nil where none is.
    package var closedCaptionService: ClosedCaptionService? {
        guard item?.tracks.isEnabled(.text) == true else { return nil }
        return mediaSelection.closedCaptionService(in: item?.closedCaptionGroup)
    }

    /// The video has captions.
    mutating func offerClosedCaptions(_ services: Set<ClosedCaptionService>) {
        guard item != nil, item?.error == nil,
            case .options(let isWanted) = mediaSelection.offer(services, besides: item?.multivariant)
        else { return }
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        if isWanted { applyMediaSelection() }
    }

    /// The user's choice for media without a multivariant playlist, which has no other options.
    mutating func applyClosedCaptions() {
        guard mediaSelection.selectClosedCaptions(wish: preferences.subtitles) else { return }
        effects.append(.clearLane(.subtitles))
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
    }

    // MARK: Captions of the program

    /// The program has other captions of its own.
    mutating func setSidecarCaptions(_ sidecars: [SidecarCaptions]) {
        let before = mediaSelection.selectedSidecar
        changeMediaSelection { $0.setSidecars(sidecars) }
        // The same option shows others.
        guard item != nil, let before, let now = mediaSelection.selectedSidecar, now != before else { return }
        effects.append(.clearLane(.subtitles))
    }
}

extension ItemState {
    /// The group of closed captions of the variant that is loaded; nil where it declares none.
    fileprivate var closedCaptionGroup: String? {
        guard let index = variantIndex, let variants = multivariant?.variants, variants.indices.contains(index),
            case .group(let name)? = variants[index].closedCaptions
        else { return nil }
        return name
    }
}
