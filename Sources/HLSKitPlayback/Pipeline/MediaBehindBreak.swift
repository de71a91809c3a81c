import HLSKitMedia

/// A sample that outputs take undecoded, and when.
struct HeldCopy {
    var sample: MediaSample
    var timing: CopySelection.Timing
    /// From the times of the track to those of the item.
    var offset: Duration
}

/// What a renderer has read of behind a break: it is presented if the break is called off, or is later.
///
/// The store does not give it twice. It is let go of where the break is entered: when the item resumes, its media is read
/// once more.
struct MediaBehindBreak {
    /// What was read and not looked at.
    struct Unread {
        var item: SampleStore.Item
        /// Outputs that take samples undecoded have had it.
        var isCopied: Bool

        fileprivate var isTrack: Bool { if case .track = item { true } else { false } }
        fileprivate var isSample: Bool { if case .sample = item { true } else { false } }
    }

    /// Decoded, in the order in which it came.
    private(set) var media: [DecodedMedia] = []
    private(set) var copies: [HeldCopy] = []
    private(set) var unread: [Unread] = []
    /// What comes is of a track that nobody was told of.
    private(set) var hasUnreadTrack = false

    /// So much decoded media is kept: as many as a decoder may give at once.
    private static let mostMedia = 16

    var hasRoomForMedia: Bool { media.count < Self.mostMedia }

    mutating func keep(_ new: DecodedMedia) {
        if hasRoomForMedia { media.append(new) }
    }

    mutating func keep(_ copy: HeldCopy) { copies.append(copy) }

    mutating func keep(_ item: SampleStore.Item, isCopied: Bool = false) {
        if case .track = item { hasUnreadTrack = true }
        unread.append(Unread(item: item, isCopied: isCopied))
    }

    /// Forgets what was not decoded and is presented from `time` on: other media comes in its place.
    ///
    /// - Parameter timescale: of the samples before the first track.
    mutating func truncate(from time: Duration, timescale: Int32) {
        let from = time - SampleStore.truncationTolerance
        if let place = copies.firstIndex(where: { $0.timing.presentation >= from }) {
            copies.removeSubrange(place...)
        }
        var timescale = timescale
        let place = unread.firstIndex { entry in
            switch entry.item {
            case .track(let start): timescale = start.track.timescale
            case .sample(let sample, let offset):
                return ItemTimeline.duration(sample.pts, timescale) + offset >= from
            case .skipped, .end: break
            }
            return false
        }
        guard var place else { return }
        // A track of which nothing is left.
        while place > 0, !unread[place - 1].isSample { place -= 1 }
        unread.removeSubrange(place...)
        hasUnreadTrack = unread.contains(where: \.isTrack)
    }

    /// What was decoded has no use any more.
    mutating func forgetMedia() { media = [] }

    /// All of it, and keeps nothing.
    mutating func take() -> MediaBehindBreak {
        defer { self = MediaBehindBreak() }
        return self
    }
}
