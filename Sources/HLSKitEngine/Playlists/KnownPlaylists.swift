import HLSKitPlaylist
import HLSKitSelection

/// A loaded media playlist with the URL that delivered it.
struct KnownPlaylist: Sendable {
    @Shared var playlist: MediaPlaylist
    var url: String
    /// Its position on the timeline, or nil if it has none.
    var tracker: PlaylistTracker?
}

/// Previously loaded media playlists by URL, so a return to a VOD variant needs no I/O.
struct KnownPlaylists: Sendable {
    private var lists: [String: KnownPlaylist] = [:]

    subscript(url: String) -> KnownPlaylist? { lists[url] }

    /// Keeps a playlist that arrived after its lane had switched to another one.
    mutating func keep(_ playlist: MediaPlaylist, requestURL: String, url: String) {
        lists[requestURL] = KnownPlaylist(playlist: playlist, url: url)
    }

    /// Keeps an ended playlist with its position. A live one would be outdated when its lane returns to it.
    ///
    /// - Returns: Whether the playlist is kept.
    mutating func keep(_ tracker: PlaylistTracker, url: String) {
        lists[tracker.requestURL] = KnownPlaylist(playlist: tracker.playlist, url: url, tracker: tracker)
    }

    /// Forgets all playlists because their URLs have expired.
    mutating func forget() { lists = [:] }
}
