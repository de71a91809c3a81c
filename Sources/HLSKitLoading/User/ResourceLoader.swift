/// A type that loads playlists, keys, initialization sections and media with a custom scheme.
///
/// If a loader serves media, set `automaticallyWaitsToMinimizeStalling` to `false`, because the player cannot measure
/// network throughput.
public protocol ResourceLoader: Sendable {
    /// The schemes in lower case without the colon.
    ///
    /// `http`, `https`, `file` and `data` are ignored.
    var schemes: Set<String> { get }
    /// The longest time for a response, or for each piece of a stream. The default is 10 s.
    var deadline: Duration { get }
    /// Loads a resource. The task is cancelled when the response is no longer needed.
    func load(_ request: TransportRequest) async throws -> LoadedResource
}

extension ResourceLoader {
    /// The default deadline of ten seconds.
    public var deadline: Duration { .seconds(10) }
}

/// The response of a ``ResourceLoader``.
public struct LoadedResource: Sendable {
    /// The content of the resource, or its location.
    public enum Content: Sendable {
        case bytes([UInt8])
        /// A stream of pieces. The player takes the next piece when it has space.
        case stream(AsyncThrowingStream<[UInt8], any Error>)
        /// An absolute URL of the resource, which is checked like a URL from a playlist.
        case redirect(String)
    }

    /// The content of the resource, or its location.
    public var content: Content
    /// The value of `Content-Type`, or `nil` (the default) if it is unknown.
    public var contentType: String?
    /// The base URL of relative references, or `nil` (the default) for the requested URL.
    public var urlString: String?
    /// A Boolean value that indicates whether the content is the whole resource.
    ///
    /// The default is `true`, and a requested byte range is extracted from the content. Set `false` if the content is
    /// already that range.
    public var isWhole = true
    /// A Boolean value that indicates whether the content comes from a cache.
    ///
    /// The default is `false`. Cached content does not count for the measured throughput.
    public var wasReadFromCache = false
    /// The renewal interval of a key, or `nil` (the default) for never.
    ///
    /// See ``ContentKey/renewalInterval``. It has no effect on other resources.
    public var renewalInterval: Duration?

    /// Creates a resource, which is whole unless you change ``isWhole``.
    public init(_ content: Content, contentType: String? = nil, urlString: String? = nil) {
        self.content = content
        self.contentType = contentType
        self.urlString = urlString
    }
}
