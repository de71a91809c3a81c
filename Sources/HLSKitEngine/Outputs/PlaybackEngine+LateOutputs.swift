import HLSKitMedia

/// Outputs that are added late. ``LateOutputs`` decides which media is loaded again for them.
extension PlaybackEngine {
    /// - Parameter besideOthers: Whether other media types of the lane already have outputs.
    mutating func takeLate(_ kinds: Set<MediaKind>, of id: LaneID, besideOthers: Bool) {
        guard id != .subtitles, let facts = lateFacts(of: id), LateOutputs.areTooLate(facts) else {
            return effects.append(.take(kinds, of: id, from: nil))
        }
        item?.lanes[id]?.takeLate(kinds, keepsOthers: besideOthers)
        goBackForLate(id)
    }

    mutating func goBackForLate(_ id: LaneID) {
        guard let facts = lateFacts(of: id), let back = item?.lanes[id]?.goBackForLate(facts) else { return }
        for flight in (item?.lanes[id]?.segments ?? SegmentWindow()).reversed() { cancel(flight) }
        let isReopened = item?.lanes[id]?.begin(.late, at: back.cursor) ?? false
        buffer.removeMedia(before: back.start, in: id.bufferTrack)
        effects.append(.take(back.kinds, of: id, from: .exact(facts.playhead)))
        guard isReopened else { return }
        item?.extent.reopen()
        effects.append(.reopenLane(id))
        followPlaylist(of: id)
    }

    /// Called when the lane has reached its earlier position, or restarts at another one.
    mutating func endLate(_ id: LaneID) {
        guard item?.lanes[id]?.late != nil else { return }
        guard let kinds = item?.lanes[id]?.endLate() else { return }
        effects.append(.take(kinds, of: id, from: nil))
    }

    /// Whether media is being loaded again for a late output. Until it ends, outputs differ in the media they have.
    var isLoadingForLate: Bool { LaneID.allCases.contains { item?.lanes[$0]?.late != nil } }

    private func lateFacts(of id: LaneID) -> LateOutputs.Facts? {
        guard let lane = item?.lanes[id] else { return nil }
        let isPlaying =
            configuration.pacing == .realTime && item?.start != nil && item?.trick == nil && item?.error == nil
            && item?.pendingFailure == nil
        return LateOutputs.Facts(lane, isPlaying: isPlaying, playhead: playhead)
    }
}
