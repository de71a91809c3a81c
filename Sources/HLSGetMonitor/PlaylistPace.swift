import HLSKitCore

/// Whether the playlists of a live stream go on as they should.
///
/// A value: it is told what each loaded playlist lists, and when.
struct PlaylistPace: Sendable {
    private struct Known: Sendable {
        var extent: MediaPlaylistExtent
        /// When it had something new for the last time.
        var advanced: Duration
    }

    /// What became of one playlist.
    struct Finding: Sendable, Hashable {
        /// How much later the new segments came than they last; nil where there are none, and for the first list.
        var lateness: Duration?
        /// The lateness is more than a target duration.
        var isLate = false
        /// The sequence numbers went back.
        var isReset = false
        /// Further discontinuities.
        var discontinuityCount = 0
    }

    /// Playlists of variants and renditions that are remembered; more are forgotten, the oldest first.
    private static let maximumCount = 16
    private static let longestTarget = Duration.seconds(86_400)

    private var known: [String: Known] = [:]
    /// Discontinuities have the same numbers in all playlists of a stream (RFC 8216 §6.2.4).
    private var lastDiscontinuity: Int?
    /// When any of them had something new.
    private(set) var advanced: Duration?
    private(set) var targetDuration: Duration?
    /// The stream goes on.
    private(set) var isLive = false

    mutating func note(_ extent: MediaPlaylistExtent, url: String, at now: Duration) -> Finding {
        var finding = Finding()
        // It comes from a server, and is multiplied.
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
            // However long they were down: more than a million segments late is no number of interest.
            let due = target * min(new, 1_000_000)
            let lateness = max(.zero, now - before.advanced - due)
            finding.lateness = lateness
            finding.isLate = lateness > target
        }
        remember(extent, url, at: now)
        advanced = now
        return finding
    }

    /// For how long nothing new has come; nil where nothing is to come.
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
