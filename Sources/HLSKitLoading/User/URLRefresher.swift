/// A type that provides a fresh URL when the URL of an item expires.
///
/// Servers that sign URLs respond with 403 or 410 to expired ones, either at the start or during playback. The player
/// keeps playing its buffer while your app provides a URL. The fresh playlist continues the old one by time and media
/// sequence, so that nothing is repeated or missing. It must be of the same stream, with the same variants in the same
/// order.
public protocol URLRefresher: Sendable {
    /// The longest time that a response may take. The default is 30 s.
    var deadline: Duration { get }
    /// Returns a fresh URL for the playlist with which the item was created.
    ///
    /// If it throws an error, the item fails after it has played its buffer. It is called again only after the returned
    /// URL has delivered media.
    func freshURL(insteadOf expired: ExpiredURL) async throws -> String
}

extension URLRefresher {
    /// The default deadline of thirty seconds.
    public var deadline: Duration { .seconds(30) }
}

/// A URL that has expired.
public struct ExpiredURL: Sendable, Hashable {
    /// The URL of the item, or the last fresh one.
    public var itemURLString: String
    /// The URL of the requested resource: a playlist, a segment, an initialization section or a key.
    public var urlString: String
    /// The status of the server's response, 403 or 410.
    public var status: Int

    package init(itemURL: String, url: String, status: Int) {
        itemURLString = itemURL
        urlString = url
        self.status = status
    }
}
