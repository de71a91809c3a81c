import HLSKitCore

/// Whether the playlists of a live stream advance in time. Pass it each loaded playlist with its time.
struct PlaylistPace: Sendable {
    private struct Known: Sendable {
        var extent: MediaPlaylistExtent
        /// When the playlist last listed something new.
        var advanced: Duration
    }

    struct Finding: Sendable, Hashable {
        /// The delay of the new segments beyond their duration, or `nil` for the first playlist or if there are none.
        var lateness: Duration?
        var isLate = false
        /// Whether the sequence numbers went back.
        var isReset = false
        var discontinuityCount = 0
    }

    /// The number of playlists to remember; the oldest are dropped.
    private static let maximumCount = 16
    private static let longestTarget = Duration.seconds(86_400)

    private var known: [String: Known] = [:]
    /// Discontinuities have the same numbers in all playlists of a stream (RFC 8216 §6.2.4).
    private var lastDiscontinuity: Int?
    /// When any playlist last listed something new.
    private(set) var advanced: Duration?
    private(set) var targetDuration: Duration?
    private(set) var isLive = false

    mutating func note(_ extent: MediaPlaylistExtent, url: String, at now: Duration) -> Finding {
        var finding = Finding()
        // Limit the server's value, because it is multiplied below.
        let target = min(extent.targetDuration, Self.longestTarget)
        targetDuration = target
        isLive = !extent.hasEndList
        let difference = extent.lastDiscontinuitySequence.subtractingReportingOverflow(lastDiscontinuity ?? .max)
        if lastDiscontinuity != nil, !difference.overflow, difference.partialValue > 0 {
            finding.discontinuityCount = min(difference.partialValue, max(1, extent.segmentCount))
        }
        lastDiscontinuity = max(lastDiscontinuity ?? .min, extent.lastDiscontinuitySequence)
        guard let before = known[url] else {
            remember(extent, url, at: now)
            advanced = advanced ?? now
            return finding
        }
        let (new, overflow) = extent.endMediaSequence.subtractingReportingOverflow(before.extent.endMediaSequence)
        if overflow || new < 0 {
            finding.isReset = true
            lastDiscontinuity = extent.lastDiscontinuitySequence
        } else if new == 0 {
            known[url]?.extent = extent
            return finding
        } else {
            // Limit the count, because the exact lateness does not matter after a long outage.
            let due = target * min(new, 1_000_000)
            let lateness = max(.zero, now - before.advanced - due)
            finding.lateness = lateness
            finding.isLate = lateness > target
        }
        remember(extent, url, at: now)
        advanced = now
        return finding
    }

    /// The time since the last new segment, or `nil` if the stream expects none.
    func age(at now: Duration) -> Duration? {
        guard isLive, let advanced else { return nil }
        return max(.zero, now - advanced)
    }

    private mutating func remember(_ extent: MediaPlaylistExtent, _ url: String, at now: Duration) {
        known[url] = Known(extent: extent, advanced: now)
        guard known.count > Self.maximumCount, let oldest = known.min(by: { $0.value.advanced < $1.value.advanced })
        else { return }
        known[oldest.key] = nil
    }
}
