/// Reads a playlist while it arrives.
///
/// Pass the bytes to ``append(_:)-([UInt8])`` in pieces of any size, then call ``finish()``. Complete lines are parsed
/// immediately. Time and memory grow linearly with the size of the text and are bounded by ``PlaylistLimits``. No input
/// traps.
public struct PlaylistParser: Sendable {
    /// The handling of violated rules.
    public enum Mode: Sendable, Hashable, CaseIterable {
        /// Continues if the meaning is clear, and collects issues. This is the default.
        case lenient
        /// Throws the first issue.
        case strict
    }

    /// Options for reading.
    public struct Options: Sendable, Hashable {
        /// The handling of issues: collected or thrown.
        ///
        /// The default is lenient.
        public var mode = Mode.lenient
        /// Limits on the size of the playlist.
        public var limits = PlaylistLimits()
        /// The variables of the parent multivariant playlist for `EXT-X-DEFINE:IMPORT`, or `nil` if there is none.
        public var importedVariables: [String: String]?
        /// The declared content type of the resource, for the message if it is not a playlist.
        public var contentType: String?

        /// Creates options with the default limits.
        public init(mode: Mode = .lenient) { self.mode = mode }
    }

    private var buffer: [UInt8] = []
    private var context: ReadingContext
    private var media: MediaPlaylistReader
    private var multivariant = MultivariantPlaylistReader()
    private let url: String
    /// The offset of the first incomplete line, the number of its bytes that have been scanned, and the traits seen in
    /// them.
    private var lineStart = 0
    private var scanned = 0
    private var scannedTraits: LineTraits = []
    private var hasHeader = false
    private var version: Int?
    private var hasIndependentSegments = false
    private var start: StartPoint?
    private var seen: Set<Tag> = []
    /// The first session tag while the kind is unknown, and its line.
    private var sessionTag: (tag: Tag, line: Int)?
    /// The first tag of a media playlist outside a segment while the kind is unknown, and its line.
    private var listTag: (tag: Tag, line: Int)?
    /// The error of an unreadable session tag, which matters only in a multivariant playlist.
    private var sessionFailure: PlaylistError?

    package private(set) var kind: Playlist.Kind?

    /// Creates a parser.
    ///
    /// `url` is the URL of the bytes after redirects. For `previous`, see
    /// ``MediaPlaylist/init(parsing:url:options:reusing:)``.
    public init(url: String, options: Options = .init(), reusing previous: MediaPlaylist? = nil) {
        self.url = url
        context = ReadingContext(options: options, url: url)
        media = MediaPlaylistReader(reusing: previous?.source.value, mode: options.mode)
    }

    package var variants: [VariantStream] { multivariant.variants }

    package var renditions: [Rendition] { multivariant.playlist.renditions }

    /// The segments so far. Retaining them while appending costs a copy of their tables.
    package var segments: MediaSegments {
        MediaSegments(store: media.store(text: buffer))
    }

    /// Reads the next bytes.
    public mutating func append(_ bytes: [UInt8]) throws(PlaylistError) {
        try checkLimit(adding: bytes.count)
        if buffer.isEmpty { buffer = bytes } else { buffer.append(contentsOf: bytes) }
        try readLines(isLast: false)
    }

    /// Reads the next bytes.
    public mutating func append(_ bytes: ArraySlice<UInt8>) throws(PlaylistError) {
        try checkLimit(adding: bytes.count)
        buffer.append(contentsOf: bytes)
        try readLines(isLast: false)
    }

