/// A format of caption files.
public enum CaptionFormat: String, Sendable, Hashable, CaseIterable {
    /// WebVTT (`.vtt`).
    case webVTT = "vtt"
    /// SubRip (`.srt`).
    case subRip = "srt"
    /// iTunes Timed Text, a profile of TTML (`.itt`).
    case iTunesTimedText = "itt"
    /// Scenarist Closed Captions: CEA-608 (`.scc`).
    case scenarist = "scc"

    /// Creates the format of a file name extension, or `nil` if the extension is unknown.
    ///
    /// - Parameter fileExtension: The extension without the point, in any case. `ttml`, `dfxp` and `xml` mean `itt`,
    ///   and `webvtt` means `vtt`.
    public init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "ttml", "dfxp", "xml": self = .iTunesTimedText
        case "webvtt": self = .webVTT
        case let name:
            guard let format = CaptionFormat(rawValue: name) else { return nil }
            self = format
        }
    }

    /// The file extension, without a dot.
    public var fileExtension: String { rawValue }
}

/// Why captions could not be read, written or converted.
public struct CaptionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// The set is open.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// The bytes are not of the format.
        public static let notThisFormat = Code(rawValue: "notThisFormat")
        /// The file violates its format, so that its remaining content cannot be trusted.
        public static let malformed = Code(rawValue: "malformed")
        /// The content is well-formed but exceeds a limit.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// A caption has a time that a file cannot represent.
        public static let invalidTime = Code(rawValue: "invalidTime")
        /// ``CaptionConversionValidator/validateCaptionConversion()`` was called a second time.
        public static let alreadyStarted = Code(rawValue: "alreadyStarted")
    }

    /// The kind of failure.
    public var code: Code
    /// The line, counted from 1, or `nil` if there is no single line, and when writing.
    public var line: Int?
    /// A description of the error.
    public var text: String

    package init(code: Code, line: Int? = nil, text: String) {
        self.code = code
        self.line = line
        self.text = text
    }

    public var description: String {
        if let line { "line \(line): \(text)" } else { text }
    }
}

/// A note on skipped or repaired content of a caption file.
public struct CaptionFileNote: Sendable, Hashable, CustomStringConvertible {
    /// The line, counted from 1, or `nil` if there is no single line.
    public var line: Int?
    /// The text of the note.
    public var text: String

    package init(line: Int? = nil, text: String) {
        self.line = line
        self.text = text
    }

    public var description: String {
        if let line { "line \(line): \(text)" } else { text }
    }
}

/// The first notes of a file. Their number is limited because malicious files can cause one for each line.
struct NoteList {
    private static let maxCount = 64
    private(set) var notes: [CaptionFileNote] = []
    private var count = 0

    mutating func add(_ text: @autoclosure () -> String, line: Int? = nil) {
        count += 1
        if count < Self.maxCount {
            notes.append(CaptionFileNote(line: line, text: text()))
        } else if count == Self.maxCount {
            notes.append(CaptionFileNote(text: "further notes about this file are suppressed"))
        }
    }
}
