import FoundationEssentials
package import HLSKitLoading
package import HLSKitPlaylist
package import HLSKitSelection
import HLSKitTime

package struct StartPlace: Sendable, Hashable {
    package private(set) var start: Duration
    /// Media before this item time is not presented. `nil` if the start is the beginning of a segment.
    private(set) var window: Duration?
    /// The start of the first loaded part, if low-latency playback determines the position.
    private(set) var partStart: Duration?
    /// Whether the position follows from the low-latency distance from the live edge.
    var isAtEdge: Bool { partStart != nil }

    /// - Parameters:
    ///   - tag: `EXT-X-START` of the media playlist or, if absent, of the multivariant playlist.
    ///   - liveOffset: The distance from the live edge at which to play.
    ///   - lead: How much nearer to the edge low-latency playback starts.
    package init(
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
                // A part at which decoding can start may be as far away as the whole distance.
                start = max(first, end - liveOffset + lead)
                window = start
                partStart = boundary(at: start)
            } else if tracker.isLive {
                start = boundary(at: max(first, end - liveOffset))
            }
        }
    }

    /// Applies a seek that was made before there was a start position.
    mutating func move(to landing: SeekTarget) {
        partStart = nil
        start = landing.time
        window = landing.floor
    }

    func end(_ position: EndPosition, in tracker: PlaylistTracker) -> Duration? {
        switch position {
        case .automatic: nil
        case .time(let time): time.duration.map { Self.itemTime($0, in: tracker) }
        case .duration(let length): length.duration.map { start + $0 }
        case .date(let date): tracker.place(of: date)
        case .segment(let number): tracker.end(ofSegment: number)
        }
    }

    /// Whether the start or end is given as a date, but the playlist has no dates.
    package static func lacksDates(_ preferences: PlayerItemPreferences, in tracker: PlaylistTracker) -> Bool {
        let dates = [preferences.startPosition.date, preferences.endPosition.date].compactMap(\.self)
        return dates.contains { tracker.place(of: $0) == nil }
    }

    /// Negative times count from the end of the playlist, others from its start.
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
    package init(lackOfDatesIn url: String?) {
        self.init(
            code: .notAvailable, urlString: url, cause: "a date was requested, but the playlist has no dates",
            detail: "it lacks EXT-X-PROGRAM-DATE-TIME")
    }
}
