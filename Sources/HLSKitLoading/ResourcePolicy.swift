import HLSKitPlaylist

/// Which resources a playlist may name (docs/behaviour/resources.md; R54–R56). Asked before any I/O.
package struct ResourcePolicy: Sendable, Hashable {
    /// Real path of the folder that a playlist given as a file may read from (see ``realPath(_:)``); nil when the
    /// user gave a network URL, so that no file is in reach.
    var rootFolder: String?
    /// The file that the user gave: it may name itself, as a media file does whose parts are loaded. One that is open and has
    /// no name any more (`/proc/self/fd/3`) is in no folder.
    private var ownPath: String?
    /// Whether a playlist given as a file may name files outside ``rootFolder``. Default: false. A playlist from the
    /// network reaches no file even then.
    var allowsFilesAnywhere: Bool
    /// Schemes, in lower case, that the program loads by itself. Default: none.
    var customSchemes: Set<String> = []
    /// Keys may have any scheme but those of other rules: the program gives them. Default: false.
    var admitsAllKeySchemes = false

    /// Makes a policy; by default no local file is in reach.
    package init(rootFolder: String? = nil, allowsFilesAnywhere: Bool = false) {
        self.rootFolder = rootFolder
        self.allowsFilesAnywhere = allowsFilesAnywhere
    }

    /// Checks one resource.
    ///
    /// - Parameters:
    ///   - url: Its absolute URL, after resolution.
    ///   - resourceClass: What it is for.
    ///   - source: URL of the playlist that names it; nil when the user gave `url`.
    ///   - realPath: The path without symbolic links, nil if there is none. Touches the disk for `file:` only.
    /// - Throws: `refused` if the rules forbid it, `badURL` where it is not an absolute URL, `fileNotFound` where
    ///   there is no such file (in a folder that may be read).
    package func check(
        _ url: String, resourceClass: ResourceClass, namedBy source: String?,
        realPath: (String) -> String? = ResourcePolicy.realPath
    ) throws(LoadingError) {
        guard let reference = URIReference(url), let scheme = reference.scheme?.lowercased() else {
            throw LoadingError(code: .badURL, url: url, text: "not an absolute URL")
        }
        switch scheme {
        case "http", "https":
            _ = try HTTPURL(url)
        case "data":
            guard resourceClass == .key else { throw refusal(url, "data: is allowed for keys only") }
        case "file":
            guard let source else { return }
            try checkFile(url, namedBy: source, realPath: realPath)
        case _ where customSchemes.contains(scheme): return
        case _ where admitsAllKeySchemes && resourceClass == .key: return
        default:
            throw refusal(url, "the scheme \"\(scheme)\" is not allowed")
        }
    }

    private func checkFile(
        _ url: String, namedBy source: String, realPath: (String) -> String?
    ) throws(LoadingError) {
        guard LocalFile.isFileURL(source), let rootFolder else {
            throw refusal(url, "a playlist from the network names a local file")
        }
        let path = try LocalFile.path(of: url)
        if allowsFilesAnywhere || path == ownPath { return }
        // The folder is compared before existence is reported, so that a playlist cannot ask what else there is.
        guard let real = realPath(path) else {
            throw Self.isInside(path, rootFolder) && !path.contains("/../")
                ? LoadingError(code: .fileNotFound, url: url, text: "no such file: \(path)")
                : refusal(url, "outside the playlist's folder \(rootFolder)")
        }
        guard Self.isInside(real, rootFolder) else {
            throw refusal(url, "outside the playlist's folder \(rootFolder)")
        }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        path.utf8.starts(with: (folder.hasSuffix("/") ? folder : folder + "/").utf8)
    }

    private func refusal(_ url: String, _ why: String) -> LoadingError {
        LoadingError(code: .refused, url: url, text: why)
    }

    /// The policy for an item whose first URL the user gave: for a `file:` URL its folder becomes the root.
    ///
    /// Touches the disk once, for a `file:` URL; twice where nothing has that name, as where a program has the playlist from
    /// elsewhere.
    package static func forItem(at url: String, allowsFilesAnywhere: Bool = false) -> ResourcePolicy {
        var policy = ResourcePolicy(allowsFilesAnywhere: allowsFilesAnywhere)
        if LocalFile.isFileURL(url), let path = try? LocalFile.path(of: url) {
            policy.rootFolder = realPath(path).map(folder) ?? realPath(folder(of: path))
            policy.ownPath = path
        }
        return policy
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? path
    }

    /// `path` without symbolic links and dot segments, or nil if nothing is there.
    package static func realPath(_ path: String) -> String? { LocalFile.realPath(path) }
}
