package import FoundationEssentials
import HLSKitLoading
package import HLSKitPlaylist
import HLSKitTime

extension PlaylistTracker {
    /// Returns the item time of a date, or nil if segments have no dates. The time counts from the last segment that
    /// begins then or earlier, otherwise back from the first.
    package func place(of date: Date) -> Duration? {
        // A date far away does not fit into a playlist date.
        guard let date = PlaylistDate(date) else { return nil }
        return place(of: date)
    }

    package func place(of date: PlaylistDate) -> Duration? {
        var first: Duration?
        for index in playlist.segments.indices.reversed() {
            guard let begin = playlist.segments[index].derivedProgramDateTime,
                abs(date - begin) < .seconds(1_000_000_000)
            else { continue }
            let time = starts[index] + (date - begin)
            // The date may lie in a break between segments.
            if begin <= date { return index + 1 < segmentCount ? min(time, starts[index + 1]) : time }
            first = time
        }
        return first
    }

    /// Returns the start of a segment. If its number is too low or too high, returns the start or the end of the
    /// playlist.
    package func start(ofSegment number: Int) -> Duration {
        let (index, overflow) = number.subtractingReportingOverflow(written.mediaSequence)
        guard !overflow, index >= 0 else { return start }
        return index < written.segments.count ? segmentStarts[index] : end
    }

    /// Returns the end of a segment, or nil if a live playlist does not list it yet.
    package func end(ofSegment number: Int) -> Duration? {
        let (index, overflow) = number.subtractingReportingOverflow(written.mediaSequence)
        guard !overflow, index >= 0 else { return start }
        return index < written.segments.count ? segmentStarts[index + 1] : isLive ? nil : end
    }
}

extension PlaylistTracker {
    /// Whether a later listed segment comes from another folder.
    package func isInOtherFolder(thanAnyAfter index: Int) -> Bool {
        let segments = playlist.segments
        guard segments.indices.contains(index) else { return false }
        let folder = SilentFolders.folder(of: segments[index].uri)
        return segments.indices.dropFirst(index + 1).contains { SilentFolders.folder(of: segments[$0].uri) != folder }
    }
}
