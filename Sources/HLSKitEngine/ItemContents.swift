import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection

/// What was found in an item so far. One of which there is nothing to play has failed, and is not at its end.
///
/// Source: docs/behaviour/recording.md.
package struct ItemContents: Sendable {
    /// This many segments without a track tell that there are none.
    private static let maximumTracklessSegments = 3

    /// The tracks that came last, by lane.
    @Shared package private(set) var tracks: [LaneID: [MediaTrack]] = [:]
    /// Whether any media was handed on.
    private(set) var hasPresentable = false
    /// Whether any segment of pictures or sound could be read, be it in part.
    private(set) var hasMedia = false
    /// Why the segment was skipped that was skipped last.
    @Shared private(set) var lastLoss: HLSError? = nil
    /// Segments that were read and named no track, while none has.
    private var tracklessCount = 0

    /// Some lane has told of pictures or sound.
    private var hasTracks: Bool { tracks.values.contains { !$0.isEmpty } }

    mutating func notePresentable() { hasPresentable = true }
    mutating func noteMedia() { hasMedia = true }
    mutating func noteLoss(_ error: HLSError) { lastLoss = error }

    mutating func note(_ tracks: [MediaTrack], of lane: LaneID) {
        if self.tracks[lane] != tracks { self.tracks[lane] = tracks }
    }

    /// A segment was read to its end and named no track.
    ///
    /// - Returns: the error, once there were too many of them.
    mutating func noteTrackless(url: String) -> HLSError? {
        guard !hasTracks else { return nil }
        tracklessCount += 1
        return tracklessCount == Self.maximumTracklessSegments ? Self.nothingPlayable(at: url) : nil
    }

    /// Why there was nothing to present of an item that is loaded; nil where there was something, or nothing was asked for.
    func whatIsMissing(of url: String, hasSkipped: Bool) -> HLSError? {
        if !hasMedia {
            if let lastLoss { return lastLoss }
            return hasSkipped ? HLSError(code: .badMedia, urlString: url, cause: "every segment is missing") : nil
        }
        return tracklessCount > 0 && !hasTracks ? Self.nothingPlayable(at: url) : nil
    }

    private static func nothingPlayable(at url: String) -> HLSError {
        HLSError(
            code: .badMedia, urlString: url, cause: "nothing in it can be played", detail: "no track of a known kind")
    }
}
