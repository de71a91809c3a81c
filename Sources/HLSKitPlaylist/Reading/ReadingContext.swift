/// One attribute of a list, as ranges of the text. The value is without its quotes.
struct Attribute {
    var name: AttributeName?
    var nameRange: Range<Int>
    var value: Range<Int>
    var isQuoted: Bool
}

/// The state of reading other than the bytes: position, definitions, issues.
struct ReadingContext {
    let options: PlaylistParser.Options
    /// The playlist's URL after redirects, for `QUERYPARAM`.
    let url: String
    var line = 0
    var tag: Tag?
    var traits: LineTraits = []
    var issues: [PlaylistIssue] = []
    var definitions: [VariableDefinition] = []
    private var values: [String: [UInt8]] = [:]
    private var expandedByteCount = 0
    /// The unread part of the current tag's attribute list, and the known names that occurred.
    private var position = 0
    private var end = 0
    private var seen: (UInt64, UInt64) = (0, 0)
    // Copies, because every access to a global checks whether it is initialized.
    private let attributeNames = AttributeName.table
    let tagNames = Tag.table

    init(options: PlaylistParser.Options, url: String) {
        self.options = options
        self.url = url
    }

    // MARK: Faults

    /// Records a fault and continues, or throws it in strict mode.
    mutating func report(
        _ rule: PlaylistRule, _ text: @autoclosure () -> String, severity: PlaylistIssue.Severity = .error,
        line: Int? = nil, tag: Tag? = nil
    ) throws(PlaylistError) {
        let line = line ?? (self.line > 0 ? self.line : nil)
        let tag = (tag ?? self.tag)?.rawValue
        guard options.mode == .lenient else {
            throw PlaylistError(code: .malformed, rule: rule, line: line, tag: tag, text: Self.bounded(text()))
        }
        guard issues.count < options.limits.maximumIssueCount else { return }
        issues.append(
            PlaylistIssue(rule: rule, severity: severity, line: line, tag: tag, text: Self.bounded(text())))
    }

