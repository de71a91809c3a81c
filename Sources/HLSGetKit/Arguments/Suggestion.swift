/// Suggestions for unknown options. They come from the argument parser if they are similar (`--quality` for
/// `--quailty`, but not `--from` for `--json`), from the names in other programs, and from other commands with the
/// option.
package enum Suggestion {
    private static let words = " Did you mean '"
    private static let unknown = "Unknown option '"
    private static let unexpected = "Unexpected argument '"
    private static let missing = "Missing expected argument '"
    private static let rootUsage = "Usage: hlsget <subcommand>"
    /// Options that no command declares.
    private static let common = ["help", "version", "help-hidden", "generate-completion-script"]

    /// Option names of other programs (ffmpeg, mpv, streamlink, yt-dlp, N_m3u8DL-RE, curl) and ours.
    private static let synonyms: [String: String] = [
        "start": "from", "ss": "from", "seek": "from", "begin": "from", "end": "to", "stop": "until", "t": "duration",
        "length": "duration", "hls-duration": "duration", "sub": "subs", "subtitle": "subs", "subtitles": "subs",
        "sub-lang": "subs", "slang": "subs", "lang": "audio", "alang": "audio", "audio-lang": "audio",
        "language": "languages", "resolution": "quality", "height": "quality", "best": "quality", "worst": "quality",
        "bitrate": "peak-bitrate", "bandwidth": "peak-bitrate", "max-bitrate": "peak-bitrate",
        "max-bandwidth": "peak-bitrate", "out": "output", "output-file": "output", "save": "output",
        "record": "output", "output-format": "format", "force": "overwrite", "yes": "overwrite",
        "force-overwrites": "overwrite", "cookie": "cookies", "cookies-from-browser": "cookies", "user": "netrc",
        "username": "netrc", "check-certificate": "insecure", "no-check-certificate": "insecure",
        "no-check-certificates": "insecure", "jobs": "connections", "concurrent-fragments": "connections",
        "thread-count": "connections", "rate-limit": "limit-rate", "ratelimit": "limit-rate", "limit": "limit-rate",
        "max-speed": "limit-rate", "speed": "rate", "http-header": "header", "http-headers": "header",
        "add-header": "header", "headers": "header", "agent": "user-agent", "ua": "user-agent",
        "http-user-agent": "user-agent", "retry": "retries", "retry-sleep": "retry-backoff",
        "retry-delay": "retry-backoff", "retry-streams": "wait", "debug": "verbose", "silent": "quiet",
        "formats": "list", "list-formats": "list", "list-variants": "list", "mute": "no-audio",
        "audio-only": "no-video", "segment-time": "split", "stream-segmented-duration": "split",
        "live-restart": "live-from-start", "hls-live-restart": "live-from-start", "hls-start-offset": "from",
        "batch": "batch-file", "input-file": "batch-file", "dump-json": "json", "cert-file": "cert",
    ]

    /// Returns `message` with the best suggestion, and without a dissimilar one.
    ///
    /// - Parameters:
    ///   - commands: Returns all commands. Called only for an unknown option or an extra argument.
    package static func improved(
        _ message: String, command: String, arguments: [String] = [], _ commands: () -> [CommandOptions]
    ) -> String {
        let message = namingUnknownOption(filtered(message), arguments, command, commands)
        if let start = message.firstRange(of: unexpected)?.upperBound, let end = message[start...].firstIndex(of: "'") {
            let reason = reason(forRefusing: String(message[start..<end]), arguments, command, commands)
            return message[...end] + reason + message[message.index(after: end)...]
        }
        guard !message.contains(words), let start = message.firstRange(of: unknown)?.upperBound,
            let end = message[start...].firstIndex(of: "'"), message[start..<end].hasPrefix("--")
        else { return message }
        let typed = String(message[start..<end].dropFirst(2).prefix { $0 != "=" })
        guard let hint = hint(for: typed, command, commands()) else { return message }
        let rest = message[message.index(after: end)...]
        return message[...end] + hint + (rest.hasPrefix(".") ? rest.dropFirst() : rest)
    }

    /// Returns `message` with the usage of the command, which a check after parsing does not know.
    package static func withUsage(_ message: String, of command: String, _ usage: String?) -> String {
        guard let usage, let start = message.firstRange(of: rootUsage)?.lowerBound else { return message }
        return "\(message[..<start])Usage: \(usage)\n  See 'hlsget \(command) --help' for more information."
    }

    /// Names an unknown option first if the stream is missing, too.
    private static func namingUnknownOption(
        _ message: String, _ arguments: [String], _ command: String, _ commands: () -> [CommandOptions]
    ) -> String {
        guard let start = message.firstRange(of: missing)?.lowerBound,
            let own = commands().first(where: { $0.name == command }),
            let option = unknownOption(in: arguments, own)
        else { return message }
        let rest = message[start...].firstRange(of: "\nUsage:").map { message[$0.lowerBound...] } ?? ""
        let hint = option == "-V" ? ". Did you mean '--version'?" : ""
        return "\(message[..<start])Unknown option '\(option)'\(hint)\(rest)"
    }

    private static func unknownOption(in arguments: [String], _ own: CommandOptions) -> String? {
        var isValue = false
        for argument in arguments.prefix(while: { $0 != "--" }) {
            if isValue || argument.count < 2 || argument.first != "-" {
                isValue = false
                continue
            }
            let isLong = argument.hasPrefix("--")
            let typed = String(isLong ? argument.dropFirst(2).prefix { $0 != "=" } : argument.dropFirst().prefix(1))
            let name = isLong ? typed : own.letters[typed] ?? ""
            if let takesValue = own.takesValue[name] {
                isValue = takesValue && (isLong ? !argument.contains("=") : argument.count == 2)
            } else if !common.contains(name), typed != "h" || isLong {
                return isLong ? "--\(typed)" : "-\(typed)"
            }
        }
        return nil
    }

    /// Why an argument is unexpected: an earlier one was taken for the stream.
    private static func reason(
        forRefusing refused: String, _ arguments: [String], _ command: String, _ commands: () -> [CommandOptions]
    ) -> String {
        guard let own = commands().first(where: { $0.name == command }) else { return "" }
        var before: String?
        for argument in arguments.prefix(while: { $0 != refused }) where argument != command {
            defer { before = argument }
            guard argument.count == 1 || argument.first != "-" else { continue }
            let option = before.flatMap { $0.hasPrefix("-") && !$0.contains("=") ? $0 : nil }
            guard let option else { return ": '\(argument)' was taken for the stream" }
            let name = option.hasPrefix("--") ? String(option.dropFirst(2)) : own.letters[String(option.dropFirst())]
            // Options with an optional value can cause this too.
            guard let name, own.takesValue[name] == false || CommandOptions.defaults[name] != nil else { continue }
            if CommandOptions.defaults[name] != nil, (try? CatchUpArgument(parsing: argument)) != nil { continue }
            return ": '\(argument)' was taken for the stream, because it is not a value of \(option)"
        }
        return ""
    }

    private static func hint(for typed: String, _ command: String, _ commands: [CommandOptions]) -> String? {
        let own = commands.first { $0.name == command }?.takesValue ?? [:]
        if let name = synonyms[typed.lowercased()], own[name] != nil { return ". Did you mean '--\(name)'?" }
        let longer = own.keys.filter { typed.count > 1 && $0.hasPrefix(typed) }
        if longer.count == 1, let name = longer.first { return ". Did you mean '--\(name)'?" }
        if let near = (own.keys.sorted() + ["help", "version"]).min(by: { distance(typed, $0) < distance(typed, $1) }),
            isNear(typed, near)
        {
            return ". Did you mean '--\(near)'?"
        }
        let others = commands.filter { $0.name != command && $0.takesValue[typed] != nil }.map { "hlsget \($0.name)" }
        guard !others.isEmpty else { return nil }
        return ", an option of \(others.joined(separator: ", ")) and not of hlsget \(command)."
    }

    static func filtered(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let range = line.firstRange(of: words), let end = line[range.upperBound...].firstIndex(of: "'"),
                let typed = quoted(in: line[..<range.lowerBound])
            else { return String(line) }
            if isNear(typed, String(line[range.upperBound..<end])) { return String(line) }
            var rest = line[line.index(after: end)...]
            if rest.first == "?" { rest = rest.dropFirst() }
            return String(line[..<range.lowerBound]) + rest
        }.joined(separator: "\n")
    }

    private static func quoted(in text: Substring) -> String? {
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count >= 3 ? String(parts[1]) : nil
    }

    /// Whether the words differ by at most one change in three letters.
    static func isNear(_ typed: String, _ known: String) -> Bool {
        let (typed, known) = (String(typed.drop { $0 == "-" }), String(known.drop { $0 == "-" }))
        return distance(typed, known) * 3 <= typed.count
    }

    /// The number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        var (before, row) = ([Int](), Array(0...other.count))
        for (i, letter) in one.enumerated() {
            var next = [i + 1]
            for (j, candidate) in other.enumerated() {
                var least = min(next[j] + 1, row[j + 1] + 1, row[j] + (letter == candidate ? 0 : 1))
                if i > 0, j > 0, letter == other[j - 1], one[i - 1] == candidate {
                    least = min(least, before[j - 1] + 1)
                }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[other.count]
    }
}
