import Glibc

package enum CommandSuggestion {
    private static let synonyms: [String: String] = [
        "dl": "download", "get": "download", "save": "download", "record": "download", "rip": "download",
        "info": "inspect", "probe": "inspect", "show": "inspect", "dump": "inspect", "mediainfo": "inspect",
        "formats": "list", "ls": "list", "variants": "list", "tracks": "list", "streams": "list",
        "check": "lint", "validate": "lint", "verify": "lint", "validator": "lint",
        "thumbs": "thumbnails", "images": "thumbnails", "screenshots": "thumbnails", "snapshots": "thumbnails",
        "subs": "captions", "subtitles": "captions", "cc": "captions", "sim": "simulate", "open": "play",
        "stream": "play", "view": "play",
    ]

    /// - Returns: The error message, or `nil` if the first word may be a stream.
    package static func message(for arguments: [String], commands: [String]) -> String? {
        if arguments.count > 1, arguments[0] == "help",
            let name = arguments.dropFirst().first(where: { $0.first != "-" }),
            name != "help", !commands.contains(name)
        {
            let near = commands.first { Suggestion.isNear(name, $0) }.map { "; did you mean hlsget help \($0)?" }
            return "there is no command '\(name)'\(near ?? "; hlsget --help lists them")"
        }
        guard let first = arguments.first, first.count > 1, !commands.contains(first),
            first.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "-") }), first.first != "-",
            access(first, F_OK) != 0
        else { return nil }
        if first == "version" { return "there is no command or file 'version'; hlsget --version says it" }
        let near = commands.min { Suggestion.distance(first, $0) < Suggestion.distance(first, $1) }
        let typo = near.flatMap { Suggestion.isNear(first, $0) ? $0 : nil }
        let synonym = synonyms[first.lowercased()].flatMap { commands.contains($0) ? $0 : nil }
        guard let meant = synonym ?? typo else { return nil }
        return "there is no command or file '\(first)'; did you mean hlsget \(meant)?"
    }
}
