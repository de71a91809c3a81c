import HLSKitPlaylist

/// Decides which resources a playlist may reference (R54–R56). It is applied before any I/O.
package struct ResourcePolicy: Sendable, Hashable {
    /// The real path of the folder that a local playlist may read from (see ``realPath(_:)``). It is nil if the user
    /// gave a network URL, so that files are inaccessible.
    var rootFolder: String?
    /// The file that the user gave, which may reference itself, as a media file with byte ranges does. An open file
    /// without a name (`/proc/self/fd/3`) is in no folder.
    private var ownPath: String?
    /// Whether a local playlist may reference files outside ``rootFolder``. The default is false. A playlist from the
    /// network never has access to files.
    var allowsFilesAnywhere: Bool
    /// The schemes in lower case that the app loads itself. Empty by default.
    var customSchemes: Set<String> = []
    /// Whether keys may have any scheme without its own rule, because the app supplies them. The default is false.
    var admitsAllKeySchemes = false

    /// Creates a policy. By default, local files are inaccessible.
    package init(rootFolder: String? = nil, allowsFilesAnywhere: Bool = false) {
        self.rootFolder = rootFolder
        self.allowsFilesAnywhere = allowsFilesAnywhere
    }

    /// Checks one resource.
    ///
    /// - Parameters:
    ///   - url: The absolute URL after resolution.
    ///   - source: The URL of the playlist that names it, or nil if the user gave `url`.
    ///   - realPath: Returns the path without symbolic links, or nil if there is none. It accesses the disk for `file:`
    ///     only.
    ///
    /// - Throws: `refused` if the rules forbid it, `badURL` if it is not an absolute URL, or `fileNotFound` if the file
    ///   does not exist in a readable folder.
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
        // Compare the folder before reporting a missing file, so that a playlist cannot discover other files.
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

    /// Returns the policy for an item with a URL from the user. The folder of a `file:` URL becomes the root.
    ///
    /// It accesses the disk once for a `file:` URL, and twice if the file does not exist, for example if the app
    /// supplies the playlist.
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

    package static func realPath(_ path: String) -> String? { LocalFile.realPath(path) }
}
