import HLSKitMedia

/// Kinds of media that are switched on and off, as ``TrackSwitches`` knows them.
extension PlaybackEngine {
    /// Playing goes on, and does not wait for what is switched on.
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

    /// Lets the frames rest, or come back, where that follows from what is switched off and from what is loaded.
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
            // With the lane its initialization section and keys go.
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

    /// Without the media of these lanes nothing is played, but for frames that are not there on purpose.
    mutating func requireTracks(_ tracks: ForwardBuffer.Tracks) {
        let hasFrames = item?.lanes[.main]?.isRequired != false || item?.lanes[.audio] == nil
        buffer.setRequiredTracks(hasFrames ? tracks : tracks.subtracting(.video))
    }
}
