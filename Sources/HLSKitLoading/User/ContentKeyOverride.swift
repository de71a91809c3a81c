/// A key, key URL or initialization vector that overrides the ones in playlists.
///
/// It applies to all media that the item's playlists declare as encrypted. Other media is not decrypted.
public struct ContentKeyOverride: Sendable, Hashable {
    /// The key of 16 bytes for all key systems, or nil (the default) to request keys. With a key, none is requested.
    package var key: [UInt8]?
    /// The absolute http, https or `data:` URL of keys, or nil (the default) for the URLs in playlists. It has no
    /// effect if ``key`` is set.
    package var urlString: String?
    /// The initialization vector of all segments, or nil (the default) for the values in playlists. If it does not have
    /// 16 bytes, the item fails.
    package var initializationVector: [UInt8]?

    /// Creates an override of the given values.
    public init(key: [UInt8]? = nil, urlString: String? = nil, initializationVector: [UInt8]? = nil) {
        self.key = key
        self.urlString = urlString
        self.initializationVector = initializationVector
    }
}
