package import HLSKitPlaylist

/// A delta update of a live playlist, from which the server omits the segments before its skip boundary.
///
/// Source: rfc8216bis §6.2.5.1, §6.3.7.
package struct DeltaUpdate: Sendable {
    package let known: MediaPlaylist
    let value: String

    /// Creates a delta update, or returns nil if the server does not offer one or would omit nothing. Also returns nil
    /// if the known playlist is older than half the skip boundary, or if the tracker has renumbered the server's
    /// segments.
    package init?(after tracker: PlaylistTracker, at now: Duration) {
        guard tracker.isLive, tracker.renumbering == 0, let control = tracker.playlist.serverControl,
            let boundary = control.canSkipUntil,
            now - tracker.lastLoadBegan < boundary / 2, tracker.end - tracker.start > boundary
        else { return nil }
        known = tracker.written
        value = control.canSkipDateRanges ? "v2" : "YES"
    }
}
