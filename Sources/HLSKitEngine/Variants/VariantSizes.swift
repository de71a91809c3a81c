import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension VariantChooser {
    /// The sizes of the segments of an item's variants, as declared by playlists or as observed.
    struct VariantSizes: Sendable {
        private struct SeenMedia: Sendable {
            /// The number of bytes in all lanes.
            var byteCount = 0
            var duration = Duration.zero

            var bitRate: Double? { duration > .zero ? Double(byteCount) * 8 / duration.seconds : nil }
        }

        /// The amount of media after which the mean bit rate is considered reliable.
        private static let convincingDuration = Duration.seconds(10)
        /// The amount that suffices if the rate is more than twice the declared one.
        ///
        /// No passage of correctly declared media has such a rate.
        private static let shortDuration = Duration.seconds(2)
        /// The factor by which media must exceed its `BANDWIDTH` to prove that the declaration is too low.
        private static let understatement = 1.1
        /// The factors between observed media and the declared averages that prove them wrong after ``longDuration``.
        ///
        /// ``demandingShare`` suffices after ``convincingDuration``, because the seconds after a demanding passage are
        /// usually demanding, too.
        private static let plausibleShares = 0.6...1.25
        private static let demandingShare = 1.5
        private static let longDuration = Duration.seconds(30)
        /// The margin on estimates that are lower than the declared averages.
        private static let caution = 1.15

        /// Loaded playlists of VOD variants that declare sizes, by the index of the variant.
        private var playlists: [Int: SizedPlaylist] = [:]
        /// The media loaded from each variant, by its index, and from the current variant.
        private var seen: [Int: SeenMedia] = [:]
        private var loaded = SeenMedia()

        /// The average bit rate of media loaded since the last switch, or `nil` if there is none.
        var loadedBitRate: Double? { loaded.bitRate }

        /// The average bit rate of the current variant if its loaded media proves the declared values wrong, or `nil`.
        ///
        /// - Parameters:
        ///   - bandwidth: The declared bit rate, or 0 if it is undeclared.
        ///   - average: The declared average bit rate, or `nil` if it is undeclared.
        func correctedBitRate(bandwidth: Double, average: Double?) -> Double? {
            if let rate = Self.understated(loaded, bandwidth) { return rate }
            guard let average else { return nil }
            return Self.correction(of: loaded, declared: average * loaded.duration.seconds).map { average * $0 }
        }

        /// The factor that corrects declared averages, or `nil` if loaded media does not prove them wrong.
        ///
        /// - Parameter declared: The bits that the media would have by the declared averages.
        private static func correction(of media: SeenMedia, declared: Double) -> Double? {
            guard declared > 0, media.duration >= convincingDuration else { return nil }
            let share = Double(media.byteCount) * 8 / declared
            let isProven =
                share > demandingShare || media.duration >= longDuration && !plausibleShares.contains(share)
            return isProven ? share * (share < 1 ? caution : 1) : nil
        }

        private static func understated(_ media: SeenMedia?, _ bandwidth: Double) -> Double? {
            guard let media, let rate = media.bitRate, bandwidth > 0, rate > bandwidth * understatement,
                media.duration >= (rate > bandwidth * 2 ? shortDuration : convincingDuration)
            else { return nil }
            return rate
        }

        // MARK: Learning

        /// Sets the playlist of a variant that does not change any more. `nil` means that it declares no sizes.
        mutating func learn(_ playlist: SizedPlaylist?, of index: Int) { playlists[index] = playlist }

        mutating func beginVariant() { loaded = SeenMedia() }

        /// Adds loaded media.
        ///
        /// - Parameters:
        ///   - duration: The duration of the variant's own segments, or zero for separate renditions.
        ///   - index: The index of the variant, or `nil` if there is no choice.
        mutating func note(byteCount: Int, duration: Duration, of index: Int?) {
            loaded.byteCount += byteCount
            loaded.duration += duration
            guard let index else { return }
            seen[index, default: SeenMedia()].byteCount += byteCount
            seen[index, default: SeenMedia()].duration += duration
        }

        // MARK: Reporting

        /// Returns the segments from `index` on, with their sizes in each of the `candidates`.
        ///
        /// If only one variant declares the size of a segment, the others are estimated in proportion to their average
        /// bit rates. A scene that needs many bits needs them in all variants.
        ///
        /// - Parameters:
        ///   - current: The variant that `tracker` belongs to.
        ///   - audio: The playlist of the separately loaded audio.
        func upcomingSegments(
            at index: Int, in tracker: PlaylistTracker, candidates: [AssetVariant], current: Int?,
            of variants: [AssetVariant], audio: PlaylistTracker?
        ) -> [SelectionInput.UpcomingSegment] {
            let last = min(index + SelectionInput.maximumUpcomingCount, tracker.segmentCount)
            let sources = candidates.map { candidate in
                // A playlist that was live when its variant was left is out of date.
                tracker.isLive && candidate.index == current
                    ? SizedPlaylist(tracker.playlist, starts: tracker.starts) : playlists[candidate.index]
            }
            let seen = seenAverages(of: candidates, among: variants)
            guard seen != nil || sources.contains(where: { $0 != nil }) else {
                return (index..<last).map { .init(duration: tracker.duration(at: $0)) }
            }
            let averages = seen ?? candidates.map { $0.averageBandwidth ?? $0.bandwidth }
            let audio = audio.flatMap { SizedPlaylist($0.playlist, starts: $0.starts) }
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

        /// - Parameter averages: The mean bit rates of the variants, in the order of `sources`.
        private static func byteCounts(
            in range: Range<Duration>, _ averages: [Double], _ sources: [SizedPlaylist?],
            audio: SizedPlaylist?
        ) -> [Int] {
            let declared = sources.map { $0?.byteCount(in: range) }
            guard let reference = declared.firstIndex(where: { $0 != nil }), let size = declared[reference] else {
                return []
            }
            let share = Double(size) / max(1, averages[reference])
            // Separate audio is loaded with every variant.
            let more = audio?.byteCount(in: range) ?? 0
            return averages.indices.map { position in
                let count = declared[position] ?? Int(min(share * averages[position], 1e15))
                return count.addingReportingOverflow(more).partialValue
            }
        }

        /// The observed mean bit rates, or `nil` if they add nothing to the declared ones.
        ///
        /// They are used if a declaration is missing or too low, and enough media was observed. For a variant without
        /// enough media, the rate is estimated by the share of `BANDWIDTH` that other variants needed.
        private func seenAverages(of candidates: [AssetVariant], among variants: [AssetVariant]) -> [Double]? {
            guard !seen.isEmpty else { return nil }
            var (all, declared, averages) = (SeenMedia(), 0.0, 0.0)
            var isUnderstated = false
            // Sum in playlist order, because floating-point sums depend on the order.
            for (index, variant) in variants.enumerated() {
                guard let media = seen[index] else { continue }
                all.byteCount += media.byteCount
                all.duration += media.duration
                declared += variant.bandwidth * media.duration.seconds
                averages += (variant.averageBandwidth ?? variant.bandwidth) * media.duration.seconds
                if Self.understated(media, variant.bandwidth) != nil { isUnderstated = true }
            }
            let isDeclared = candidates.allSatisfy { $0.averageBandwidth != nil }
            if !isUnderstated, isDeclared, let rates = correctedAverages(of: candidates, all, declared: averages) {
                return rates
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
                    // If one declared value is too low, all of them probably are.
                    return candidate.bandwidth * max(share, 1)
                }
                if let average = candidate.averageBandwidth { return average }
                var average = candidate.bandwidth * share
                if let own, own.duration >= Self.convincingDuration, let rate = own.bitRate { average = rate }
                // `BANDWIDTH` is the peak bit rate, so the average cannot exceed it.
                return min(average, candidate.bandwidth)
            }
        }

        /// The mean bit rates if all media so far proves that the declared averages are too low or too high, or `nil`.
        ///
        /// - Parameter declared: The bits that `all` would have by the declared averages.
        private func correctedAverages(
            of candidates: [AssetVariant], _ all: SeenMedia, declared: Double
        ) -> [Double]? {
            guard let correction = Self.correction(of: all, declared: declared) else { return nil }
            return candidates.map { candidate in
                if let own = seen[candidate.index], own.duration >= Self.convincingDuration, let rate = own.bitRate {
                    return rate * (correction < 1 ? Self.caution : 1)
                }
                // A wrong average of one variant says nothing about another whose `BANDWIDTH` holds.
                let average = candidate.averageBandwidth ?? candidate.bandwidth
                return min(average * correction, candidate.bandwidth * Self.understatement)
            }
        }
    }
}

