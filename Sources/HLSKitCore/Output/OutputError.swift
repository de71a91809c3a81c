/// Why media could not be written.
public struct OutputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. An open set.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file is there already, and overwriting was not asked for.
        public static let fileExists = Code(rawValue: "fileExists")
        /// The file cannot be opened for writing.
        public static let notWritable = Code(rawValue: "notWritable")
        /// No space is left on the device, or in the quota.
        public static let diskFull = Code(rawValue: "diskFull")
        /// No one reads the pipe any more.
        public static let brokenPipe = Code(rawValue: "brokenPipe")
        /// Any other failure of a write.
        public static let writeFailed = Code(rawValue: "writeFailed")
        /// The format cannot hold what it was given.
        public static let unsupported = Code(rawValue: "unsupported")
        /// A library could not convert or pack the media.
        public static let conversionFailed = Code(rawValue: "conversionFailed")
    }

    /// The kind of failure.
    public var code: Code
    /// The file as the user named it; `-` is standard output.
    public var path: String
    /// The message, with the words of the system or library below.
    public var text: String

    /// Makes an error about the file at `path`.
    public init(code: Code, path: String, text: String) {
        self.code = code
        self.path = path
        self.text = text
    }

    init(_ error: CodecError, path: String) {
        self.init(code: .conversionFailed, path: path, text: error.description)
    }

    public var description: String { "\(path): \(text)" }
}

extension OutputError: HLSErrorConvertible {
    var hlsError: HLSError { HLSError(self) }
}

extension HLSError {
    init(_ error: OutputError) {
        self.init(
            code: .output, url: error.path, cause: "cannot write", detail: error.text, underlyingError: error)
    }
}
