/// A result of a ``WebVTTParser``, in the order of the bytes.
package enum WebVTTEvent: Sendable, Hashable {
    /// The clock of the file, before any cue. A file without a map has no such event.
    case timestampMap(WebVTTTimestampMap)
    case cue(WebVTTCue)
    case block(WebVTTBlock)
    /// A description of skipped input, for the log.
    case note(String)
}

/// Reads a WebVTT file in pieces of any size and emits cues when they are complete.
///
/// Malformed cues are skipped with a note. Any input ends with events or a ``MediaError``, never with a trap. In
/// addition to the events, the parser keeps at most ``maxBlockByteCount`` bytes.
///
/// Source: WebVTT §6.1, RFC 8216 §3.5.
package struct WebVTTParser: Sendable {
    /// The size in bytes above which a cue or other block is skipped.
    package static let maxBlockByteCount = 64 << 10
    /// Malicious files can cause a note for each line.
    private static let maxNoteCount = 64

    private enum Section { case signature, header, body }

    private var section = Section.signature
    private var line: [UInt8] = []
    private var isLineTooLong = false
    /// Whether the last byte was a carriage return, to which a following line feed belongs.
    private var endsWithReturn = false
    private var block = Block()
    private var hasMap = false
    private var hasCues = false
    private var noteCount = 0
    private var lineNumber = 0

    private struct Line {
        var text: String
        var byteCount: Int
        var isTooLong: Bool
        var hasArrow: Bool
    }

    private struct Block {
        var firstLineNumber = 0
        var lines: [String] = []
        var byteCount = 0
        var isTooLarge = false
        var timings: (identifier: String, start: Duration, end: Duration, settings: Substring)?
        var isBroken = false
        var hasArrow: Bool { timings != nil || isBroken }
    }

    /// Whether the bytes may have cues only because the header is in an initialization section or an earlier segment.
    private let mayLackHeader: Bool

    /// Creates a parser that expects the start of a file.
    ///
    /// - Parameter mayLackHeader: Whether the file may begin with its first cue. Its times may then have commas, as
    ///   in the SubRip files that such segments are made from.
    package init(mayLackHeader: Bool = false) { self.mayLackHeader = mayLackHeader }

    /// Whether bytes begin with the body of a file instead of its header.
    ///
    /// A body begins with a comment, a style or a region, or its first line with an arrow has the times of a cue. Blank
    /// lines alone are a body without cues.
    package static func lacksHeader(_ bytes: ArraySlice<UInt8>) -> Bool {
        let body = bytes.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        let first = body.prefix { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        if body.isEmpty { return !bytes.isEmpty }
        if ["NOTE", "STYLE", "REGION"].contains(where: { first.elementsEqual($0.utf8) }) { return true }
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) where hasArrow(Array(line)) {
            return WebVTTTime.timings(of: text(of: Array(line))[...], allowsComma: true) != nil
        }
        return false
    }

    /// Reads the next bytes and appends the completed events to `events`.
    ///
    /// - Throws: `unknownContainer` if the file does not begin with `WEBVTT`.
    package mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [WebVTTEvent]) throws(MediaError) {
        var rest = bytes
        while !rest.isEmpty {
            if endsWithReturn {
                endsWithReturn = false
                if rest.first == 0x0a { rest = rest.dropFirst() }
            }
            guard let end = rest.firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) else { return keep(rest) }
            keep(rest[..<end])
            endsWithReturn = rest[end] == 0x0d
            rest = rest[(end + 1)...]
            try endLine(&events)
        }
    }

    /// Ends the file and appends the last cue.
    ///
    /// - Throws: `unknownContainer` if the file does not begin with `WEBVTT`.
    package mutating func finish(to events: inout [WebVTTEvent]) throws(MediaError) {
        if !line.isEmpty || section == .signature { try endLine(&events) }
        endBlock(&events)
    }

    // MARK: Lines

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        let room = Self.maxBlockByteCount - line.count
        if bytes.count > room { isLineTooLong = true }
        line.append(contentsOf: bytes.prefix(room))
    }

    private mutating func endLine(_ events: inout [WebVTTEvent]) throws(MediaError) {
        lineNumber += 1
        let line = Line(
            text: Self.text(of: line), byteCount: line.count, isTooLong: isLineTooLong,
            hasArrow: Self.hasArrow(line))
        self.line.removeAll(keepingCapacity: true)
        isLineTooLong = false
        switch section {
        case .signature:
            guard Self.isSignature(line.text) else {
                if mayLackHeader {
                    section = .body
                    return takeLine(line, &events)
                }
                throw MediaError(code: .unknownContainer, byteOffset: 0, text: "it does not begin with WEBVTT")
            }
            section = .header
        case .header: takeHeaderLine(line, &events)
        case .body: takeLine(line, &events)
        }
    }

    private static func text(of line: [UInt8]) -> String {
        let text = String(decoding: line, as: UTF8.self)
        guard line.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{fffd}" : $0 }))
    }

    private static func hasArrow(_ line: [UInt8]) -> Bool {
        let arrow = "-->".utf8
        return line.indices.contains { line[$0] == UInt8(ascii: "-") && line[$0...].starts(with: arrow) }
    }

    private static func isSignature(_ line: String) -> Bool {
        var text = line.unicodeScalars[...]
        if text.first == "\u{feff}" { text = text.dropFirst() }
        guard text.starts(with: "WEBVTT".unicodeScalars) else { return false }
        guard let next = text.dropFirst(6).first else { return true }
        return next == " " || next == "\t"
    }

    private mutating func takeHeaderLine(_ line: Line, _ events: inout [WebVTTEvent]) {
        if line.hasArrow {
            // The empty line after the header is missing.
            section = .body
            takeLine(line, &events)
        } else if line.text.isEmpty {
            section = .body
        } else {
            takeMap(line.text, &events)
        }
    }

    private mutating func takeMap(_ text: String, _ events: inout [WebVTTEvent]) {
        guard text.hasPrefix(WebVTTTimestampMap.name), !hasMap else { return }
        guard let map = WebVTTTimestampMap(parsing: text[...]) else {
            return note("line \(lineNumber): invalid \(WebVTTTimestampMap.name)", &events)
        }
        hasMap = true
        events.append(.timestampMap(map))
    }

    // MARK: Blocks

    private mutating func takeLine(_ line: Line, _ events: inout [WebVTTEvent]) {
        if line.text.isEmpty { return endBlock(&events) }
        // At most one line precedes the timings. Further timings begin another cue.
        if line.hasArrow, block.hasArrow || block.lines.count > 1 { endBlock(&events) }
        if block.byteCount == 0 { block.firstLineNumber = lineNumber }
        block.byteCount += line.byteCount + 1
        if line.isTooLong || block.byteCount > Self.maxBlockByteCount {
            block.isTooLarge = true
            block.lines.removeAll()
        } else if line.hasArrow {
            if let (start, end, settings) = WebVTTTime.timings(of: line.text[...], allowsComma: mayLackHeader),
                end >= start
            {
                block.timings = (block.lines.first ?? "", start, end, settings)
            } else {
                block.isBroken = true
            }
            block.lines = []
        } else if !block.isTooLarge {
            block.lines.append(line.text)
        }
    }

    private mutating func endBlock(_ events: inout [WebVTTEvent]) {
        let block = block
        self.block = Block()
        guard block.hasArrow || block.isTooLarge || !block.lines.isEmpty else { return }
        if block.isTooLarge {
            return note("line \(block.firstLineNumber): a block of more than \(Self.maxBlockByteCount) bytes", &events)
        }
        if let (identifier, start, end, settings) = block.timings {
            hasCues = true
            events.append(
                .cue(
                    WebVTTCue(
                        identifier: identifier, start: start, end: end, settings: WebVTTCueSettings(parsing: settings),
                        payload: block.lines.joined(separator: "\n"))))
        } else if block.isBroken {
            note("line \(block.firstLineNumber): a cue with invalid times", &events)
        } else {
            endOther(block, &events)
        }
    }

    private mutating func endOther(_ block: Block, _ events: inout [WebVTTEvent]) {
        guard let first = block.lines.first else { return }
        let word = first.prefix { $0 != " " && $0 != "\t" }
        let rest = block.lines.dropFirst().joined(separator: "\n")
        switch word {
        case "NOTE":
            let comment = WebVTTTime.trimmed(first[word.endIndex...])
            let text = comment.isEmpty ? rest : rest.isEmpty ? String(comment) : "\(comment)\n\(rest)"
            events.append(.block(WebVTTBlock(kind: .note, text: text)))
        case "STYLE": events.append(.block(WebVTTBlock(kind: .style, text: rest)))
        case "REGION": events.append(.block(WebVTTBlock(kind: .region, text: rest)))
        default:
            // Some writers put an empty line before the map.
            if !hasCues, !hasMap, first.hasPrefix(WebVTTTimestampMap.name) { return takeMap(first, &events) }
            note("line \(block.firstLineNumber): a block that is not a cue", &events)
        }
    }

    private mutating func note(_ text: String, _ events: inout [WebVTTEvent]) {
        noteCount += 1
        if noteCount < Self.maxNoteCount {
            events.append(.note(text))
        } else if noteCount == Self.maxNoteCount {
            events.append(.note("further notes about this file are suppressed"))
        }
    }
}
