/// Why a text is not usable as a playlist.
public struct PlaylistError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. An open set.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The text does not start with `#EXTM3U`.
        public static let notAPlaylist = Code(rawValue: "notAPlaylist")
        /// More than one of ``PlaylistLimits`` allows; the text names it.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// A line, or the playlist as a whole, breaks a rule in a way that leaves no clear meaning.
        public static let malformed = Code(rawValue: "malformed")
        /// The other kind of playlist was asked for.
        public static let wrongKind = Code(rawValue: "wrongKind")
        /// A delta update that does not continue the playlist at hand; load the playlist in full.
        public static let cannotMerge = Code(rawValue: "cannotMerge")
    }

    /// The kind of failure.
    public var code: Code
    /// The rule that is broken.
    public var rule: PlaylistRule
    /// 1 for the first line; nil if the fault is not in one line.
    public var line: Int?
    /// The name of the tag, without `#`; nil if there is none.
    public var tag: String?
    /// The finding, for people.
    public var text: String

    /// Makes an error; `line` counts from 1 and is nil if no line is to blame.
    package init(code: Code, rule: PlaylistRule, line: Int? = nil, tag: String? = nil, text: String) {
        self.code = code
        self.rule = rule
        self.line = line
        self.tag = tag
        self.text = text
    }

    /// One line: `line 14: EXT-X-BYTERANGE "12@": offset is missing (rfc8216bis §4.4.4.2)`. Control characters of the
    /// playlist are escaped.
    public var description: String {
        PlaylistIssue.describe(line: line, tag: tag, text: text, rule: rule)
    }
}

/// Something in a playlist that breaks a rule, found by lenient parsing.
public struct PlaylistIssue: Sendable, Hashable, CustomStringConvertible {
    /// How much it matters.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// A "should", or merely unusual.
        case warning
        /// A "must" of the specification.
        case error
    }

    /// The rule that is broken.
    public var rule: PlaylistRule
    /// How bad it is.
    public var severity: Severity
    /// 1 for the first line; nil if the fault is not in one line.
    public var line: Int?
    /// The name of the tag, without `#`.
    public var tag: String?
    /// The finding and its consequence.
    public var text: String

    /// Makes an issue, an error by default; `line` counts from 1 and is nil if no line is to blame.
    package init(
        rule: PlaylistRule, severity: Severity = .error, line: Int? = nil, tag: String? = nil, text: String
    ) {
        self.rule = rule
        self.severity = severity
        self.line = line
        self.tag = tag
        self.text = text
    }

    public var description: String {
        Self.describe(line: line, tag: tag, text: text, rule: rule)
    }

    static func describe(line: Int?, tag: String?, text: String, rule: PlaylistRule) -> String {
        var parts = ""
        if let line { parts += "line \(line): " }
        if let tag { parts += "\(tag) " }
        parts += text
        if let section = rule.section { parts += " (\(section))" }
        return parts.escapingControls
    }
}

extension String {
    /// The text with control characters, bidirectional overrides and the like shown as escapes, safe for a terminal.
    package var escapingControls: String {
        guard unicodeScalars.contains(where: Self.isUnsafe) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if !Self.isUnsafe(scalar) {
                result.unicodeScalars.append(scalar)
            } else if scalar.value < 0x100 {
                let hex = String(scalar.value, radix: 16)
                result += "\\x" + (hex.count == 1 ? "0" : "") + hex
            } else {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
        return result
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
