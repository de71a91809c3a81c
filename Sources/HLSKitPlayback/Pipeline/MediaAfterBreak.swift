import HLSKitMedia

/// Media after a break that a renderer has already read.
///
/// It is presented if the break is cancelled or moves to a later time, because the store does not deliver it again. It
/// is dropped when the break starts, because the media is read again when the item resumes.
struct MediaAfterBreak {
    struct Unread {
        var item: SampleStore.Item
        /// Whether outputs for undecoded samples have received it.
        var isCopied: Bool

        fileprivate var isTrack: Bool { if case .track = item { true } else { false } }
        fileprivate var isSample: Bool { if case .sample = item { true } else { false } }
    }

    private(set) var media: [DecodedMedia] = []
    private(set) var copies: [HeldCopy] = []
    private(set) var unread: [Unread] = []
    private(set) var hasUnreadTrack = false

    /// The limit on decoded media: the largest number of frames or buffers that a decoder returns at once.
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

    /// Drops undecoded media that is presented from `time` on, because other media replaces it.
    ///
    /// - Parameter timescale: The timescale of samples before the first track.
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
        // Also remove a track that has no samples left.
        while place > 0, !unread[place - 1].isSample { place -= 1 }
        unread.removeSubrange(place...)
        hasUnreadTrack = unread.contains(where: \.isTrack)
    }

    mutating func forgetMedia() { media = [] }

    mutating func take() -> MediaAfterBreak {
        defer { self = MediaAfterBreak() }
        return self
    }
}
