import HLSPlaylist

/// A newer state of a live playlist, asked for without what is known of it: the server leaves out segments that are
/// further from the end than its skip boundary.
///
/// Source: rfc8216bis §6.2.5.1, §6.3.7.
struct DeltaUpdate: Sendable {
    private static let name = "_HLS_skip"

    /// What is known, which the answer is laid over.
    let known: MediaPlaylist
    private let value: String

    /// nil where the server offers none, where it would leave out nothing, and where what is known is older than half the
    /// skip boundary.
    init?(after tracker: PlaylistTracker, at now: Duration) {
        guard tracker.isLive, let control = tracker.playlist.serverControl, let boundary = control.canSkipUntil,
            now - tracker.lastLoadBegan < boundary / 2, tracker.end - tracker.start > boundary
        else { return nil }
        known = tracker.playlist
        value = control.canSkipDateRanges ? "v2" : "YES"
    }

    /// The URL that asks for it.
    func url(of playlist: String) -> String {
        let plain = playlist.prefix { $0 != "#" }
        return plain + (plain.contains("?") ? "&" : "?") + "\(Self.name)=\(value)"
    }

    /// The URL of the playlist whose update came from there.
    func url(answering url: String) -> String {
        for parameter in ["?\(Self.name)=\(value)", "&\(Self.name)=\(value)"] where url.hasSuffix(parameter) {
            return String(url.dropLast(parameter.count))
        }
        return url
    }
}
