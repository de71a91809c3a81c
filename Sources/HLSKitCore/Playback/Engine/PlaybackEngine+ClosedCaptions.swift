import HLSCaptions
import HLSPlaylist

/// Closed captions inside the video, as options of the legible group.
///
/// What a playlist names is offered, and nothing else. Where it names no closed captions and does not say that there are
/// none (`CLOSED-CAPTIONS=NONE`), each service that says something in the video becomes an option: `CC1`, `SERVICE1`,
/// without a language, and never selected by itself.
///
/// Source: RFC 8216 §4.3.4.1, §4.3.4.2. See docs/behaviour/captions.md.
extension PlaybackEngine {
    /// The service that is selected, by the group of the variant that is loaded; nil where none is.
    var closedCaptionService: ClosedCaptionService? {
        guard let option = mediaSelection.current[.legible], option.isClosedCaptions else { return nil }
        var group: String?
        if let item, let playlist = item.multivariant, let index = item.variantIndex,
            playlist.variants.indices.contains(index), case .group(let name)? = playlist.variants[index].closedCaptions
        {
            group = name
        }
        let rendition = option.renditions.first { $0.groupID == group } ?? option.renditions.first
        return ClosedCaptionService(instreamID: rendition?.instreamID)
    }

    /// The video has captions.
    mutating func offerClosedCaptions(_ services: Set<ClosedCaptionService>) {
        guard let item, item.error == nil else { return }
        if let playlist = item.multivariant {
            guard !playlist.variants.contains(where: { $0.closedCaptions == ClosedCaptions.none }),
                !playlist.renditions.contains(where: { $0.type == .closedCaptions })
            else { return }
        }
        guard mediaSelection.offer(services) else { return }
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        // The user may have chosen what was not there yet.
        if case .option? = mediaSelection.choices[.legible] { applyMediaSelection() }
    }

    /// The user's choice for media without a multivariant playlist, which has no other options.
    mutating func applyClosedCaptions() {
        guard mediaSelection.selectClosedCaptions() else { return }
        effects.append(.clearLane(.subtitles))
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
    }
}
