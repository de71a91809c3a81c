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

        /// nil where nothing was loaded.
        var bitRate: Double? { duration > .zero ? Double(byteCount) * 8 / duration.seconds : nil }
    }

    /// Media of a variant, or of all, after which its mean is believed.
    private static let convincingDuration = Duration.seconds(10)
    /// The same where it is more than twice what is declared: no stretch of the media explains that.
    private static let shortDuration = Duration.seconds(2)
    /// Media that takes so many times its `BANDWIDTH` shows that this is not the most that it takes.
    private static let understatement = 1.1

    /// Playlists of VOD variants that were loaded and tell sizes, by the variants' indices.
    private var playlists: [Int: SizeTellingPlaylist] = [:]
    /// What was loaded from each variant, by its index, and from the variant in use.
    private var seen: [Int: SeenMedia] = [:]
    private var loaded = SeenMedia()

    /// Average bit rate of what was loaded since the variant was switched to; nil before.
    var loadedBitRate: Double? { loaded.bitRate }

    /// Average bit rate of the variant in use where it takes more than it declares; nil where it does not.
    ///
    /// - Parameter bandwidth: as declared; 0 where it is not.
    func understatedBitRate(_ bandwidth: Double) -> Double? { Self.understated(loaded, bandwidth) }

    private static func understated(_ media: SeenMedia?, _ bandwidth: Double) -> Double? {
        guard let media, let rate = media.bitRate, bandwidth > 0, rate > bandwidth * understatement,
            media.duration >= (rate > bandwidth * 2 ? shortDuration : convincingDuration)
        else { return nil }
        return rate
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

    /// The mean bit rates of the candidates where a playlist does not declare all of them, or less than is true, and enough
    /// was seen to tell: a variant's own, else the share of its `BANDWIDTH` that others took. nil where there is nothing to
    /// add.
    private func seenAverages(of candidates: [AssetVariant], among variants: [AssetVariant]) -> [Double]? {
        guard !seen.isEmpty else { return nil }
        var (all, declared) = (SeenMedia(), 0.0)
        var isUnderstated = false
        // In the order of the playlist: sums depend on their order.
        for (index, variant) in variants.enumerated() {
            guard let media = seen[index] else { continue }
            all.byteCount += media.byteCount
            all.duration += media.duration
            declared += variant.bandwidth * media.duration.seconds
            if Self.understated(media, variant.bandwidth) != nil { isUnderstated = true }
        }
        guard isUnderstated || candidates.contains(where: { $0.averageBandwidth == nil }), declared > 0,
            isUnderstated || all.duration >= Self.convincingDuration
        else { return nil }
        let share = Double(all.byteCount) * 8 / declared
        return candidates.map { candidate in
            let own = seen[candidate.index]
            if isUnderstated {
                if let own, own.duration >= Self.shortDuration, let rate = own.bitRate {
                    return max(rate, candidate.averageBandwidth ?? 0)
                }
                // Who writes one figure too low writes all of them so.
                return candidate.bandwidth * max(share, 1)
            }
            if let average = candidate.averageBandwidth { return average }
            var average = candidate.bandwidth * share
            if let own, own.duration >= Self.convincingDuration, let rate = own.bitRate { average = rate }
            // BANDWIDTH is the most that any stretch of the media takes.
            return min(average, candidate.bandwidth)
        }
    }
}
