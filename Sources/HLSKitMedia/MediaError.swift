/// The reason why bytes could not be read as media.
public struct MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// The set is open.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The bytes belong to no container that this library reads.
        public static let unknownContainer = Code(rawValue: "unknownContainer")
        /// The bytes end too early.
        public static let truncated = Code(rawValue: "truncated")
        /// A field contradicts the format or another field.
        public static let malformed = Code(rawValue: "malformed")
        /// The content is well-formed but exceeds a limit.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// The segment needs an initialization section, but there is none.
        public static let missingInitializationSection = Code(rawValue: "missingInitializationSection")
        /// The format is recognized but cannot be decoded.
        public static let unsupported = Code(rawValue: "unsupported")
    }

    /// The kind of failure.
    public var code: Code
    /// The offset of the fault from the start of the segment or section, or `nil` if it has no single position.
    public var byteOffset: Int?
    /// A description of the error.
    public var text: String

    package init(code: Code, byteOffset: Int? = nil, text: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.text = text
    }

    public var description: String {
        if let byteOffset { "byte \(byteOffset): \(text)" } else { text }
    }
}
