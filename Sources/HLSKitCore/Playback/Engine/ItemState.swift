import HLSPlaylist
import HLSTime

/// An item as it is given to an engine.
struct EngineItem: Sendable, Hashable {
    var url: String
}

/// What an engine knows of its current item.
struct ItemState: Sendable {
    let url: String
    /// nil for a media playlist that was opened directly.
    var multivariant: MultivariantPlaylist?
    var multivariantURL: String?
    /// Position of the chosen variant in the multivariant playlist.
    var variantIndex: Int?
    var variant: VariantDescription?
    var candidates: [VariantCandidate] = []
    /// Variants whose media turned out not to be playable here.
    var unplayableVariants: Set<Int> = []
    var audibleOption: VariantCandidate.AudioOption?
    /// The start of the segment that the rule was asked for last.
    var decidedFor: Duration?
    /// What the rule said then: load only when no more than this is ahead.
    var maximumForwardBuffer: Duration?
    /// The variants that the rule can choose from, lowest `BANDWIDTH` first.
    var choice: [VariantCandidate] = []
    /// What was loaded from the variant in use.
    var loadedBytes = 0
    var loadedDuration = Duration.zero
    var lanes = MediaLanes()
    /// Media playlists that were loaded before, by URL: a VOD variant that was left is taken up again without I/O.
    var knownPlaylists: [String: KnownPlaylist] = [:]
    /// The item time at which playing starts; nil until a playlist tells.
    var start: Duration?
    /// Media before this item time is not presented.
    var startWindow: Duration?
    var forwardEnd: Duration?
    /// The playlist of the variant that was left last, until its successor is laid beside it.
    var previousTracker: PlaylistTracker?
    /// Where the media really ends, once all of it was presented.
    var mediaEnd: Duration?
    /// Unpaced: what outputs have taken.
    var presentedUpTo: Duration?
    var isReady = false
    var hasPlayed = false
    var error: PlayerError?
    /// Loading cannot go on; the item fails when what was loaded is played.
    var pendingFailure: PlayerError?
    /// Numbers of the mappings to the item's timeline.
    var timelines: [TimelineKey: Int] = [:]
    var timelineShift = 0
    /// When something new was last seen in any playlist.
    var lastNewSegment = Duration.zero
    var lastStuckNotice = Duration.zero
    /// Whether any media was handed on.
    var hasPresentable = false

    /// Where the user's credentials may go, and those that the URL itself carried (R60).
    let credentialOrigins: Set<Origin>
    let authorization: HTTPField?

    init(url: String) {
        self.url = url
        credentialOrigins = Set([Origin(of: url)].compactMap(\.self))
        authorization = (try? HTTPURL(url))?.basicAuthorization
    }

    var isLive: Bool { lanes[.main]?.tracker?.isLive ?? false }
    var requiredLanes: [MediaLane] { lanes.values.filter(\.isRequired) }
    /// No further media will be loaded.
    var isComplete: Bool { !lanes.isEmpty && requiredLanes.allSatisfy(\.isComplete) }
    /// All media was presented.
    var isDrained: Bool { isComplete && requiredLanes.allSatisfy { $0.drainedEnd != nil } }
}

/// A media playlist that was loaded, with the URL that answered.
struct KnownPlaylist: Sendable {
    var playlist: MediaPlaylist
    var url: String
}
