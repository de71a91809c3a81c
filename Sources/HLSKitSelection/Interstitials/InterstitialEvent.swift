public import HLSKitPlaylist
public import HLSKitTime

/// Other content that is played in the middle of an item: where, what, and where the item continues.
///
/// The semantics are those of `AVPlayerInterstitialEvent`. A playlist schedules events by date ranges, a program by setting
/// them; then those of the playlist are not played. See docs/behaviour/interstitials.md.
public struct InterstitialEvent: Sendable, Hashable, Identifiable {
    /// Where on the item's timeline an event begins.
    public enum Start: Sendable, Hashable {
        /// An item time.
        case time(MediaTime)
        /// Only in items with `EXT-X-PROGRAM-DATE-TIME`.
        case date(PlaylistDate)
    }

    /// Takes the place of ``InterstitialEvent/start``.
    public enum Cue: Sendable, Hashable {
        /// Where it begins is said by ``InterstitialEvent/start``.
        case noCue
        /// Before the item plays, wherever it begins; and each time it is played from its beginning again.
        case joinCue
        /// When the item was played to its end.
        case leaveCue
    }

    /// What is played.
    public enum Content: Sendable, Hashable {
        /// One after the other. Without any the event is over at once.
        case assets([InterstitialAsset])
        /// The absolute URL of a list of assets, which is asked for a while before the event begins.
        case assetList(String)
    }

    /// What a user must not do.
    public struct Restrictions: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        /// Makes a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A seek from before the event to behind it plays the event first.
        public static let constrainsSeekingForwardInPrimaryContent = Restrictions(rawValue: 1)
        /// Inside of the event nothing seeks forward, and no rate is above 1.
        public static let requiresPlaybackAtPreferredRateForAdvancement = Restrictions(rawValue: 2)
    }

    /// Whether the user may skip the event that plays.
    public enum SkippableEventState: String, Sendable, Hashable, Codable {
        /// It has nothing to skip it by, or no event plays.
        case notSkippable
        /// A moment later.
        case notYetEligible
        case eligible
        /// No more.
        case noLongerEligible
    }

    /// How an event came to its end.
    public enum Outcome: String, Sendable, Hashable, Codable {
        /// It was played to its end, or to its limit; what its server has nothing for, too.
        case played
        /// Some of its assets could not be played, and were left out.
        case playedInPart
        /// ``InterstitialEventController/skipCurrentEvent()``.
        case skipped
        /// ``InterstitialEventController/cancelCurrentEvent(withResumptionOffset:)``.
        case cancelled
        /// The user went elsewhere, or to another item.
        case left
        /// Nothing of it could be played: its list or its assets did not come.
        case failed
    }

    /// What is known of the list of what an event plays.
    public enum AssetListStatus: String, Sendable, Hashable, Codable {
        /// It was asked for.
        case requested
        case available
        /// The event is over; the next time that it comes its list is asked for again.
        case cleared
        /// There is none, or it is not a list.
        case unavailable
    }

    /// How much room an event has on the integrated timeline.
    public enum TimelineOccupancy: Sendable, Hashable {
        /// None: it is a point.
        case singlePoint
        /// As much as it lasts.
        case fill
    }

    /// Tells the event from the others of the item. Of two with the same one the first counts.
    public var id: String
    /// Where it begins on the item's timeline; of no meaning with a ``cue``.
    public var start: Start
    /// Default ``Cue/noCue``.
    public var cue = Cue.noCue
    /// What is played.
    public var content: Content
    /// Where the item continues, from the place where it stopped. Default 0: there. An indefinite one is as long as what was
    /// played, and in a live stream what was waited for.
    public var resumptionOffset = MediaTime.zero
    /// No more than this is played; nil (the default) for all of it.
    public var playoutLimit: MediaTime?
    /// What a user must not do. Default: nothing is forbidden.
    public var restrictions: Restrictions = []
    /// Begins where a segment of the item begins or ends: where that is nearest.
    public var alignsStartWithPrimarySegmentBoundary = false
    /// The item continues where one of its segments begins.
    public var alignsResumptionWithPrimarySegmentBoundary = false
    /// Is not played again, wherever the playhead is moved to.
    public var willPlayOnce = false
    /// Default ``TimelineOccupancy/singlePoint``.
    public var timelineOccupancy = TimelineOccupancy.singlePoint
    /// Is shown as a part of the item and not as something else.
    public var supplementsPrimaryContent = false
    /// Other viewers may get something else.
    public var contentMayVary = true
    /// How long it will last, as long as that is not known of what it plays; nil where nobody says.
    public var plannedDuration: Duration?
    /// When viewers may skip it; nil for never.
    public var skipControl: InterstitialSkipControl?
    /// Attributes of the date range that have no property here.
    public var userDefinedAttributes: [PlaylistAttribute] = []

    /// Makes an event that begins at an item time.
    public init(id: String, time: MediaTime, content: Content) {
        self.id = id
        start = .time(time)
        self.content = content
    }

    /// Makes an event that begins at a date.
    public init(id: String, date: PlaylistDate, content: Content) {
        self.id = id
        start = .date(date)
        self.content = content
    }
}

extension InterstitialEvent {
    /// Longer times are cut: sums of any number of them are times, too.
    static let longest = Duration.seconds(1_000_000_000)

    /// nil where it follows from what was played.
    var fixedOffset: Duration? {
        if resumptionOffset.isPositiveInfinity { return Self.longest }
        if resumptionOffset.isNegativeInfinity { return .zero - Self.longest }
        return resumptionOffset.duration.map { min(max($0, .zero - Self.longest), Self.longest) }
    }

    /// nil where all of it is played.
    var limit: Duration? { playoutLimit?.duration.map { min(max($0, .zero), Self.longest) } }

    /// How long it is expected to last; nil where nothing tells.
    ///
    /// - Parameter known: what its list says.
    func length(_ known: Duration?) -> Duration? {
        guard let length = known ?? ownLength ?? plannedDuration else { return nil }
        return min(max(length, .zero), limit ?? Self.longest)
    }

    private var ownLength: Duration? {
        guard case .assets(let assets) = content else { return nil }
        return assets.length
    }
}

extension [InterstitialAsset] {
    /// nil where the length of one is not known.
    var length: Duration? {
        var sum = Duration.zero
        for asset in self {
            guard let duration = asset.duration else { return nil }
            sum += Swift.min(Swift.max(duration, .zero), InterstitialEvent.longest)
        }
        return sum
    }
}
