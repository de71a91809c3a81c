/// Loads what has a scheme of the program's own: playlists, keys, initialization sections and media.
///
/// Whoever serves media should let the player play without waiting
/// (`automaticallyWaitsToMinimizeStalling = false`): it cannot measure the network. See docs/loading.md.
public protocol ResourceLoader: Sendable {
    /// In lower case, without the colon. `http`, `https`, `file` and `data` are not the program's to load and are passed
    /// over.
    var schemes: Set<String> { get }
    /// How long an answer, and each piece of a streamed one, may take. Default 10 s.
    var deadline: Duration { get }
    /// Answers a request. The task is cancelled when nobody waits for the answer any more.
    func load(_ request: TransportRequest) async throws -> LoadedResource
}

extension ResourceLoader {
    /// Ten seconds.
    public var deadline: Duration { .seconds(10) }
}

/// The response of a ``ResourceLoader``.
public struct LoadedResource: Sendable {
    /// The content of the resource, or its location.
    public enum Content: Sendable {
        case bytes([UInt8])
        /// Pieces as they come. A piece is taken when the player has room for it.
        case stream(AsyncThrowingStream<[UInt8], any Error>)
        /// The resource is at this absolute URL. It is checked as what a playlist names is.
        case redirect(String)
    }

    /// The content of the resource, or its location.
    public var content: Content
    /// The value of `Content-Type`; nil (the default) if unknown.
    public var contentType: String?
    /// The URL that relative references are resolved against; nil (the default) is the one that was asked for.
    public var urlString: String?
    /// The content is the whole resource, so that a byte range that was asked for is cut out of it. Default true; false
    /// where the content is that range already.
    public var isWhole = true
    /// It says nothing of the network. Default false.
    public var wasReadFromCache = false
    /// Of a key: after how long it is asked for again, as ``ContentKey/renewalInterval`` says. nil (the default) is never;
    /// of no effect on other resources.
    public var renewalInterval: Duration?

    /// Makes a resource, whole unless ``isWhole`` is changed.
    public init(_ content: Content, contentType: String? = nil, urlString: String? = nil) {
        self.content = content
        self.contentType = contentType
        self.urlString = urlString
    }
}