    /// Truncates text quoted from the playlist because messages are read by people.
    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > maximumMessageByteCount else { return text }
        return String(text.unicodeScalars.prefix(maximumMessageByteCount)) + "…"
    }
    private static var maximumMessageByteCount: Int { 500 }

    /// Returns the error for a fault that leaves the meaning unclear.
    func failure(
        _ rule: PlaylistRule, _ text: String, code: PlaylistError.Code = .malformed
    ) -> PlaylistError {
        PlaylistError(
            code: code, rule: rule, line: line > 0 ? line : nil, tag: tag?.rawValue, text: Self.bounded(text))
    }

    func limit(_ name: String, _ value: Int) -> PlaylistError {
        failure(.limit, "more than \(name) = \(value)", code: .limitExceeded)
    }

    // MARK: Attribute lists

    mutating func beginAttributes(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
        seen = (0, 0)
    }

    /// Returns the next attribute of the list, or nil at its end. Commas separate only outside quotes, there are no
    /// escapes, and the first of repeated names wins. See rules 1, 2, 9 and 20.
    mutating func nextAttribute(_ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> Attribute? {
        while position < end {
            var nameStart = position
            while nameStart < end, bytes[nameStart] == 0x20 || bytes[nameStart] == 0x09 { nameStart &+= 1 }
            let stop = bytes.index(of: 0x3D, or: 0x2C, in: nameStart..<end) ?? end
            guard stop < end, bytes[stop] == 0x3D else {
                position = min(stop &+ 1, end)
                let part = bytes.trimmed(nameStart..<stop)
                try report(
                    .attributeList, part.isEmpty ? "an empty attribute" : "\"\(bytes.string(part))\" has no value")
                continue
            }
            var nameEnd = stop
            while nameEnd > nameStart, bytes[nameEnd &- 1] == 0x20 { nameEnd &-= 1 }
            if position != nameStart || nameEnd != stop {
                try report(.whiteSpace, "white space around an attribute name", severity: .warning)
            }
            let name = nameStart..<nameEnd
            let (value, isQuoted) = try attributeValue(from: stop &+ 1, name, bytes)
            if let (known, ordinal) = attributeNames.find(name, in: bytes) {
                if !isRepeated(ordinal) {
                    return Attribute(name: known, nameRange: name, value: value, isQuoted: isQuoted)
                }
                try report(.duplicateAttribute, "\(bytes.string(name)) occurs again; the first one counts")
            } else if !name.isEmpty {
                return Attribute(name: nil, nameRange: name, value: value, isQuoted: isQuoted)
            } else {
                try report(.attributeList, "a value without a name")
            }
        }
        return nil
    }

    @inline(__always)
    private mutating func attributeValue(
        from start: Int, _ name: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> (value: Range<Int>, isQuoted: Bool) {
        var open = start
        while open < end, bytes[open] == 0x20 { open &+= 1 }
        let value: Range<Int>
        let hasQuote = open < end && bytes[open] == 0x22
        var isQuoted = false
        if hasQuote, let close = bytes.index(of: 0x22, in: open &+ 1..<end) {
            value = open &+ 1..<close
            isQuoted = true
            position = close &+ 1
            if position < end, bytes[position] != 0x2C {
                let junk = position
                position = bytes.index(of: 0x2C, in: junk..<end) ?? end
                if !bytes.trimmed(junk..<position).isEmpty {
                    try report(.attributeList, "text after the closing quote of \(bytes.string(name))")
                }
            }
        } else {
            position = bytes.index(of: 0x2C, in: start..<end) ?? end
            value = bytes.trimmed(start..<position)
            if hasQuote { try report(.attributeList, "the quote of \(bytes.string(name)) is not closed") }
        }
        if position < end {
            position &+= 1
            if position == end {
                try report(.attributeList, "a comma at the end of the list", severity: .warning)
            }
        }
        return (value, isQuoted)
    }

    @inline(__always)
    private mutating func isRepeated(_ ordinal: Int) -> Bool {
        if ordinal < 64 {
            let bit = (1 as UInt64) &<< UInt64(ordinal)
            defer { seen.0 |= bit }
            return seen.0 & bit != 0
        }
        let bit = (1 as UInt64) &<< UInt64(ordinal &- 64)
        defer { seen.1 |= bit }
        return seen.1 & bit != 0
    }

    // MARK: Values

    /// Reads a quoted string and replaces variables. An unquoted value is accepted unchanged.
    mutating func string(
        _ attribute: Attribute, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> String {
        if !attribute.isQuoted, let name = attribute.name {
            try report(.quoting, "\(name.rawValue) is not quoted")
        }
        return try text(attribute.value, bytes)
    }

    /// The text of a range, with variables replaced.
    mutating func text(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> String {
        guard traits.contains(.brace), let expanded = try expanded(range, bytes) else { return bytes.string(range) }
        return String(decoding: expanded, as: UTF8.self)
    }

    /// Reads a quoted URI. Control characters remain and are reported with the line. Such a URI cannot be requested.
    mutating func uri(_ attribute: Attribute, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> String {
        if !attribute.isQuoted, let name = attribute.name {
            try report(.quoting, "\(name.rawValue) is not quoted")
        }
        return try uri(attribute.value, bytes)
    }

    mutating func uri(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> String {
        try unusualURI(range, bytes).map { String(decoding: $0, as: UTF8.self) } ?? bytes.string(range)
    }

    /// The bytes of a URI if they differ from the text, otherwise nil.
    ///
    /// They differ if variables are replaced, or if invalid UTF-8 is escaped byte by byte, as the server has it (R33).
    mutating func unusualURI(
        _ range: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> [UInt8]? {
        let expanded = traits.contains(.brace) ? try expanded(range, bytes) : nil
        guard traits.contains(.nonASCII), !bytes.isUTF8(range) else { return expanded }
        try report(.encoding, "the URI is not UTF-8; its bytes are escaped")
        let limit = options.limits.maximumLineByteCount
        var source = expanded ?? []
        if expanded == nil { for position in range { source.append(bytes[position]) } }
        var text: [UInt8] = []
        for byte in source {
            if byte < 0x80 { text.append(byte) } else { text += "%\(String(byte, radix: 16, uppercase: true))".utf8 }
        }
        guard text.count <= limit else { throw self.limit("maximumLineByteCount", limit) }
        return text
    }

    /// Reads an enumerated value: unquoted and case-sensitive. A quoted value is reported and accepted.
    mutating func enumerated(
        _ attribute: Attribute, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> String {
        if attribute.isQuoted, let name = attribute.name {
            try report(.quoting, "\(name.rawValue) must not be quoted")
        }
        return try text(attribute.value, bytes)
    }

    /// Returns true for `YES` and false for any other value, which is reported unless it is `NO`.
    mutating func isYes(_ attribute: Attribute, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> Bool {
        if !attribute.isQuoted, bytes.equals(attribute.value, "YES") { return true }
        if !attribute.isQuoted, bytes.equals(attribute.value, "NO") { return false }
        let value = try enumerated(attribute, bytes)
        if value != "YES", value != "NO" {
            try report(.unknownValue, "\(attribute.name?.rawValue ?? "") is neither YES nor NO: \"\(value)\"")
        }
        return value == "YES"
    }

    /// Reads a decimal-integer. Reports invalid text and returns nil. A fraction is reported and cut off.
    mutating func integer(_ attribute: Attribute, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> Int? {
        if !attribute.isQuoted, let value = bytes.integer(in: attribute.value) { return value }
        let value = bytes.decimal(in: bytes.trimmed(attribute.value)).flatMap { Int(exactly: $0.whole) }
        let outcome = value == nil ? "the attribute is ignored" : "read as \(value ?? 0)"
        try report(
            .number,
            "\(attribute.name?.rawValue ?? "") is not an integer up to 2^63-1: "
                + "\"\(bytes.excerpt(attribute.value))\"; \(outcome)")
        return value
    }

    /// Reads a decimal-floating-point as a duration. Reports invalid text and returns nil. A negative value is valid
    /// only if `signed`.
    mutating func duration(
        _ attribute: Attribute, _ bytes: borrowing Span<UInt8>, signed: Bool = false
    ) throws(PlaylistError) -> Duration? {
        if let value = bytes.duration(in: attribute.value, signed: signed) { return value }
        let trimmed = bytes.trimmed(attribute.value)
        let value = bytes.duration(in: trimmed, signed: signed)
        try report(
            .number, "\(attribute.name?.rawValue ?? "") is not a number: \"\(bytes.excerpt(attribute.value))\"")
        return value
    }

    mutating func date(_ attribute: Attribute, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> PlaylistDate? {
        let name = attribute.name?.rawValue ?? ""
        if !attribute.isQuoted { try report(.quoting, "\(name) is not quoted") }
        guard !(traits.contains(.brace)) else {
            let text = try text(attribute.value, bytes)
            guard let date = PlaylistDate(text) else {
                try report(.date, "\(name) is not a date: \"\(text)\"")
                return nil
            }
            return date
        }
        guard let (date, hasZone) = bytes.date(in: bytes.trimmed(attribute.value)) else {
            try report(.date, "\(name) is not a date: \"\(bytes.excerpt(attribute.value))\"")
            return nil
        }
        if !hasZone { try report(.date, "\(name) has no time zone; read as UTC", severity: .warning) }
        return date
    }

    mutating func reportMissing(_ name: AttributeName) throws(PlaylistError) {
        try report(.missingAttribute, "\(name.rawValue) is missing")
    }
}

extension Span where Element == UInt8 {
    func excerpt(_ range: Range<Int>) -> String {
        let limit = 60
        guard range.count > limit else { return string(range) }
        return string(range.lowerBound..<range.lowerBound + limit) + "…"
    }

    func duration(in range: Range<Int>, signed: Bool = false) -> Duration? {
        guard signed, let first = range.first, self[first] == 0x2D else {
            return decimal(in: range).flatMap { Duration($0) }
        }
        return decimal(in: first + 1..<range.upperBound).flatMap { Duration($0) }.map { .zero - $0 }
    }
}

// MARK: - Variables

extension ReadingContext {
    /// Defines a variable. Source: `EXT-X-DEFINE`, rule 28.
    mutating func define(_ definition: VariableDefinition) throws(PlaylistError) {
        guard values[definition.name] == nil else {
            throw failure(.definition, "the variable \"\(definition.name)\" is defined twice")
        }
        let limit = options.limits.maximumVariableCount
        guard definitions.count < limit else { throw self.limit("maximumVariableCount", limit) }
        values[definition.name] = Array(definition.value.utf8)
        definitions.append(definition)
    }

    /// Replaces `{$name}` once, without expanding the inserted text. Returns nil if there is no reference.
    mutating func expanded(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> [UInt8]? {
        var result: [UInt8]?
        var copied = range.lowerBound
        var index = range.lowerBound
        while let open = bytes.index(of: 0x7B, in: index..<range.upperBound) {
            index = open + 1
            guard index < range.upperBound, bytes[index] == 0x24 else { continue }
            var close = index + 1
            while close < range.upperBound, Self.isVariableName(bytes[close]) { close += 1 }
            guard close < range.upperBound, bytes[close] == 0x7D, close > index + 1 else { continue }
            let name = bytes.string(index + 1..<close)
            guard let value = values[name] else {
                throw failure(.undefinedVariable, "the variable \"\(name)\" is not defined")
            }
            var text = result ?? []
            // This must be the only reference, or each variable would copy the whole line before it.
            result = nil
            for position in copied..<open { text.append(bytes[position]) }
            text += value
            guard text.count <= options.limits.maximumLineByteCount else {
                throw limit("maximumLineByteCount", options.limits.maximumLineByteCount)
            }
            result = text
            copied = close + 1
            index = copied
        }
        guard var text = result else { return nil }
        for position in copied..<range.upperBound { text.append(bytes[position]) }
        expandedByteCount += text.count
        guard expandedByteCount <= options.limits.maximumByteCount else {
            throw limit("maximumByteCount", options.limits.maximumByteCount)
        }
        return text
    }

    static func isVariableName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}
