import HLSPlaylist
import HLSTime

/// Other content that is played in the middle of an item: where, what, and where the item continues.
///
/// The semantics are those of `AVPlayerInterstitialEvent`. A playlist schedules events by date ranges, a program by setting
/// them; then those of the playlist are not played. See docs/behaviour/interstitials.md.
package struct InterstitialEvent: Sendable, Hashable, Identifiable {
    /// Where on the item's timeline an event begins.
    package enum Start: Sendable, Hashable {
        case time(MediaTime)
        /// Only in items with `EXT-X-PROGRAM-DATE-TIME`.
        case date(PlaylistDate)
    }

    /// Takes the place of ``InterstitialEvent/start``.
    package enum Cue: Sendable, Hashable {
        case noCue
        /// Before the item plays, wherever it begins; and each time it is played from its beginning again.
        case joinCue
        /// When the item was played to its end.
        case leaveCue
    }

    /// What is played.
    package enum Content: Sendable, Hashable {
        /// One after the other. Without any the event is over at once.
        case assets([InterstitialAsset])
        /// The absolute URL of a list of assets, which is asked for a while before the event begins.
        case assetList(String)
    }

    /// What a user must not do.
    package struct Restrictions: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A seek from before the event to behind it plays the event first.
        package static let constrainsSeekingForwardInPrimaryContent = Restrictions(rawValue: 1)
        /// Inside of the event nothing seeks forward, and no rate is above 1.
        package static let requiresPlaybackAtPreferredRateForAdvancement = Restrictions(rawValue: 2)
    }

    /// How much room an event has on the integrated timeline.
    package enum TimelineOccupancy: Sendable, Hashable {
        case singlePoint
        /// As much as it lasts.
        case fill
    }

    /// Tells the event from the others of the item. Of two with the same one the first counts.
    package var id: String
    package var start: Start
    package var cue = Cue.noCue
    package var content: Content
    /// Where the item continues, from the place where it stopped. Default 0: there. An indefinite one is as long as what was
    /// played, and in a live stream what was waited for.
    package var resumptionOffset = MediaTime.zero
    /// No more than this is played; nil (the default) for all of it.
    package var playoutLimit: MediaTime?
    package var restrictions: Restrictions = []
    /// Begins where a segment of the item begins or ends: where that is nearest.
    package var alignsStartWithPrimarySegmentBoundary = false
    /// The item continues where one of its segments begins.
    package var alignsResumptionWithPrimarySegmentBoundary = false
    /// Is not played again, wherever the playhead is moved to.
    package var willPlayOnce = false
    package var timelineOccupancy = TimelineOccupancy.singlePoint
    /// Is shown as a part of the item and not as something else.
    package var supplementsPrimaryContent = false
    /// Other viewers may get something else.
    package var contentMayVary = true
    /// How long it will last, as long as that is not known of what it plays; nil where nobody says.
    package var plannedDuration: Duration?
    /// When viewers may skip it; nil for never.
    package var skipControl: InterstitialSkipControl?
    /// Attributes of the date range that have no property here.
    package var userDefinedAttributes: [PlaylistAttribute] = []

    /// Makes an event that begins at an item time.
    package init(id: String, time: MediaTime, content: Content) {
        self.id = id
        start = .time(time)
        self.content = content
    }

    /// Makes an event that begins at a date.
    package init(id: String, date: PlaylistDate, content: Content) {
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
