import HLSKitTime

/// The reason why a text cannot be used as a playlist.
public struct PlaylistError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// The set is open.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The text does not start with `#EXTM3U`.
        public static let notAPlaylist = Code(rawValue: "notAPlaylist")
        /// The playlist exceeds one of the ``PlaylistLimits``, which the text names.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// A line, or the whole playlist, violates a rule so that its meaning is unclear.
        public static let malformed = Code(rawValue: "malformed")
        /// The playlist is of the other kind.
        public static let wrongKind = Code(rawValue: "wrongKind")
        /// A delta update does not continue the current playlist.
        ///
        /// Load the full playlist.
        public static let cannotMerge = Code(rawValue: "cannotMerge")
    }

    /// The kind of failure.
    public var code: Code
    /// The violated rule.
    public var rule: PlaylistRule
    /// The line, counted from 1, or `nil` if the fault is not in a single line.
    public var line: Int?
    /// The name of the tag without `#`, or `nil` if there is none.
    public var tag: String?
    /// A description of the error.
    public var text: String

    package init(code: Code, rule: PlaylistRule, line: Int? = nil, tag: String? = nil, text: String) {
        self.code = code
        self.rule = rule
        self.line = line
        self.tag = tag
        self.text = text
    }

    /// A description in one line, with control characters of the playlist escaped.
    ///
    /// For example: `line 14: EXT-X-BYTERANGE "12@": offset is missing (rfc8216bis §4.4.4.2)`.
    public var description: String {
        PlaylistIssue.describe(line: line, tag: tag, text: text, rule: rule)
    }
}

/// A violation of a rule, found by lenient parsing.
public struct PlaylistIssue: Sendable, Hashable, CustomStringConvertible {
    /// The severity of an issue.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// A violation of a "should", or an unusual value.
        case warning
        /// A violation of a "must" of the specification.
        case error
    }

    /// The violated rule.
    public var rule: PlaylistRule
    /// The severity.
    public var severity: Severity
    /// The line, counted from 1, or `nil` if the fault is not in a single line.
    public var line: Int?
    /// The name of the tag, without `#`.
    public var tag: String?
    /// A description of the fault and its consequence.
    public var text: String

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
                result += "\\x" + scalar.value.hexadecimal(2)
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
