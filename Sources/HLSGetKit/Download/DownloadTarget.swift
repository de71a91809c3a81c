package import Glibc
package import HLSKitCore

package enum DownloadTarget: Sendable, Equatable {
    case file(path: String, format: OutputFormat)
    case folder(path: String)

    private static let commonNames: Set<String> = [
        "index", "master", "playlist", "main", "manifest", "prog_index", "top", "stream", "video", "hls", "chunklist",
    ]
    package static let formats: [OutputFormat] = [.mp4, .mkv, .ts, .aac, .mp3]

    /// - Parameters:
    ///   - name: The name of the stream, or `nil` for one from its URL.
    ///   - number: The number of the URL, from 1.
    ///   - now: The start time of the command.
    ///   - isSplit: Whether the file is one of several.
    package init(
        output: String?, format: OutputFormat?, url: String, name: String? = nil, number: Int = 1,
        now: tm = NameTemplate.now, isSplit: Bool = false
    ) throws(ArgumentValueError) {
        let name = name.map(NameFacts.fileName).flatMap { $0.isEmpty ? nil : $0 } ?? Self.name(of: url)
        guard let output else {
            let format = format ?? .mp4
            self = .file(path: "\(name).\(format.rawValue)", format: format)
            return
        }
        let template = try NameTemplate(parsing: output)
        let path = try template.path(
            url: url, name: name, ending: (format ?? .mp4).rawValue, number: number, now: now)
        guard isSplit || !path.contains(SplitNames.word) else { throw ArgumentValueError("-o: {part} needs --split") }
        try self.init(path: path, format: format)
        if isSplit, case .folder = self { throw ArgumentValueError("--split needs -o FILE, not FOLDER/") }
    }

    private init(path output: String, format: OutputFormat?) throws(ArgumentValueError) {
        guard output != "-" else {
            throw ArgumentValueError("-o: downloads cannot go to standard output; hlsget -o - can")
        }
        if output.hasSuffix("/") {
            if format != nil { throw ArgumentValueError("-o: a folder has no format; remove -f") }
            var path = output[...]
            while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
            guard path != "/" else { throw ArgumentValueError("-o: cannot replace the folder /") }
            self = .folder(path: String(path))
            return
        }
        guard !output.isEmpty else { throw ArgumentValueError("-o needs a file name") }
        guard let format = format ?? OutputFormat(path: output), Self.formats.contains(format) else {
            throw ArgumentValueError(
                "-o: unknown file extension in \(TerminalText.escaped(output)) (mp4, mkv, ts, m4a, aac, mp3); use -f")
        }
        self = .file(path: output, format: format)
    }

    /// Returns the same target with an unused name: `film-2.mp4`.
    package func renamed(_ isFree: (String) -> Bool) -> DownloadTarget {
        var number = 2
        var free = path
        while !isFree(free) {
            let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            let dot = path[name...].lastIndex(of: ".").flatMap { $0 > name ? $0 : nil } ?? path.endIndex
            free = "\(path[..<dot])-\(number)\(path[dot...])"
            number += 1
        }
        switch self {
        case .file(_, let format): return .file(path: free, format: format)
        case .folder: return .folder(path: free)
        }
    }

    package var path: String {
        switch self {
        case .file(let path, _), .folder(let path): path
        }
    }

    /// Reports an unwritable target before loading starts (R72).
    package func check(overwrite: Bool) throws(HLSError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if case .folder = self {
            guard workPath != path else { return }
            throw HLSError(
                code: .notWritable, path: path, text: "the name is taken, and not by a download that can be added to")
        }
        // A link is replaced, but only if it leads to a regular file.
        let isLink = status.st_mode & S_IFMT == S_IFLNK
        if isLink, stat(path, &status) != 0 { status.st_mode = S_IFREG }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw HLSError(code: .notWritable, path: path, text: "not a regular file")
        }
        guard overwrite else { throw HLSError(code: .fileExists, path: path, text: "the file exists") }
        guard isLink || access(path, W_OK) == 0 else {
            throw HLSError(code: .notWritable, path: path, text: String(cString: strerror(errno)))
        }
    }

    /// The working folder of an unfinished download. A finished folder is its own working folder.
    package var workPath: String {
        if case .folder(let path) = self, DownloadTask.isDownload(path) { return path }
        return path + ".download"
    }

    /// A file name from the last meaningful component of the URL's path.
    package static func name(of url: String, or fallback: String = "download") -> String {
        var rest = url.prefix { $0 != "?" && $0 != "#" }
        if let slashes = rest.firstRange(of: "://") { rest = rest[slashes.upperBound...].drop { $0 != "/" } }
        let parts = rest.split(separator: "/").reversed()
        for (index, part) in parts.enumerated() {
            var name = part
            if index == 0, let dot = name.lastIndex(of: "."), dot != name.startIndex { name = name[..<dot] }
            // Wowza's names: chunklist_w1234, playlist_b800000.
            let word = name.lowercased().prefix { $0 != "_" }
            let isNumbered = ["chunklist", "playlist"].contains(String(word)) && name.contains("_")
            if commonNames.contains(name.lowercased()) || isNumbered { continue }
            let plain = name.unicodeScalars.map { scalar -> Character in
                let isPlain =
                    scalar.isASCII
                    && (("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                        || ("0"..."9").contains(scalar) || "-_.".unicodeScalars.contains(scalar))
                return isPlain ? Character(scalar) : "_"
            }
            let text = String(plain.drop { $0 == "." || $0 == "-" }.prefix(100))
            if !text.isEmpty { return text }
        }
        return fallback
    }
}
