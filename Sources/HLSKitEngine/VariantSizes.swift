import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// How large the segments of an item's variants are: as playlists tell it, else as they turned out.
struct VariantSizes: Sendable {
    /// What was loaded of a variant.
    private struct SeenMedia: Sendable {
        /// Of all lanes.
        var byteCount = 0
        var duration = Duration.zero
    }

    /// Media of a variant, or of all, after which its mean is believed.
    private static let convincingDuration = Duration.seconds(10)

    /// Playlists of VOD variants that were loaded and tell sizes, by the variants' indices.
    private var playlists: [Int: SizeTellingPlaylist] = [:]
    /// What was loaded from each variant, by its index, and from the variant in use.
    private var seen: [Int: SeenMedia] = [:]
    private var loaded = SeenMedia()

    /// Average bit rate of what was loaded since the variant was switched to; nil before.
    var loadedBitRate: Double? {
        guard loaded.duration > .zero else { return nil }
        return Double(loaded.byteCount) * 8 / loaded.duration.seconds
    }

    // MARK: Learning

    /// Takes the playlist of a variant that does not change any more; nil where it tells no sizes.
    mutating func learn(_ playlist: SizeTellingPlaylist?, of index: Int) { playlists[index] = playlist }

    /// Another variant is in use from now on.
    mutating func beginVariant() { loaded = SeenMedia() }

    /// Media was loaded.
    ///
    /// - Parameters:
    ///   - duration: of the variant's own segments; zero for renditions beside it.
    ///   - index: the variant; nil where there is none to choose.
    mutating func note(byteCount: Int, duration: Duration, of index: Int?) {
        loaded.byteCount += byteCount
        loaded.duration += duration
        guard let index else { return }
        seen[index, default: SeenMedia()].byteCount += byteCount
        seen[index, default: SeenMedia()].duration += duration
    }

    // MARK: Telling

    /// The segments from `index` on, with the sizes that they have in the variant of each of the `candidates`.
    ///
    /// Where the playlist of one variant tells a size and that of another does not, or is not loaded, the other's is taken
    /// to be as much larger or smaller as its average bit rate: the same scene is costly in all variants.
    ///
    /// - Parameters:
    ///   - current: the variant that `tracker` belongs to.
    ///   - variants: all of the item.
    ///   - audio: the playlist of the audio that is loaded beside the variant.
    func upcomingSegments(
        at index: Int, in tracker: PlaylistTracker, candidates: [AssetVariant], current: Int?,
        of variants: [AssetVariant], audio: PlaylistTracker?
    ) -> [SelectionInput.UpcomingSegment] {
        let last = min(index + SelectionInput.maximumUpcomingCount, tracker.segmentCount)
        let sources = candidates.map { candidate in
            // What was live when it was left is out of date.
            tracker.isLive && candidate.index == current
                ? SizeTellingPlaylist(tracker.playlist, starts: tracker.starts) : playlists[candidate.index]
        }
        let seen = seenAverages(of: candidates, among: variants)
        guard seen != nil || sources.contains(where: { $0 != nil }) else {
            return (index..<last).map { .init(duration: tracker.duration(at: $0)) }
        }
        let averages = seen ?? candidates.map { $0.averageBandwidth ?? $0.bandwidth }
        let audio = audio.flatMap { SizeTellingPlaylist($0.playlist, starts: $0.starts) }
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
    private func seenAverages(of candidates: [AssetVariant], among variants: [AssetVariant]) -> [Double]? {
        guard candidates.contains(where: { $0.averageBandwidth == nil }), !seen.isEmpty else { return nil }
        var bits = 0.0
        var declared = 0.0
        var duration = Duration.zero
        // In the order of the playlist: sums depend on their order.
        for (index, variant) in variants.enumerated() {
            guard let media = seen[index] else { continue }
            bits += 8 * Double(media.byteCount)
            declared += variant.bandwidth * media.duration.seconds
            duration += media.duration
        }
        guard duration >= Self.convincingDuration, declared > 0 else { return nil }
        return candidates.map { candidate in
            if let average = candidate.averageBandwidth { return average }
            var average = candidate.bandwidth * bits / declared
            if let own = seen[candidate.index], own.duration >= Self.convincingDuration {
                average = 8 * Double(own.byteCount) / own.duration.seconds
            }
            // BANDWIDTH is the most that any stretch of the media takes.
            return min(average, candidate.bandwidth)
        }
    }
}
