package import FoundationEssentials
import HLSKitLoading
package import HLSKitPlaylist

/// Where dates and segments are that a user names.
extension PlaylistTracker {
    /// The item time of a date, by the last segment that begins then or before, else counted back from the first; nil where
    /// segments have no dates.
    package func place(of date: Date) -> Duration? {
        // A far date would not fit.
        guard let date = PlaylistDate(date) else { return nil }
        return place(of: date)
    }

    /// The same of a date as playlists have it.
    package func place(of date: PlaylistDate) -> Duration? {
        var first: Duration?
        for index in playlist.segments.indices.reversed() {
            guard let begin = playlist.segments[index].derivedProgramDateTime,
                abs(date - begin) < .seconds(1_000_000_000)
            else { continue }
            let time = starts[index] + (date - begin)
            // The date may be of a break between segments.
            if begin <= date { return index + 1 < segmentCount ? min(time, starts[index + 1]) : time }
            first = time
        }
        return first
    }

    /// Where a segment begins; the first of what is listed for one before it, the end for one behind it.
    package func start(ofSegment number: Int) -> Duration {
        let (index, overflow) = number.subtractingReportingOverflow(written.mediaSequence)
        guard !overflow, index >= 0 else { return start }
        return index < written.segments.count ? segmentStarts[index] : end
    }

    /// Where a segment ends; nil for one that a live playlist does not list yet.
    package func end(ofSegment number: Int) -> Duration? {
        let (index, overflow) = number.subtractingReportingOverflow(written.mediaSequence)
        guard !overflow, index >= 0 else { return start }
        return index < written.segments.count ? segmentStarts[index + 1] : isLive ? nil : end
    }
}

extension PlaylistTracker {
    /// Whether media behind a segment is listed that comes from another folder.
    package func isInOtherFolder(thanAnyBehind index: Int) -> Bool {
        let segments = playlist.segments
        guard segments.indices.contains(index) else { return false }
        let folder = SilentFolders.folder(of: segments[index].uri)
        return segments.indices.dropFirst(index + 1).contains { SilentFolders.folder(of: segments[$0].uri) != folder }
    }
}
