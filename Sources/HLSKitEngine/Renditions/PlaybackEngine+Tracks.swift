import HLSKitMedia

/// Enabling and disabling media types, as ``TrackSwitches`` tracks them.
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

    /// Suspends or resumes video loading, depending on the disabled types and the buffered media.
    mutating func followTracks() {
        guard item?.tracks.disabled.isEmpty == false || item?.lanes[.main]?.isRequired == false, item?.trick == nil,
            item?.error == nil, item?.pendingFailure == nil, item?.isSoundOnly == false
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
            item?.lanes[.main]?.stay(.resting)
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
