/// Keys by hand: what takes the place of what playlists say of keys, for content of one's own.
///
/// Holds for everything that a playlist says is encrypted, in all of the item's playlists. Media that no playlist says is
/// encrypted stays as it is.
public struct ContentKeyOverride: Sendable, Hashable {
    /// The key, 16 bytes, of whatever key system; no key is requested. nil (the default) requests keys.
    package var key: [UInt8]?
    /// The absolute URL that keys are requested from, by http, https or `data:`; nil (the default) is the playlist's. Of no
    /// effect beside ``key``.
    package var urlString: String?
    /// The initialization vector of all segments, 16 bytes; nil (the default) is the playlist's. Another count fails the
    /// item.
    package var initializationVector: [UInt8]?

    /// Makes an override of what is given.
    public init(key: [UInt8]? = nil, urlString: String? = nil, initializationVector: [UInt8]? = nil) {
        self.key = key
        self.urlString = urlString
        self.initializationVector = initializationVector
    }
}
