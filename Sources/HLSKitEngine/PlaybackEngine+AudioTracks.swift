import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

/// Audio tracks inside segments, as options of the audible group.
///
/// What a playlist names is offered, and nothing else. Where it names no audio, each audio track of the segments is an
/// option, and one that is chosen while playing is loaded beside what is there, so that nothing waits for it.
///
/// See docs/behaviour/media-selection.md; I01.
extension PlaybackEngine {
    /// Segments of the variant have these tracks.
    mutating func offerAudio(_ tracks: [MediaTrack]) {
        guard item != nil, item?.error == nil else { return }
        do throws(UnmatchedWish) {
            let isChoice = try mediaSelection.offer(
                audio: tracks, wish: preferences.audio, canDecode: configuration.canDecode)
            guard isChoice else { return }
            // Audio that nobody can choose is nothing to tell of.
            effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        } catch {
            failItem(error.error(url: item?.url))
        }
    }

    /// The user's choice for media without a multivariant playlist.
    mutating func applyAudioInside() {
        do throws(UnmatchedWish) {
            guard try mediaSelection.selectAudioInside(wish: preferences.audio) else { return }
        } catch {
            let error = error.error(url: item?.url)
            return effects.append(.publish(.warning("\(item?.url ?? ""): \(error.cause)")))
        }
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        changeAudioInside()
    }

    /// Tells by what audio tracks inside segments are chosen, where that has changed.
    mutating func followAudioTrackRule() {
        // A lane that begins is told by whoever opens it.
        guard mediaSelection.updateAudioTrackRule(wish: preferences.audio), item?.lanes[.main] != nil else { return }
        effects.append(.chooseAudioTrack(mediaSelection.audioTrackRule))
    }

    /// There is more than one audio track inside the segments of the variant.
    var hasSeveralAudioTracks: Bool {
        (item?.contents.tracks[.main]?.count { $0.mediaType == .audio && !$0.isAuxiliary } ?? 0) > 1
    }
}
