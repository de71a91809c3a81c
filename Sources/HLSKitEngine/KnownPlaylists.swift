import HLSKitPlaylist
import HLSKitSelection

/// A media playlist that was loaded, with the URL that answered.
struct KnownPlaylist: Sendable {
    @Shared var playlist: MediaPlaylist
    var url: String
    /// Where it was laid on the timeline; nil where it was not.
    var tracker: PlaylistTracker?
}

/// Media playlists that were loaded before, by URL: a VOD variant that was left is taken up again without I/O.
struct KnownPlaylists: Sendable {
    private var lists: [String: KnownPlaylist] = [:]

    subscript(url: String) -> KnownPlaylist? { lists[url] }

    /// One that came for a lane that had been led elsewhere meanwhile.
    mutating func keep(_ playlist: MediaPlaylist, requestURL: String, url: String) {
        lists[requestURL] = KnownPlaylist(playlist: playlist, url: url)
    }

    /// One that is laid on the timeline, and has ended: any other is another when its lane comes back to it.
    ///
    /// - Returns: whether it is kept.
    mutating func keep(_ tracker: PlaylistTracker, url: String) {
        lists[tracker.requestURL] = KnownPlaylist(playlist: tracker.playlist, url: url, tracker: tracker)
    }

    /// Their URLs have run out.
    mutating func forget() { lists = [:] }
}
