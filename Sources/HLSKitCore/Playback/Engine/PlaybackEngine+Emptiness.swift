import HLSMedia

/// Items of which there is nothing to play: that is a failure, and no end.
///
/// Source: docs/behaviour/recording.md.
extension PlaybackEngine {
    /// So many segments without a track tell that there are none.
    private static let maximumTracklessSegments = 3

    /// Why there was nothing to present of an item that is loaded; nil where there was something, or nothing was asked for.
    func whatIsMissing(of item: ItemState) -> PlayerError? {
        if !item.hasMedia {
            if let loss = item.lastLoss { return loss }
            guard statistics.numberOfSkippedSegments > 0 else { return nil }
            return PlayerError(code: .badMedia, url: item.url, cause: "every segment is missing")
        }
        guard item.tracklessCount > 0, !item.hasTracks else { return nil }
        return Self.nothingPlayable(at: item.url)
    }

    /// A segment was read to its end and named no track.
    mutating func noteTrackless(_ segment: SegmentID) {
        guard segment.lane != .subtitles, item?.trick == nil, item?.hasTracks == false else { return }
        item?.tracklessCount += 1
        guard item?.tracklessCount == Self.maximumTracklessSegments else { return }
        let url = item?.lanes[segment.lane]?.segments[segment]?.job.url
        failUnsupported(Self.nothingPlayable(at: url ?? item?.url ?? ""), in: segment.lane)
    }

    private static func nothingPlayable(at url: String) -> PlayerError {
        PlayerError(
            code: .badMedia, url: url, cause: "nothing in it can be played",
            detail: "no track of a known kind")
    }
}

extension ItemState {
    /// Some lane has told of pictures or sound.
    fileprivate var hasTracks: Bool { tracks.values.contains { !$0.isEmpty } }
}
