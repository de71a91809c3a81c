import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

/// Reads a lane in order into the buffer. Missing media remains missing, and playback does not wait for it.
extension MediaLane {
    struct Reading: Sendable {
        var flight: SegmentInFlight
        var gap: Range<Duration>?
        /// The decodable media, or nil if there is nothing new.
        var media: Range<Duration>?
        /// Whether the media was loaded before and is already counted.
        var isAgain = false
    }

    /// Notes that media of a segment can be decoded up to `time`.
    ///
    /// - Returns: The media, or nil if the segment is not in flight.
    mutating func read(_ id: SegmentID, upTo time: Duration, from start: Duration?, at now: Duration) -> Reading? {
        guard let flight = segments[id] else { return nil }
        lost.deliver(id, role: flight.role, at: now)
        let from = flight.demuxedUpTo ?? min(time, flight.job.start)
        var reading = Reading(flight: flight, gap: gap(before: from, from: start))
        guard time > from || flight.demuxedUpTo == nil else { return reading }
        let end = max(from, time)
        reading.media = from..<end
        segments.demux(id, upTo: end)
        return reading
    }

    mutating func endReading(_ id: SegmentID, at now: Duration) -> SegmentInFlight? {
        guard let flight = segments.remove(id) else { return nil }
        lost.deliver(id, role: flight.role, at: now)
        noteDemuxed()
        return flight
    }

    func reading(
        of flight: SegmentInFlight, _ times: (start: Duration, end: Duration), from start: Duration?
    ) -> Reading {
        let from = flight.demuxedUpTo ?? min(times.start, flight.job.start)
        return Reading(
            flight: flight, gap: gap(before: from, from: start), media: from..<max(from, times.end),
            isAgain: isLoadedAgain(flight.job.start))
    }

    /// Skips a range that will not be delivered.
    ///
    /// - Returns: The missing range before it.
    mutating func skipRange(_ range: Range<Duration>, from start: Duration?) -> Range<Duration>? {
        let gap = gap(before: range.lowerBound, from: start)
        extend(to: range.upperBound)
        begin(.gap, at: nil)
        return gap
    }

    /// Returns the missing range between the lane's delivered media and media that begins at `time`.
    func gap(before time: Duration, from start: Duration?) -> Range<Duration>? {
        guard var end = loadedEnd ?? start else { return nil }
        // Media of segments in flight is not missing.
        for index in segments.indices where segments[index].job.start < time {
            end = max(end, segments[index].listedEnd)
        }
        return end < time ? end..<time : nil
    }

    /// Returns the missing range after a segment that was shorter than listed, before skipped media.
    ///
    /// - Parameter next: The start of the next media in the buffer.
    func gap(after end: Duration, upTo next: Duration?) -> Range<Duration>? {
        guard let loadedEnd, loadedEnd > end, let next, next > end,
            !segments.contains(where: { $0.job.start < next })
        else { return nil }
        return end..<next
    }
}

extension SegmentInFlight {
    /// The range that is skipped if the rest of the segment is unavailable.
    var missingRange: Range<Duration> {
        let from = max(demuxedUpTo ?? job.start, job.start)
        return from..<max(from, listedEnd)
    }
}

extension SegmentLoad {
    init(_ flight: SegmentInFlight, of variant: AssetVariant.ID?, byteCount: Int, at now: Duration) {
        self.init(
            url: flight.job.url, mediaSequence: flight.job.mediaSequence, itemTime: MediaTime(flight.job.start),
            mediaDuration: flight.job.duration, duration: now - flight.requestBegan, byteCount: byteCount,
            variantID: variant, variantIndex: flight.variantIndex)
    }
}

extension SkippedSegments {
    init(_ range: Range<Duration>, sequence: Int, url: String, cause: String) {
        self.init(
            first: sequence, last: sequence, mediaDuration: range.upperBound - range.lowerBound, url: url,
            cause: cause)
    }
}
