/// Gives the player a fresh URL where the one that it has runs out, in the middle of a stream or before it has begun:
/// servers that sign URLs answer 403 or 410 from then on.
///
/// What is buffered keeps playing while the program is asked. The fresh playlist takes the place of the old one by time
/// and media sequence, so that nothing is played twice and nothing left out. It has to be of the same stream: with the
/// same variants in the same order. See D06 in docs/behaviour/features.md.
public protocol URLRefresher: Sendable {
    /// How long an answer may take. Default 30 s.
    var deadline: Duration { get }
    /// The URL to go on with, for the playlist that the item was made with. Throwing ends the item once what is buffered
    /// was played. Asked again only after media came from the URL that was given before.
    func freshURL(insteadOf expired: ExpiredURL) async throws -> String
}

extension URLRefresher {
    /// Thirty seconds.
    public var deadline: Duration { .seconds(30) }
}

/// A URL that has run out.
public struct ExpiredURL: Sendable, Hashable {
    /// The URL of the item, or the one that was given for it last.
    public var itemURLString: String
    /// The URL of the requested resource: a playlist, a segment, an initialization section or a key.
    public var urlString: String
    /// The server's response: 403 or 410.
    public var status: Int

    /// Makes a value.
    package init(itemURL: String, url: String, status: Int) {
        itemURLString = itemURL
        urlString = url
        self.status = status
    }
}
