import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// What the buffer gets of a lane, which is read in its order: a hole between what it has given and what it gives next
/// stays one, and nothing is waited for there.
extension MediaLane {
    /// What comes into the buffer at once.
    struct Reading: Sendable {
        var flight: SegmentInFlight
        /// Before the media.
        var hole: Range<Duration>?
        /// nil where nothing new could be decoded.
        var media: Range<Duration>?
        /// It was loaded before, and counts already.
        var isAgain = false
    }

    /// Media of a segment can be decoded up to `time`.
    ///
    /// - Parameter start: where the item starts.
    /// - Returns: nil where the segment is not under way.
    mutating func read(_ id: SegmentID, upTo time: Duration, from start: Duration?, at now: Duration) -> Reading? {
        guard let flight = segments[id] else { return nil }
        lost.deliver(id, role: flight.role, at: now)
        let from = flight.demuxedUpTo ?? min(time, flight.job.start)
        var reading = Reading(flight: flight, hole: hole(before: from, from: start))
        guard time > from || flight.demuxedUpTo == nil else { return reading }
        let end = max(from, time)
        reading.media = from..<end
        segments.demux(id, upTo: end)
        return reading
    }

    /// A segment was read to its end.
    ///
    /// - Returns: the segment; nil where it is not under way.
    mutating func endReading(_ id: SegmentID, at now: Duration) -> SegmentInFlight? {
        guard let flight = segments.remove(id) else { return nil }
        lost.deliver(id, role: flight.role, at: now)
        noteDemuxed()
        return flight
    }

    /// What is new of a segment that was read to its end.
    ///
    /// - Parameters:
    ///   - times: where its media begins and ends.
    ///   - start: where the item starts.
    func reading(
        of flight: SegmentInFlight, _ times: (start: Duration, end: Duration), from start: Duration?
    ) -> Reading {
        let from = flight.demuxedUpTo ?? min(times.start, flight.job.start)
        return Reading(
            flight: flight, hole: hole(before: from, from: start), media: from..<max(from, times.end),
            isAgain: isLoadedAgain(flight.job.start))
    }

    /// Passes over what does not come.
    ///
    /// - Returns: the hole before it.
    mutating func passOver(_ range: Range<Duration>, from start: Duration?) -> Range<Duration>? {
        let hole = hole(before: range.lowerBound, from: start)
        extend(to: range.upperBound)
        begin(.hole, at: nil)
        return hole
    }

    /// The hole between what the lane has given and media that begins at `time`.
    ///
    /// - Parameter start: where the item starts.
    func hole(before time: Duration, from start: Duration?) -> Range<Duration>? {
        guard var end = loadedEnd ?? start else { return nil }
        // What is still on its way will be there.
        for index in segments.indices where segments[index].job.start < time {
            end = max(end, segments[index].listedEnd)
        }
        return end < time ? end..<time : nil
    }

    /// The hole behind a segment that brought less than was listed, where what follows was passed over before.
    ///
    /// - Parameter next: where the next media in the buffer begins.
    func hole(behind end: Duration, upTo next: Duration?) -> Range<Duration>? {
        guard let loadedEnd, loadedEnd > end, let next, next > end,
            !segments.contains(where: { $0.job.start < next })
        else { return nil }
        return end..<next
    }
}

extension SegmentInFlight {
    /// What is passed over where the rest of it cannot be had.
    var missingRange: Range<Duration> {
        let from = max(demuxedUpTo ?? job.start, job.start)
        return from..<max(from, listedEnd)
    }
}

extension SegmentLoad {
    /// A segment that was read to its end, or given up, at `now`.
    init(_ flight: SegmentInFlight, of variant: AssetVariant.ID?, byteCount: Int, at now: Duration) {
        self.init(
            url: flight.job.url, mediaSequence: flight.job.mediaSequence, itemTime: MediaTime(flight.job.start),
            mediaDuration: flight.job.duration, duration: now - flight.requestBegan, byteCount: byteCount,
            variantID: variant, variantIndex: flight.variantIndex)
    }
}

extension SkippedSegments {
    /// One segment that is passed over.
    init(_ range: Range<Duration>, sequence: Int, url: String, cause: String) {
        self.init(
            first: sequence, last: sequence, mediaDuration: range.upperBound - range.lowerBound, url: url,
            cause: cause)
    }
}
