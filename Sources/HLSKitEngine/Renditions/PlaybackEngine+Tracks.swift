package import HLSKitCaptions
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    /// Enables or disables a media type. Playback continues without waiting for an enabled type.
    mutating func setTrack(_ type: MediaKind, isEnabled: Bool) {
        guard let isKnown = item?.tracks.isEnabled(type), isKnown != isEnabled else { return }
        item?.tracks.set(type, isEnabled: isEnabled)
        effects.append(.followTracks)
        guard item?.error == nil, item?.pendingFailure == nil, item?.trick == nil else { return }
        switch type {
        case .text: switchSubtitles()
        case .audio: switchAudio()
        case .video, .metadata: break
        }
    }

    mutating func followTracks() {
        guard item?.tracks.disabled.isEmpty == false || item?.lanes[.main]?.isRequired == false, item?.trick == nil,
            item?.error == nil, item?.pendingFailure == nil, item?.isAudioOnly == false
        else { return }
        while let step = trackStep { carryOut(step) }
    }

    private var trackStep: TrackSwitches.Step? {
        guard let lane = item?.lanes[.main] else { return nil }
        let situation = situation()
        return item?.tracks.step(
            TrackSwitches.Facts(
                frames: lane.presence, areFramesComplete: lane.isComplete,
                hasSeparateAudio: item?.lanes[.audio] != nil,
                framesAhead: buffer.forwardDuration(of: .video, situation),
                audioAhead: buffer.forwardDuration(of: .audio, situation)))
    }

    private mutating func carryOut(_ step: TrackSwitches.Step) {
        switch step {
        case .rest:
            endLate(.main)
            for flight in (item?.lanes[.main]?.segments ?? SegmentWindow()).reversed() { cancel(flight) }
            // The initialization section and keys are dropped along with the lane.
            cancelRequests { if case .resource(_, .main) = $0 { true } else { false } }
            item?.resources.forgetAll(of: .main)
            let playhead = playhead
            item?.lanes[.main]?.begin(.jump(loadedEnd: playhead), at: nil)
            item?.lanes[.main]?.stay(.idle)
            buffer.removeAll(in: .video)
            effects.append(.clearLane(.main))
            becomeReady()
        case .join:
            guard item?.start != nil, let place = item?.lanes[.main]?.place(afterJumpTo: playhead) else {
                item?.lanes[.main]?.stay(.required)
                break
            }
            item?.lanes[.main]?.begin(.jump(loadedEnd: place.loadedEnd), at: place.cursor)
            item?.lanes[.main]?.stay(.joining)
            item?.extent.reopen()
            effects.append(.take([.video, .text, .metadata], of: .main, from: .exact(playhead)))
            followPlaylist(of: .main)
        case .require: item?.lanes[.main]?.stay(.required)
        }
        requireTracks(item?.lanes[.audio] == nil ? .video : [.video, .audio])
    }

    /// Sets the tracks that playback cannot do without. Video is left out while it is suspended.
    mutating func requireTracks(_ tracks: ForwardBuffer.Tracks) {
        let hasFrames = item?.lanes[.main]?.isRequired != false || item?.lanes[.audio] == nil
        buffer.setRequiredTracks(hasFrames ? tracks : tracks.subtracting(.video))
    }
}

// MARK: - Audio inside segments

/// Audio tracks inside segments, offered as options of the audible group.
///
/// If the playlist names audio, only that is offered. Otherwise each audio track of the segments is an option. A track
/// selected during playback is loaded in addition to the current one, so that playback does not wait for it.
extension PlaybackEngine {
    mutating func offerAudio(_ tracks: [MediaTrack]) {
        guard item != nil, item?.error == nil else { return }
        do throws(UnmatchedPreference) {
            let isChoice = try mediaSelection.offer(
                audio: tracks, preference: preferences.audio, canDecode: configuration.canDecode)
            guard isChoice else { return }
            // Without a choice of audio, there is nothing to report.
            effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        } catch {
            failItem(error.error(url: item?.url))
        }
    }

    /// Applies the user's choice if there is no multivariant playlist.
    mutating func applyAudioInside() {
        do throws(UnmatchedPreference) {
            guard try mediaSelection.selectAudioInside(preference: preferences.audio) else { return }
        } catch {
            let error = error.error(url: item?.url)
            return effects.append(.publish(.warning("\(item?.url ?? ""): \(error.cause)")))
        }
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        changeAudioInside()
    }

    mutating func followAudioTrackRule() {
        // A new lane gets the rule when it is opened.
        guard mediaSelection.updateAudioTrackRule(preference: preferences.audio), item?.lanes[.main] != nil else {
            return
        }
        effects.append(.chooseAudioTrack(mediaSelection.audioTrackRule))
    }

    var hasSeveralAudioTracks: Bool {
        (item?.contents.tracks[.main]?.count { $0.mediaType == .audio && !$0.isAuxiliary } ?? 0) > 1
    }
}

// MARK: - Closed captions

/// Closed captions inside the video, offered as options of the legible group.
///
/// If the playlist names closed captions, only those are offered. Otherwise each service with text in the video becomes
/// an option, unless the playlist says `CLOSED-CAPTIONS=NONE`. Such options are named `CC1` or `SERVICE1`, have no
/// language, and are never selected automatically.
///
/// Source: RFC 8216 §4.3.4.1, §4.3.4.2.
extension PlaybackEngine {
    package var closedCaptionService: ClosedCaptionService? {
        guard item?.tracks.isEnabled(.text) == true else { return nil }
        return mediaSelection.closedCaptionService(in: item?.closedCaptionGroup)
    }

    mutating func offerClosedCaptions(_ services: Set<ClosedCaptionService>) {
        guard item != nil, item?.error == nil,
            case .options(let isWanted) = mediaSelection.offer(services, addingTo: item?.multivariant)
        else { return }
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
        if isWanted { applyMediaSelection() }
    }

    /// Applies the user's choice for media without a multivariant playlist, which has no other options.
    mutating func applyClosedCaptions() {
        guard mediaSelection.selectClosedCaptions(preference: preferences.subtitles) else { return }
        effects.append(.clearLane(.subtitles))
        effects.append(.publish(.mediaSelectionChanged(mediaSelection.current)))
    }

    // MARK: Captions of the app

    mutating func setSidecarCaptions(_ sidecars: [SidecarCaptions]) {
        let before = mediaSelection.selectedSidecar
        changeMediaSelection { $0.setSidecars(sidecars) }
        // The option is the same, but it shows other captions.
        guard item != nil, let before, let now = mediaSelection.selectedSidecar, now != before else { return }
        effects.append(.clearLane(.subtitles))
    }
}

extension ItemState {
    fileprivate var closedCaptionGroup: String? {
        guard let index = variantIndex, let variants = multivariant?.variants, variants.indices.contains(index),
            case .group(let name)? = variants[index].closedCaptions
        else { return nil }
        return name
    }
}
