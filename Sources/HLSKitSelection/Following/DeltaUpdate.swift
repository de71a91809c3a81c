package import HLSKitPlaylist

/// A newer state of a live playlist, asked for without what is known of it: the server leaves out segments that are
/// further from the end than its skip boundary.
///
/// Source: rfc8216bis §6.2.5.1, §6.3.7.
package struct DeltaUpdate: Sendable {
    /// What is known, which the answer is laid over.
    package let known: MediaPlaylist
    /// Of `_HLS_skip`.
    let value: String

    /// nil where the server offers none, where it would leave out nothing, and where what is known is older than half the
    /// skip boundary; and where the server's numbers are not those of what is known.
    package init?(after tracker: PlaylistTracker, at now: Duration) {
        guard tracker.isLive, tracker.renumbering == 0, let control = tracker.playlist.serverControl,
            let boundary = control.canSkipUntil,
            now - tracker.lastLoadBegan < boundary / 2, tracker.end - tracker.start > boundary
        else { return nil }
        known = tracker.written
        value = control.canSkipDateRanges ? "v2" : "YES"
    }
}
