/// A multivariant playlist: the variants of a presentation and their renditions.
///
/// Source: rfc8216bis §4.4.6.
public struct MultivariantPlaylist: Sendable, Hashable {
    /// The URL of the playlist after redirects, which is the base of its references.
    public var url: String
    /// The version (`EXT-X-VERSION`).
    ///
    /// `nil` means that it is undeclared, which implies 1.
    public var version: Int?
    /// A Boolean value that indicates whether every segment of every media playlist can be decoded separately.
    public var hasIndependentSegments = false
    /// The preferred start of all media playlists (`EXT-X-START`), or `nil` if undeclared.
    public var start: StartPoint?
    /// The variants, in the order of the text.
    public var variants: [VariantStream] = []
    /// The I-frame-only variants, for trick play, in the order of the text.
    public var iFrameVariants: [VariantStream] = []
    /// The renditions, in the order of the text.
    ///
    /// Several renditions may share type, group and even URI.
    public var renditions: [Rendition] = []
    /// The session data (`EXT-X-SESSION-DATA`), in the order of the text.
    public var sessionData: [MultivariantPlaylist.SessionData] = []
    /// The keys of media playlists that may be loaded in advance (`EXT-X-SESSION-KEY`).
    public var sessionKeys: [EncryptionKey] = []
    /// The steering server (`EXT-X-CONTENT-STEERING`), or `nil` if undeclared.
    public var contentSteering: ContentSteering?
    /// The variables and their values.
    public var definitions: [VariableDefinition] = []
    private var found = Unhashed<[PlaylistIssue]>([])
    var source = Unhashed<MultivariantSource?>(nil)

    /// Creates a playlist without variants.
    public init(url: String = "") { self.url = url }

    /// Reads a multivariant playlist.
    ///
    /// A media playlist throws ``PlaylistError/Code/wrongKind``.
    public init(
        parsing bytes: [UInt8], url: String, options: PlaylistParser.Options = .init()
    ) throws(PlaylistError) {
        guard case .multivariant(let playlist) = try Playlist(parsing: bytes, url: url, options: options) else {
            throw PlaylistError(
                code: .wrongKind, rule: .mixedKinds, text: "a media playlist, not a multivariant playlist")
        }
        self = playlist
    }

    /// Reads a multivariant playlist from text.
    ///
    /// A media playlist throws ``PlaylistError/Code/wrongKind``.
    public init(
        parsing text: String, url: String, options: PlaylistParser.Options = .init()
    ) throws(PlaylistError) {
        try self.init(parsing: Array(text.utf8), url: url, options: options)
    }

    /// The faults found by lenient parsing, in the order of the text.
    ///
    /// `==` ignores them.
    public var issues: [PlaylistIssue] {
        get { found.value }
        set { found.value = newValue }
    }

    /// Returns the renditions of a group.
    public func renditions(_ type: Rendition.MediaType, groupID: String) -> [Rendition] {
        renditions.filter { $0.type == type && $0.groupID == groupID }
    }

    /// The variables by name, for ``PlaylistParser/Options/importedVariables`` of its media playlists.
    public var variables: [String: String] {
        Dictionary(definitions.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// Returns the absolute form of a reference in this playlist, or `nil` if it cannot be parsed.
    public func resolve(_ uri: String) -> String? { URIReference.resolve(uri, against: url) }
}

final class MultivariantSource: Sendable {
    struct ItemLine: Sendable {
        var start: Int
        var tag: Tag
        var index: Int
        var uriStart: Int?
    }

    let text: [UInt8]
    let items: [ItemLine]
    /// The playlist as read, without source.
    let original: MultivariantPlaylist

    init(text: [UInt8], items: [ItemLine], original: MultivariantPlaylist) {
        self.text = text
        self.items = items
        self.original = original
    }
}
