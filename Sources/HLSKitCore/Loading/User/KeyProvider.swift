/// Gives the player keys that it cannot, or should not, load by itself: those of key systems of the program's own
/// (`KEYFORMAT`), and those with URLs that mean nothing to the network (`skd:`).
///
/// Each key is asked for once per item, however many segments and renditions need it. The keys decrypt by the `METHOD`
/// that the playlist gives. Systems that keep keys from the program (FairPlay, Widevine) cannot be served.
public protocol KeyProvider: Sendable {
    /// The `KEYFORMAT`s that it has keys for; `identity` is that of keys without one.
    var keyFormats: Set<String> { get }
    /// How long an answer may take. Default 10 s.
    var deadline: Duration { get }
    /// The key, 16 bytes; nil where this provider does not know it, so that the next one, and at last the network, is
    /// asked. Throwing ends the request for good.
    func key(for request: ContentKeyRequest) async throws -> [UInt8]?
}

extension KeyProvider {
    /// Ten seconds.
    public var deadline: Duration { .seconds(10) }
}

/// The key that is wanted.
public struct ContentKeyRequest: Sendable, Hashable {
    /// The URI of the key, made absolute.
    public var url: String
    /// `KEYFORMAT` of the key.
    public var keyFormat: String
    /// The URL that the item was made with.
    public var itemURL: String

    /// Makes a request.
    public init(url: String, keyFormat: String, itemURL: String) {
        self.url = url
        self.keyFormat = keyFormat
        self.itemURL = itemURL
    }
}
