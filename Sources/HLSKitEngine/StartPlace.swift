import FoundationEssentials
package import HLSKitLoading
import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

/// Where an item begins to play.
package struct StartPlace: Sendable, Hashable {
    private(set) var start: Duration
    /// Media before this item time is not presented; nil where the start is the beginning of a segment.
    private(set) var window: Duration?
    /// Where the part begins that is loaded first, if that is the distance from the edge of playing by parts.
    private(set) var partStart: Duration?
    /// It is the distance from the edge of playing by parts.
    var isAtEdge: Bool { partStart != nil }

    /// - Parameters:
    ///   - tag: `EXT-X-START`, of the media playlist or else of the multivariant one.
    ///   - liveOffset: the distance from the live edge at which to play.
    ///   - lead: how much nearer playing by parts starts.
    init(
        in tracker: PlaylistTracker, preferences: PlayerItemPreferences, tag: StartPoint?, liveOffset: Duration,
        lead: Duration = .zero
    ) {
        let (first, end) = (tracker.start, tracker.end)
        func boundary(at time: Duration) -> Duration {
            tracker.entryIndex(containing: time).map { tracker.starts[$0] } ?? first
        }
        start = first
        switch preferences.startPosition {
        case .oldest: break
        case .time(let time) where time.duration != nil:
            let time = time.duration ?? .zero
            start = min(max(Self.itemTime(time, in: tracker), first), end)
            window = start
        case .date(let date):
            start = min(max(tracker.place(of: date) ?? first, first), end)
            window = start
        case .segment(let number):
            start = tracker.start(ofSegment: number)
        case .automatic, .time:
            if let tag {
                let latest = tracker.isLive ? end - liveOffset : end
                let target = min(max(Self.itemTime(tag.timeOffset, in: tracker), first), max(latest, first))
                start = tag.isPrecise ? target : boundary(at: target)
                if tag.isPrecise { window = target }
            } else if tracker.usesParts {
                // To the beginning of a part that decoding can start with it may be as far as the whole distance.
                start = max(first, end - liveOffset + lead)
                window = start
                partStart = boundary(at: start)
            } else if tracker.isLive {
                start = boundary(at: max(first, end - liveOffset))
            }
        }
    }

    /// A seek was asked for before there was a place to start at.
    mutating func move(to landing: Landing) {
        partStart = nil
        start = landing.time
        window = landing.floor
    }

    /// Where the preferences end the item; nil where they do not.
    func end(_ position: EndPosition, in tracker: PlaylistTracker) -> Duration? {
        switch position {
        case .automatic: nil
        case .time(let time): time.duration.map { Self.itemTime($0, in: tracker) }
        case .duration(let length): length.duration.map { start + $0 }
        case .date(let date): tracker.place(of: date)
        case .segment(let number): tracker.end(ofSegment: number)
        }
    }

    /// Whether where playing starts, or ends, is asked for by dates that the playlist does not have.
    package static func lacksDates(_ preferences: PlayerItemPreferences, in tracker: PlaylistTracker) -> Bool {
        let dates = [preferences.startPosition.date, preferences.endPosition.date].compactMap(\.self)
        return dates.contains { tracker.place(of: $0) == nil }
    }

    /// Times below zero are counted from the end of what is listed, others from its beginning.
    private static func itemTime(_ time: Duration, in tracker: PlaylistTracker) -> Duration {
        (time < .zero ? tracker.end : tracker.start) + time
    }
}

extension StartPosition {
    fileprivate var date: Date? { if case .date(let date) = self { date } else { nil } }
}

extension EndPosition {
    fileprivate var date: Date? { if case .date(let date) = self { date } else { nil } }
}

extension HLSError {
    /// A place was asked for by a date, and the playlist has none.
    package init(lackOfDatesIn url: String?) {
        self.init(
            code: .notAvailable, urlString: url, cause: "a date was requested, but the playlist has no dates",
            detail: "it lacks EXT-X-PROGRAM-DATE-TIME")
    }
}
