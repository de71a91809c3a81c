import HLSKitPlaylist

/// Invariants that must hold for any bytes. Tests use them and, through a link, the fuzzers in `Fuzz/`.
enum PlaylistChecks {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let url = "https://example.com/a/b.m3u8?name=value"

    private static func require(_ condition: Bool, _ law: String) throws(Failure) {
        if !condition { throw Failure(description: law) }
    }

    private static func read(_ bytes: [UInt8]) -> Playlist? { try? Playlist(parsing: bytes, url: url) }

    /// Checks that reading does not depend on how the bytes are split, and that writing gives the same bytes.
    static func reading(_ bytes: [UInt8]) throws(Failure) {
        let whole = read(bytes)
        for split in [bytes.count / 3, bytes.count / 2, max(0, bytes.count - 1)] {
            var parser = PlaylistParser(url: url)
            do {
                try parser.append(bytes[..<split])
                try parser.append(bytes[split...])
                let playlist = try parser.finish()
                try require(playlist == whole, "the same at a split at \(split)")
            } catch is PlaylistError {
                try require(whole == nil, "refused at a split at \(split) only")
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(description: "\(error)")
            }
        }
        guard let whole else { return }
        try require(whole.text == bytes, "written byte for byte")
        if case .media(let playlist) = whole {
            for segment in playlist.segments {
                try require(segment.duration >= .zero && segment.duration <= .seconds(1_000_000), "durations in range")
                try require((segment.byteRange?.end ?? 0) < Int.max, "byte ranges in range")
                _ = (segment.title, segment.parts.count, segment.derivedProgramDateTime, playlist.resolve(segment.uri))
            }
        }
    }

    /// Checks the bytes as the attribute list of every tag that has one. Strict reading accepts exactly the lists in
    /// which lenient reading finds no issue.
    static func attributes(_ bytes: [UInt8]) throws(Failure) {
        let list = bytes.filter { $0 != 0x0A && $0 != 0x0D }
        for (tag, after) in attributeTags {
            let text = Array("#EXTM3U\n#\(tag):".utf8) + list + Array("\n\(after)".utf8)
            try reading(text)
            try writing(text)
            let lenient = read(text)
            var options = PlaylistParser.Options()
            options.mode = .strict
            let strict = try? Playlist(parsing: text, url: url, options: options)
            try require((strict != nil) == (lenient?.issues.isEmpty == true), "strict refuses what lenient reports")
            try require(strict == nil || strict == lenient, "strict and lenient read the same")
        }
    }

    private static let attributeTags = [
        ("EXT-X-STREAM-INF", "v\n"), ("EXT-X-I-FRAME-STREAM-INF", ""),
        ("EXT-X-MEDIA", "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"),
        ("EXT-X-SESSION-DATA", "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"),
        ("EXT-X-SESSION-KEY", "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"),
        ("EXT-X-CONTENT-STEERING", "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"),
        ("EXT-X-DEFINE", "#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n{$a}\n"),
        ("EXT-X-START", segment), ("EXT-X-KEY", segment), ("EXT-X-MAP", segment), ("EXT-X-PART", segment),
        ("EXT-X-DATERANGE", segment), ("EXT-X-SERVER-CONTROL", segment), ("EXT-X-SKIP", segment),
        ("EXT-X-PRELOAD-HINT", segment), ("EXT-X-RENDITION-REPORT", segment),
    ]
    private static let segment = "#EXT-X-TARGETDURATION:2\n#EXT-X-PART-INF:PART-TARGET=1\n#EXTINF:1,\na\n"

    /// Whether there are control characters other than tabs and line ends.
    private static func hasControlCharacters(_ bytes: [UInt8]) -> Bool {
        zip(bytes, bytes.dropFirst() + [0x0A]).contains { byte, next in
            byte < 0x20 && byte != 0x09 && byte != 0x0A && !(byte == 0x0D && next == 0x0A)
        }
    }

    /// Checks that a changed playlist, once written, reads as the changed value.
    static func writing(_ bytes: [UInt8]) throws(Failure) {
        switch read(bytes) {
        case .media(var playlist)?:
            playlist.version = playlist.version == 7 ? 6 : 7
            guard case .media(let again)? = read(playlist.text) else { throw Failure(description: "read again") }
            try require(again == playlist, "a changed version changes nothing else")
            // Lines that break rules may have another meaning at another position.
            guard playlist.issues.isEmpty else { return }
            let order = Array(playlist.segments.reversed())
            playlist.segments = MediaSegments(order)
            guard case .media(let reversed)? = read(playlist.text) else { throw Failure(description: "read reversed") }
            try require(reversed.segments.map(\.uri) == order.map(\.uri), "URIs in reverse")
            try require(reversed.segments.map(\.byteRange) == order.map(\.byteRange), "ranges in reverse")
            try require(reversed.segments.map(\.duration) == order.map(\.duration), "durations in reverse")
            try require(
                reversed.segments.map { $0.keys.map(\.method) } == order.map { $0.keys.map(\.method) },
                "keys in reverse")
        case .multivariant(var playlist)?:
            playlist.version = playlist.version == 7 ? 6 : 7
            playlist.variants.reverse()
            guard case .multivariant(let again)? = read(playlist.text) else { throw Failure(description: "read again") }
            // A line whose variables are defined after its new position is rewritten without control characters.
            guard !hasControlCharacters(bytes) else { return }
            try require(again == playlist, "reversed variants change nothing else")
        case nil: break
        }
    }

    /// Checks two playlists, separated by a line `----`. A reload of the second that reuses the first must equal a
    /// fresh read. If the second updates the first, the merged playlist must read the same after writing.
    static func merging(_ bytes: [UInt8]) throws(Failure) {
        let mark = Array("\n----\n".utf8)
        guard let place = bytes.firstRange(of: mark),
            case .media(let old)? = read(Array(bytes[..<place.lowerBound]))
        else { return }
        let second = Array(bytes[place.upperBound...])
        let fresh = try? MediaPlaylist(parsing: second, url: url)
        let reused = try? MediaPlaylist(parsing: second, url: url, reusing: old)
        try require(fresh == reused && fresh?.issues == reused?.issues, "a reload that reuses is as a fresh read")
        try require(
            fresh?.segments.map(\.derivedProgramDateTime) == reused?.segments.map(\.derivedProgramDateTime),
            "dates of a reload")
        guard let fresh, let merged = try? old.merging(update: fresh) else { return }
        guard case .media(let again)? = read(merged.text) else { throw Failure(description: "read merged") }
        try require(again.segments == merged.segments, "the merged playlist as text")
    }
}
