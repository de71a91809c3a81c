import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection

extension ItemState {
    /// The media found in an item so far. An item without playable media fails instead of ending.
    package struct ItemContents: Sendable {
        private static let maximumTracklessSegments = 3

        @Shared package private(set) var tracks: [LaneID: [MediaTrack]] = [:]
        /// Whether any media was passed to outputs.
        private(set) var hasPresentable = false
        /// Whether any audio or video segment was readable, at least in part.
        private(set) var hasMedia = false
        @Shared private(set) var lastLoss: HLSError? = nil
        private var tracklessCount = 0

        private var hasTracks: Bool { tracks.values.contains { !$0.isEmpty } }

        mutating func notePresentable() { hasPresentable = true }
        mutating func noteMedia() { hasMedia = true }
        mutating func noteLoss(_ error: HLSError) { lastLoss = error }

        mutating func note(_ tracks: [MediaTrack], of lane: LaneID) {
            if self.tracks[lane] != tracks { self.tracks[lane] = tracks }
        }

        /// Notes a segment without tracks that was read to its end.
        ///
        /// - Returns: The error, once there are too many such segments.
        mutating func noteTrackless(url: String) -> HLSError? {
            guard !hasTracks else { return nil }
            tracklessCount += 1
            return tracklessCount == Self.maximumTracklessSegments ? Self.nothingPlayable(at: url) : nil
        }

        /// Returns why nothing of a loaded item can be presented, or nil if something can.
        ///
        /// The result is also nil if nothing was requested.
        func missingFailure(of url: String, hasSkipped: Bool) -> HLSError? {
            if !hasMedia {
                if let lastLoss { return lastLoss }
                return hasSkipped ? HLSError(code: .badMedia, urlString: url, cause: "every segment is missing") : nil
            }
            return tracklessCount > 0 && !hasTracks ? Self.nothingPlayable(at: url) : nil
        }

        private static func nothingPlayable(at url: String) -> HLSError {
            HLSError(
                code: .badMedia, urlString: url, cause: "nothing in it can be played",
                detail: "no track of a known kind")
        }
    }
}

// MARK: - Timelines

/// Identifies a mapping to the item's timeline. There is one for each discontinuity sequence and epoch of the playlist.
struct TimelineKey: Hashable, Sendable {
    var epoch: Int
    var discontinuity: Int
    /// The number of times that the timeline closed up because segments were missed.
    var shift: Int
}

extension ItemState {
    /// Numbers the mappings of an item's media to its timeline.
    struct TimelineNumbers: Sendable {
        private var numbers: [TimelineKey: Int] = [:]
        private var shift = 0

        func key(at index: Int, in tracker: PlaylistTracker) -> TimelineKey {
            TimelineKey(epoch: tracker.epoch, discontinuity: tracker.discontinuity(at: index), shift: shift)
        }

        mutating func number(of key: TimelineKey) -> Int {
            if let number = numbers[key] { return number }
            let number = numbers.count
            numbers[key] = number
            return number
        }

        mutating func closeUp() { shift += 1 }
    }
}
