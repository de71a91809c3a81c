public import HLSKitPlaylist
public import HLSKitTime

/// Other content that plays within an item, such as advertising.
///
/// The semantics follow `AVPlayerInterstitialEvent`. A playlist schedules events with date ranges. If your app sets
/// events, they replace the playlist's events. See <doc:Interstitials>.
public struct InterstitialEvent: Sendable, Hashable, Identifiable {
    /// The position on the item's timeline at which an event begins.
    public enum Start: Sendable, Hashable {
        /// An item time.
        case time(MediaTime)
        /// A date, in an item with `EXT-X-PROGRAM-DATE-TIME`.
        case date(PlaylistDate)
    }

    /// A position at the start or end of an item, which overrides ``InterstitialEvent/start``.
    public enum Cue: Sendable, Hashable {
        /// The event begins at its ``InterstitialEvent/start``.
        case noCue
        /// The event begins before the item, and again whenever the item restarts from its beginning.
        ///
        /// The position at which playback starts does not matter.
        case joinCue
        /// The event begins after the item has played to its end.
        case leaveCue
    }

    /// The content of an event.
    public enum Content: Sendable, Hashable {
        /// Assets that play one after another. An event without assets ends at once.
        case assets([InterstitialAsset])
        /// The absolute URL of an asset list, which is requested shortly before the event begins.
        case assetList(String)
    }

    /// Actions that the user is not allowed to perform.
    public struct Restrictions: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A seek from before the event to a position after it plays the event first.
        public static let constrainsSeekingForwardInPrimaryContent = Restrictions(rawValue: 1)
        /// The user cannot seek forward within the event, or play it at a rate above 1.
        public static let requiresPlaybackAtPreferredRateForAdvancement = Restrictions(rawValue: 2)
    }

    /// The state of an event that decides whether the user may skip it.
    public enum SkippableEventState: String, Sendable, Hashable, Codable {
        /// The event has no skip control, or no event is playing.
        case notSkippable
        /// The user may skip the event later.
        case notYetEligible
        case eligible
        /// The user may no longer skip the event.
        case noLongerEligible
    }

    /// The way an event ended.
    public enum Outcome: String, Sendable, Hashable, Codable {
        /// The event played to its end or its limit, or its server had nothing to play.
        case played
        /// The event played without some assets, which were unavailable.
        case playedInPart
        /// The event was skipped with ``InterstitialEventController/skipCurrentEvent()``.
        case skipped
        /// The event was cancelled with ``InterstitialEventController/cancelCurrentEvent(withResumptionOffset:)``.
        case cancelled
        /// The user sought to another position, or moved to another item.
        case left
        /// Nothing of the event could be played, because its list or its assets were unavailable.
        case failed
    }

    /// The state of an event's asset list.
    public enum AssetListStatus: String, Sendable, Hashable, Codable {
        /// The list was requested.
        case requested
        case available
        /// The event has ended. If it comes up again, its list is requested again.
        case cleared
        /// The list is unavailable or invalid.
        case unavailable
    }

    /// The space that an event occupies on the integrated timeline.
    public enum TimelineOccupancy: Sendable, Hashable {
        /// A single point.
        case singlePoint
        /// The duration of the event.
        case fill
    }

    /// The identifier of the event in its item.
    ///
    /// If two events share an identifier, the first event takes precedence.
    public var id: String
    /// The position on the item's timeline at which the event begins.
    ///
    /// It has no effect if ``cue`` is set.
    public var start: Start
    /// A position at the start or end of the item.
    ///
    /// The default is ``Cue/noCue``.
    public var cue = Cue.noCue
    /// The content that the event plays.
    public var content: Content
    /// The distance between the position where the item stopped and the position where it continues.
    ///
    /// The default is 0. If the value is indefinite, the distance is the played time and, in a live stream, also the
    /// time spent waiting.
    public var resumptionOffset = MediaTime.zero
    /// The longest time that the event plays, or `nil` (the default) for all of its content.
    public var playoutLimit: MediaTime?
    /// The actions that the user is not allowed to perform.
    ///
    /// By default, all actions are allowed.
    public var restrictions: Restrictions = []
    /// A Boolean value that indicates whether the event begins at the nearest segment boundary of the item.
    ///
    /// The default is `false`.
    public var alignsStartWithPrimarySegmentBoundary = false
    /// A Boolean value that indicates whether the item continues at a segment boundary.
    ///
    /// The default is `false`.
    public var alignsResumptionWithPrimarySegmentBoundary = false
    /// A Boolean value that indicates whether the event plays only once, even if the user seeks.
    ///
    /// The default is `false`.
    public var willPlayOnce = false
    /// The space that the event occupies on the integrated timeline.
    ///
    /// The default is ``TimelineOccupancy/singlePoint``.
    public var timelineOccupancy = TimelineOccupancy.singlePoint
    /// A Boolean value that indicates whether the event is presented as part of the item.
    ///
    /// The default is `false`.
    public var supplementsPrimaryContent = false
    /// A Boolean value that indicates whether other viewers may get different content.
    ///
    /// The default is `true`.
    public var contentMayVary = true
    /// The expected duration until the duration of the content is known, or `nil` if it is unknown.
    public var plannedDuration: Duration?
    /// The time in which viewers may skip the event, or `nil` if they may not.
    public var skipControl: InterstitialSkipControl?
    /// The attributes of the date range that have no property here.
    public var userDefinedAttributes: [PlaylistAttribute] = []

    /// Creates an event that begins at an item time.
    public init(id: String, time: MediaTime, content: Content) {
        self.id = id
        start = .time(time)
        self.content = content
    }

    /// Creates an event that begins at a date.
    public init(id: String, date: PlaylistDate, content: Content) {
        self.id = id
        start = .date(date)
        self.content = content
    }
}

extension InterstitialEvent {
    /// Longer times are limited to this value, so that sums of them do not overflow.
    static let longest = Duration.seconds(1_000_000_000)

    /// The resumption offset, or nil if it follows from the played time.
    var fixedOffset: Duration? {
        if resumptionOffset.isPositiveInfinity { return Self.longest }
        if resumptionOffset.isNegativeInfinity { return .zero - Self.longest }
        return resumptionOffset.duration.map { min(max($0, .zero - Self.longest), Self.longest) }
    }

    var limit: Duration? { playoutLimit?.duration.map { min(max($0, .zero), Self.longest) } }

    /// Returns the expected duration, or nil if it is unknown.
    ///
    /// - Parameter known: The duration according to the asset list.
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
    var length: Duration? {
        var sum = Duration.zero
        for asset in self {
            guard let duration = asset.duration else { return nil }
            sum += Swift.min(Swift.max(duration, .zero), InterstitialEvent.longest)
        }
        return sum
    }
}
