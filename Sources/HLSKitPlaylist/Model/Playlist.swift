/// A playlist of either kind.
public enum Playlist: Sendable, Hashable {
    case multivariant(MultivariantPlaylist)
    case media(MediaPlaylist)

    /// The two kinds of playlist.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case multivariant, media
    }

    /// Reads a playlist of unknown kind.
    ///
    /// `url` is the URL of the bytes after redirects, which is the base of relative references. Time and memory grow
    /// linearly with the size of the text. Errors depend on ``PlaylistParser/Options/mode``.
    public init(
        parsing bytes: [UInt8], url: String, options: PlaylistParser.Options = .init()
    ) throws(PlaylistError) {
        var parser = PlaylistParser(url: url, options: options)
        try parser.append(bytes)
        self = try parser.finish()
    }

    /// Reads a playlist of either kind from text.
    public init(
        parsing text: String, url: String, options: PlaylistParser.Options = .init()
    ) throws(PlaylistError) {
        try self.init(parsing: Array(text.utf8), url: url, options: options)
    }

    /// The kind of the playlist.
    public var kind: Kind {
        switch self {
        case .multivariant: .multivariant
        case .media: .media
        }
    }

    /// The faults found by lenient parsing.
    public var issues: [PlaylistIssue] {
        switch self {
        case .multivariant(let playlist): playlist.issues
        case .media(let playlist): playlist.issues
        }
    }

    /// The playlist as text; see ``MediaPlaylist/text`` and ``MultivariantPlaylist/text``.
    public var text: [UInt8] {
        switch self {
        case .multivariant(let playlist): playlist.text
        case .media(let playlist): playlist.text
        }
    }
}

/// A value that does not affect equality and hash: an origin, not content.
struct Unhashed<Value: Sendable>: Sendable, Hashable {
    var value: Value

    init(_ value: Value) { self.value = value }

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
