import HLSKitLoading
import HLSKitMedia
import HLSKitSelection

/// Audio tracks inside segments, offered as options of the audible group.
///
/// If the playlist names audio, only that is offered. Otherwise each audio track of the segments is an option. A track
/// selected during playback is loaded in addition to the current one, so that playback does not wait for it.
extension PlaybackEngine {
    /// Called when the tracks of the variant's segments are known.
    mutating func offerAudio(_ tracks: [MediaTrack]) {
        guard item != nil, item?.error == nil else { return }
        do throws(UnmatchedWish) {
            let isChoice = try mediaSelection.offer(
                audio: tracks, wish: preferences.audio, canDecode: configuration.canDecode)
            guard isChoice else { return }
            // Without a choice of audio, there is nothing to report.
            effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        } catch {
            failItem(error.error(url: item?.url))
        }
    }

    /// Applies the user's choice if there is no multivariant playlist.
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

    /// Reports the rule for choosing audio tracks inside segments, if it has changed.
    mutating func followAudioTrackRule() {
        // A new lane gets the rule when it is opened.
        guard mediaSelection.updateAudioTrackRule(wish: preferences.audio), item?.lanes[.main] != nil else { return }
        effects.append(.chooseAudioTrack(mediaSelection.audioTrackRule))
    }

    var hasSeveralAudioTracks: Bool {
        (item?.contents.tracks[.main]?.count { $0.mediaType == .audio && !$0.isAuxiliary } ?? 0) > 1
    }
}