// MARK: - Sizes of a playlist

/// A media playlist that declares the size of its segments, placed on the item's timeline.
struct SizedPlaylist: Sendable {
    private let playlist: MediaPlaylist
    /// The start of each segment, and the end of the last one.
    private let starts: [Duration]

    init?(_ playlist: MediaPlaylist, starts: [Duration]) {
        // Most playlists declare the sizes of all segments or of none. Samples avoid reading a long playlist.
        let samples = [0, playlist.segments.count / 2, playlist.segments.count - 1]
        guard starts.count == playlist.segments.count + 1,
            samples.contains(where: { index in
                playlist.segments.indices.contains(index) && Self.byteCount(of: playlist.segments[index]) != nil
            })
        else { return nil }
        self.playlist = playlist
        self.starts = starts
    }

    /// The size in bytes of the media in `range`, or `nil` if it is undeclared.
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
        // Variants may have different segment boundaries.
        let length = (starts[low + 1] - starts[low]).seconds
        let wanted = (range.upperBound - range.lowerBound).seconds
        guard length > 0, abs(wanted - length) > 0.01 * length else { return count }
        return Int(min(Double(count) * wanted / length, 1e15))
    }

    /// The declared size: exact with `EXT-X-BYTERANGE`, within a tenth with `EXT-X-BITRATE` (rfc8216bis §4.4.4.8).
    static func byteCount(of segment: MediaSegment) -> Int? {
        if let range = segment.byteRange { return range.length > 0 ? Int(clamping: range.length) : nil }
        guard let bitRate = segment.bitRate, bitRate > 0 else { return nil }
        return Int(min(Double(bitRate) * segment.duration.seconds / 8, 1e15))
    }
}