    /// Marks the end of the bytes and returns the playlist.
    public mutating func finish() throws(PlaylistError) -> Playlist {
        try readLines(isLast: true)
        context.tag = nil
        guard hasHeader else { throw notAPlaylist() }
        if kind == nil, listTag != nil { try setKind(.media) }
        if kind == nil, sessionTag != nil { try setKind(.multivariant) }
        if kind == .multivariant {
            var playlist = try multivariant.finish(&context)
            playlist.url = url
            playlist.version = version
            playlist.hasIndependentSegments = hasIndependentSegments
            playlist.start = start
            playlist.definitions = context.definitions
            playlist.issues = context.issues
            let source = MultivariantSource(text: buffer, items: multivariant.items, original: playlist)
            playlist.source = Unhashed(source)
            return .multivariant(playlist)
        }
        if kind == nil {
            context.line = 0
            try context.report(.noKind, "neither segments nor variants; read as an empty media playlist")
        }
        return .media(
            try media.finish(text: buffer, &context) { playlist in
                playlist.url = url
                playlist.version = version
                playlist.hasIndependentSegments = hasIndependentSegments
                playlist.start = start
            })
    }

    private func checkLimit(adding count: Int) throws(PlaylistError) {
        let limit = min(context.options.limits.maximumByteCount, Int(UInt32.max >> 1))
        guard count <= limit - min(buffer.count, limit) else { throw context.limit("maximumByteCount", limit) }
    }
}

// MARK: - Lines

extension PlaylistParser {
    private mutating func readLines(isLast: Bool) throws(PlaylistError) {
        // A second reference, so that the bytes can be read while the rest of the parser changes.
        let text = buffer
        let bytes = text.span
        if lineStart == 0, !hasHeader { try checkStart(bytes, isLast: isLast) }
        let limit = context.options.limits.maximumLineByteCount
        while lineStart < bytes.count {
            let first = lineStart
            var traits = scannedTraits
            var (end, next) = bytes.lineEnd(from: max(first, scanned), traits: &traits)
            guard end &- first <= limit else {
                guard hasHeader else { throw notAPlaylist() }
                context.line += 1
                context.tag = nil
                throw context.limit("maximumLineByteCount", limit)
            }
            if next == nil {
                guard isLast else {
                    // A CR may be the first half of a line end.
                    scanned = bytes[end &- 1] == 0x0D ? end &- 1 : end
                    scannedTraits = traits
                    return
                }
                if bytes[end &- 1] == 0x0D { end &-= 1 }
            }
            scannedTraits = []
            lineStart = next ?? bytes.count
            context.line &+= 1
            context.traits = traits
            try readLine(bytes, Range(uncheckedBounds: (first, end)), next: lineStart)
        }
    }

    private mutating func readLine(
        _ bytes: borrowing Span<UInt8>, _ line: Range<Int>, next: Int
    ) throws(PlaylistError) {
        if !context.traits.isDisjoint(with: [.control, .nonASCII]) { try checkCharacters(bytes, line) }
        guard !line.isEmpty else { return }
        var range = line
        if bytes[range.lowerBound] <= 0x20 || bytes[range.upperBound &- 1] <= 0x20 {
            range = context.traits.contains(.control) ? bytes.unpadded(line) : bytes.trimmed(line)
            guard !range.isEmpty else { return }
            if range.lowerBound != line.lowerBound, bytes[line.lowerBound] != 0 {
                context.tag = nil
                try context.report(.whiteSpace, "white space in front of a line", severity: .warning)
            }
        }
        guard bytes[range.lowerBound] == 0x23 else {
            context.tag = nil
            try readURI(bytes, range, next: next)
            return
        }
        // The two most frequent tags of a playlist are recognized without a name lookup.
        if hasHeader, kind == .media, range.count >= 8 {
            let start = bytes.word(at: range.lowerBound)
            // "#EXTINF:"
            if start == 0x3A46_4E49_5458_4523 {
                context.tag = .inf
                try media.readInf(bytes, range.lowerBound &+ 8..<range.upperBound, line: line, &context)
                return
            }
            // "#EXT-X-P", "-X-PART:"
            if start == 0x502D_582D_5458_4523, range.count >= 12,
                bytes.word(at: range.lowerBound &+ 4) == 0x3A54_5241_502D_582D
            {
                context.tag = .part
                try media.readPart(bytes, bytes.trimmed(range.lowerBound &+ 12..<range.upperBound), &context)
                return
            }
        }
        let nameEnd = bytes.index(of: 0x3A, in: range) ?? range.upperBound
        let name = range.lowerBound &+ 1..<nameEnd
        guard hasHeader else {
            try readHeader(bytes, range, name)
            return
        }
        guard let tag = context.tagNames.find(name, in: bytes)?.name else { return }
        context.tag = tag
        let value = bytes.trimmed(min(nameEnd &+ 1, range.upperBound)..<range.upperBound)
        try read(tag, bytes, value, line: line)
    }

