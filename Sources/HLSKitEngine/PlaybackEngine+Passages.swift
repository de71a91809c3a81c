import HLSKitSelection
import HLSKitTime

/// What lies at places of the item and is told when the playhead comes there: date ranges and markers of the playlist, and metadata
/// inside of the media.
extension PlaybackEngine {
    /// The playlist of the variant has come, or a newer state of it.
    mutating func readPassages() {
        readDateRanges()
        // Lists of I-frames may be without.
        guard item?.trick == nil, let tracker = item?.mainTracker,
            item?.spliceMarkers.isConcerned(by: tracker) == true
        else { return }
        item?.spliceMarkers.read(tracker)
    }

    /// Metadata was found in media of a segment.
    mutating func take(_ group: TimedMetadataGroup, of segment: SegmentID) {
        guard item?.trick == nil, item?.lanes[segment.lane]?.segments.firstIndex(of: segment) != nil,
            let time = group.timeRange.start.duration
        else { return }
        let playhead = playhead
        item?.metadata.take(group, at: time, playhead: playhead)
    }

    /// Tells what the playhead has come to.
    mutating func checkPassages() {
        checkDateRanges()
        guard hasPoints, item?.isReady == true, let start = item?.start, item?.error == nil,
            item?.seek.isUnderWay == false
        else {
            return
        }
        let playhead = playhead
        if item?.spliceMarkers.isDue(at: playhead) == true {
            for event in item?.spliceMarkers.advance(to: playhead, from: start) ?? [] {
                effects.append(.publish(.spliceMarker(event.marker, at: MediaTime(event.time))))
            }
        }
        if item?.metadata.isDue(at: playhead) == true {
            for group in item?.metadata.advance(to: playhead, from: start) ?? [] {
                effects.append(.publish(.timedMetadata(group)))
            }
        }
    }

    /// There are points that may be told.
    private var hasPoints: Bool {
        // As in `outlook`.
        @inline(never) get { item?.spliceMarkers.isEmpty == false || item?.metadata.isEmpty == false }
    }

    /// The playhead was moved.
    mutating func jumpPassages(to time: Duration) {
        item?.dateRanges.jump()
        item?.spliceMarkers.jump(to: time)
        item?.metadata.jump(to: time)
    }

    /// When time alone brings the playhead to something that is to be told.
    var nextPassageMoment: Duration? {
        guard hasPoints, timebase.rate != 0 else { return nextDateRangeMoment }
        let (playhead, isReverse) = (playhead, timebase.rate < 0)
        let points = [
            item?.spliceMarkers.next(from: playhead, isReverse: isReverse),
            item?.metadata.next(from: playhead, isReverse: isReverse),
        ]
        let times = points.map { time in time.flatMap { timebase.hostTime(reaching: $0) } }
        return ([nextDateRangeMoment] + times).compactMap(\.self).min()
    }
}
