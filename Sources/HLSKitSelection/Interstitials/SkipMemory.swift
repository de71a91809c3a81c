import HLSKitPlaylist
import HLSKitTime

/// The results of a ``SkipRule`` for earlier playlists of an item, as far as newer ones need them.
///
/// Each segment is examined once, however often it is listed. For a live stream, the memory also keeps ranges that have
/// left the window while one of them may still continue.
package struct SkipMemory: Sendable {
    /// The number of ranges to keep after they have left the window.
    private static let maximumCount = 16

    /// A break between markers. `end` is nil if no marker gives it. `isOver` is true if a marker ended the break.
    struct MarkedBreak: Sendable, Hashable {
        var start: Duration
        var end: Duration?
        var isOver = false
        var marker: SpliceMarker
    }

    private var url: String?
    private var known: [String: Bool] = [:]
    /// The matching segments of the newest playlist, and the ranges of those that have left the window.
    private var listed: [SkippedRanges.Entry] = []
    private var gone: [SkippedRanges.Entry] = []
    private var breaks: [MarkedBreak] = []
    /// The start of the first playlist of a stream that was joined in the middle. It is nil for a stream that was
    /// joined at its beginning, and before the first playlist.
    private var joined: Duration?
    private var hasBegun = false

    package init() {}

    /// Returns the matching segments. Adjacent ones that have left the window are merged.
    ///
    /// - Parameter starts: The item times at which the segments start, and the end of the last one.
    mutating func segments(
        meantBy rule: SkipRule, of playlist: MediaPlaylist, _ starts: [Duration]
    ) -> [SkippedRanges.Entry] {
        let before = url == playlist.url ? known : [:]
        url = playlist.url
        known.removeAll(keepingCapacity: true)
        var new: [SkippedRanges.Entry] = []
        for (place, segment) in playlist.segments.enumerated() {
            let uri = segment.uri
            let isMeant = before[uri] ?? known[uri] ?? rule.means(segment, of: playlist)
            known[uri] = isMeant
            guard isMeant, place + 1 < starts.count, starts[place] < starts[place + 1] else { continue }
            new.append(SkippedRanges.Entry(range: starts[place]..<starts[place + 1], segmentCount: 1))
        }
        if let first = starts.first {
            for entry in listed where entry.range.upperBound <= first + InterstitialSchedule.closeness {
                if let last = gone.last, last.touches(entry) {
                    gone[gone.count - 1].add(entry)
                } else {
                    gone.append(entry)
                }
            }
            gone.removeFirst(max(0, gone.count - Self.maximumCount))
        }
        listed = new
        return gone + new
    }

    /// Returns all breaks between markers in order, including those that have left the window.
    ///
    /// A break ends at a marker or, without one, after the duration that its start gives. If a live stream was joined
    /// in the middle and the first marker is the end of a break, everything listed before it was part of the break.
    mutating func breaks(of playlist: MediaPlaylist, _ starts: [Duration]) -> [MarkedBreak] {
        guard let first = starts.first else { return breaks }
        if !hasBegun, !playlist.isComplete, playlist.mediaSequence > 0 { joined = first }
        hasBegun = true
        var found = Array(breaks.filter { $0.start < first - InterstitialSchedule.closeness }.suffix(Self.maximumCount))
        var running: MarkedBreak?
        // The break may end at a marker in this playlist.
        if let last = found.last, (last.end ?? last.start + SkippedRanges.longestOpen) > first {
            running = found.popLast()
        }
        func close(at time: Duration?) {
            guard var past = running else { return }
            running = nil
            if let time { (past.end, past.isOver) = (time, true) }
            if past.end.map({ past.start < $0 }) ?? true { found.append(past) }
        }
        for place in playlist.markedSegments where starts.indices.contains(place) {
            let time = starts[place]
            let markers =
                place < playlist.segments.count
                ? playlist.segments[place].spliceMarkers : playlist.upcomingSpliceMarkers
            for marker in markers {
                switch marker.kind {
                case .out:
                    close(at: running?.end.map { min($0, time) } ?? time)
                    running = MarkedBreak(start: time, end: marker.duration.map { time + $0 }, marker: marker)
                case .continued where running == nil:
                    let left = marker.duration.map { max(.zero, $0 - (marker.elapsed ?? .zero)) }
                    running = MarkedBreak(start: time, end: left.map { time + $0 }, marker: marker)
                case .in where running == nil && found.isEmpty:
                    if let joined, joined < time {
                        found.append(MarkedBreak(start: joined, end: time, isOver: true, marker: marker.opening))
                    }
                case .in: close(at: time)
                default: break
                }
            }
        }
        close(at: nil)
        breaks = found
        return found
    }
}