    private mutating func readURI(
        _ bytes: borrowing Span<UInt8>, _ range: Range<Int>, next: Int
    ) throws(PlaylistError) {
        guard hasHeader else { throw notAPlaylist() }
        switch kind {
        case .media: try media.readURI(bytes, range, next: next, &context)
        case .multivariant: try multivariant.readURI(bytes, range, &context)
        case nil: try context.report(.uriWithoutTag, "a URI without a tag; ignored")
        }
        if let adopted = media.adopted {
            lineStart = adopted.next
            context.line += adopted.lineCount
            media.adopted = nil
        }
    }

    private mutating func readHeader(
        _ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ name: Range<Int>
    ) throws(PlaylistError) {
        let word = name.lowerBound..<(bytes.index(of: 0x20, in: name) ?? name.upperBound)
        guard bytes.equals(word, "EXTM3U") else { throw notAPlaylist() }
        context.tag = .extM3U
        if context.line > 1 { try context.report(.header, "#EXTM3U is not on the first line") }
        if word.upperBound != range.upperBound { try context.report(.header, "text after #EXTM3U", severity: .warning) }
        hasHeader = true
    }

    private mutating func read(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>
    ) throws(PlaylistError) {
        switch tag {
        case .extM3U:
            try context.report(.repeatedTag, "occurs again", severity: .warning)
        case .version:
            if try isFirst(tag) {
                version = bytes.integer(in: value)
                if version == nil { try context.report(.number, "\"\(bytes.excerpt(value))\" is not a version") }
            }
        case .independentSegments: hasIndependentSegments = true
        case .start:
            context.beginAttributes(value)
            if try isFirst(tag) { start = try StartPoint(&context, bytes) }
        case .define:
            context.beginAttributes(value)
            try context.define(try VariableDefinition(&context, bytes))
        case .targetDuration where kind != .media:
            // A tag without a number does not make a media playlist.
            guard bytes.decimal(in: value) != nil else {
                try context.report(.targetDuration, "\"\(bytes.excerpt(value))\" is not a number; ignored")
                return
            }
            try readListTag(tag, bytes, value, line: line)
        default:
            if tag.isSessionTag, kind != .multivariant {
                try readSessionTag(tag, bytes, value, line: line)
                return
            }
            if tag.kind == .media, kind != .media, tag != .inf, tag != .part {
                try readListTag(tag, bytes, value, line: line)
                return
            }
            if let kind = tag.kind { try setKind(kind) }
            if tag.isSpliceMarker {
                if kind != .multivariant { media.readSpliceMarker(tag, value, context) }
            } else if kind == .multivariant {
                try multivariant.read(tag, bytes, value, line: line, &context)
            } else if tag == .inf {
                try media.readInf(bytes, value, line: line, &context)
            } else {
                try media.read(tag, bytes, value, line: line, &context)
            }
        }
    }

    private mutating func isFirst(_ tag: Tag) throws(PlaylistError) -> Bool {
        if seen.insert(tag).inserted { return true }
        try context.report(.repeatedTag, "occurs again; the first one counts")
        return false
    }

    /// Reads a tag of multivariant playlists in a media playlist or a playlist of unknown kind.
    private mutating func readSessionTag(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>
    ) throws(PlaylistError) {
        guard kind == nil else {
            try context.report(.mixedKinds, "is only allowed in a multivariant playlist; ignored")
            return
        }
        if sessionTag == nil { sessionTag = (tag, context.line) }
        guard sessionFailure == nil else { return }
        do {
            try multivariant.read(tag, bytes, value, line: line, &context)
        } catch {
            sessionFailure = error
        }
    }

