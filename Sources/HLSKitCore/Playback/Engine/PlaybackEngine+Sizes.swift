import HLSPlaylist

/// A media playlist that tells how large its segments are, laid on the item's timeline.
struct SizeTellingPlaylist: Sendable {
    private let playlist: MediaPlaylist
    /// Where each segment starts, and where the last one ends.
    private let starts: [Duration]

    /// nil for a playlist that does not tell.
    init?(_ playlist: MediaPlaylist, starts: [Duration]) {
        // Playlists tell it of all segments or of none, mostly; a long one is not read through to find out.
        let samples = [0, playlist.segments.count / 2, playlist.segments.count - 1]
        guard starts.count == playlist.segments.count + 1,
            samples.contains(where: { index in
                playlist.segments.indices.contains(index) && Self.byteCount(of: playlist.segments[index]) != nil
            })
        else { return nil }
        self.playlist = playlist
        self.starts = starts
    }

    /// Bytes of the media in `range`; nil where the playlist does not tell.
    func byteCount(in range: Range<Duration>) -> Int? {
        let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
        guard let first = starts.first, let last = starts.last, middle >= first, middle < last else { return nil }
        var low = 0
        var high = starts.count - 1
        while high - low > 1 {
            let middleIndex = (low + high) / 2
            if starts[middleIndex] <= middle { low = middleIndex } else { high = middleIndex }
        }
        guard playlist.segments.indices.contains(low), let count = Self.byteCount(of: playlist.segments[low]) else {
            return nil
        }
        // Variants need not be cut alike.
        let length = (starts[low + 1] - starts[low]).seconds
        let wanted = (range.upperBound - range.lowerBound).seconds
        guard length > 0, abs(wanted - length) > 0.01 * length else { return count }
        return Int(min(Double(count) * wanted / length, 1e15))
    }

    /// `EXT-X-BYTERANGE` tells it exactly, `EXT-X-BITRATE` to a tenth (rfc8216bis §4.4.4.8).
    static func byteCount(of segment: MediaSegment) -> Int? {
        if let range = segment.byteRange { return range.length > 0 ? Int(clamping: range.length) : nil }
        guard let bitRate = segment.bitRate, bitRate > 0 else { return nil }
        return Int(min(Double(bitRate) * segment.duration.seconds / 8, 1e15))
    }
}

/// What was loaded of a variant.
struct SeenMedia: Sendable, Hashable {
    /// Of all lanes.
    var byteCount = 0
    var duration = Duration.zero
}

/// Sizes of segments that are to be loaded, as far as playlists tell them.
extension PlaybackEngine {
    /// Media of a variant, or of all, after which its mean is believed.
    private static let convincingDuration = Duration.seconds(10)

    /// The segments from `index` on, with the sizes that they have in each candidate's variant.
    ///
    /// Where the playlist of one variant tells a size and that of another does not, or is not loaded, the other's is taken
    /// to be as much larger or smaller as its average bit rate: the same scene is costly in all variants.
    func upcomingSegments(
        at index: Int, in tracker: PlaylistTracker, candidates: [VariantCandidate]
    ) -> [SelectionInput.UpcomingSegment] {
        let last = min(index + SelectionInput.maximumUpcomingCount, tracker.segmentCount)
        let sources = candidates.map { candidate in
            // What was live when it was left is out of date.
            tracker.isLive && candidate.index == item?.variantIndex
                ? SizeTellingPlaylist(tracker.playlist, starts: tracker.starts)
                : item?.variantPlaylists[candidate.index]
        }
        let seen = seenAverages(of: candidates)
        guard seen != nil || sources.contains(where: { $0 != nil }) else {
            return (index..<last).map { .init(duration: tracker.duration(at: $0)) }
        }
        let averages = seen ?? candidates.map { $0.averageBandwidth ?? $0.bandwidth }
        let audio = item?.lanes[.audio]?.tracker.flatMap { SizeTellingPlaylist($0.playlist, starts: $0.starts) }
        return (index..<last).map { position in
            let range = tracker.starts[position]..<max(tracker.starts[position], tracker.starts[position + 1])
            let duration = range.upperBound - range.lowerBound
            var byteCounts = Self.byteCounts(in: range, averages, sources, audio: audio)
            if byteCounts.isEmpty, seen != nil {
                byteCounts = averages.map { Int(min($0 * duration.seconds / 8, 1e15)) }
            }
            return SelectionInput.UpcomingSegment(duration: duration, byteCounts: byteCounts)
        }
    }

    /// `averages` are the mean bit rates of the variants, in the order of `sources`.
    private static func byteCounts(
        in range: Range<Duration>, _ averages: [Double], _ sources: [SizeTellingPlaylist?], audio: SizeTellingPlaylist?
    ) -> [Int] {
        let told = sources.map { $0?.byteCount(in: range) }
        guard let reference = told.firstIndex(where: { $0 != nil }), let size = told[reference] else { return [] }
        let share = Double(size) / max(1, averages[reference])
        // Separate audio comes with whatever variant is chosen.
        let more = audio?.byteCount(in: range) ?? 0
        return averages.indices.map { position in
            let count = told[position] ?? Int(min(share * averages[position], 1e15))
            return count.addingReportingOverflow(more).partialValue
        }
    }

    /// The mean bit rates of the candidates where a playlist does not declare all of them and enough was seen to tell: a
    /// variant's own, else the share of its `BANDWIDTH` that others took. nil where there is nothing to add.
    private func seenAverages(of candidates: [VariantCandidate]) -> [Double]? {
        guard let item, !item.seen.isEmpty, candidates.contains(where: { $0.averageBandwidth == nil }) else {
            return nil
        }
        var bits = 0.0
        var declared = 0.0
        var duration = Duration.zero
        for (index, media) in item.seen {
            guard item.candidates.indices.contains(index) else { continue }
            bits += 8 * Double(media.byteCount)
            declared += item.candidates[index].bandwidth * media.duration.seconds
            duration += media.duration
        }
        guard duration >= Self.convincingDuration, declared > 0 else { return nil }
        return candidates.map { candidate in
            if let average = candidate.averageBandwidth { return average }
            var average = candidate.bandwidth * bits / declared
            if let own = item.seen[candidate.index], own.duration >= Self.convincingDuration {
                average = 8 * Double(own.byteCount) / own.duration.seconds
            }
            // BANDWIDTH is the most that any stretch of the media takes.
            return min(average, candidate.bandwidth)
        }
    }
}