    /// Reads a tag of media playlists in a multivariant playlist or a playlist of unknown kind. Only segments make the
    /// kind ambiguous. A stray tag next to variants is ignored.
    private mutating func readListTag(
        _ tag: Tag, _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, line: Range<Int>
    ) throws(PlaylistError) {
        guard kind == nil else {
            try context.report(.mixedKinds, "is only allowed in a media playlist; ignored")
            return
        }
        if listTag == nil { listTag = (tag, context.line) }
        try media.read(tag, bytes, value, line: line, &context)
    }

    private mutating func setKind(_ new: Playlist.Kind) throws(PlaylistError) {
        if kind == nil {
            kind = new
            if new == .multivariant, let sessionFailure { throw sessionFailure }
            if new == .multivariant, let (tag, line) = listTag {
                try context.report(.mixedKinds, "is only allowed in a media playlist; ignored", line: line, tag: tag)
                media = MediaPlaylistReader(reusing: nil, mode: context.options.mode)
            }
            if new == .media, let (tag, line) = sessionTag {
                context.issues.removeAll { $0.tag.flatMap { Tag(rawValue: $0) }?.isSessionTag == true }
                try context.report(
                    .mixedKinds, "is only allowed in a multivariant playlist; ignored", line: line, tag: tag)
                multivariant = MultivariantPlaylistReader()
            }
        }
        guard kind == new else {
            throw context.failure(.mixedKinds, "a tag of a \(new.rawValue) playlist in a \(kind?.rawValue ?? "") one")
        }
    }
}

// MARK: - Characters

extension PlaylistParser {
    /// Skips a byte order mark, and fails early if the text does not start like a playlist.
    private mutating func checkStart(_ bytes: borrowing Span<UInt8>, isLast: Bool) throws(PlaylistError) {
        guard bytes.count >= 16 || isLast else { return }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            context.line = 1
            try context.report(.byteOrderMark, "a byte order mark in front; skipped", severity: .warning)
            context.line = 0
            lineStart = 3
        }
        var index = lineStart
        while index < bytes.count, bytes[index] <= 0x20, bytes[index] != 0 { index += 1 }
        guard index + 7 <= bytes.count else { return }
        guard bytes.equals(index..<index + 7, "#EXTM3U") else { throw notAPlaylist() }
    }

    private mutating func checkCharacters(
        _ bytes: borrowing Span<UInt8>, _ line: Range<Int>
    ) throws(PlaylistError) {
        context.tag = nil
        guard hasHeader else { return }
        let content = bytes.unpadded(line)
        let isURI = !content.isEmpty && bytes[content.lowerBound] != 0x23
        if context.traits.contains(.control) {
            if bytes.index(of: 0, in: line) == nil {
                try context.report(.controlCharacter, "control characters", severity: .warning)
            } else if isURI, bytes.index(of: 0, in: content) != nil {
                // A URI must never be shortened.
                throw context.failure(.controlCharacter, "a NUL character in a URI")
            } else {
                try context.report(.controlCharacter, "NUL characters; skipped at the ends of the line")
            }
        }
        // Invalid bytes of a URI are escaped and reported later.
        if context.traits.contains(.nonASCII), !isURI, !bytes.isUTF8(line) {
            try context.report(.encoding, "bytes that are not UTF-8", severity: .warning)
        }
    }

    /// `not an HLS playlist (text/html, a web page)`
    private func notAPlaylist() -> PlaylistError {
        let first = buffer.prefix(64).drop { $0 <= 0x20 && $0 != 0 }
        let word = first.prefix(20).prefix { $0 != 0x0A && $0 != 0x0D }
        let start =
            first.isEmpty
            ? "empty" : ForeignContent(buffer)?.text ?? "starts with \(String(decoding: word, as: UTF8.self))"
        let details = [context.options.contentType, start].compactMap { $0 }.joined(separator: ", ")
        return PlaylistError(
            code: .notAPlaylist, rule: .header, line: 1, text: "not an HLS playlist (\(details)): no #EXTM3U")
    }
}
