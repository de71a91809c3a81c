/// Reads captions from the bytes of a file.
///
/// The reader is lenient and skips invalid content with a note. Any input ends with captions or a ``CaptionError``, in
/// time and memory proportional to its size.
///
/// This type replaces AVFoundation's `AVAssetReaderOutputCaptionAdaptor`.
public struct CaptionFileReader: Sendable {
    /// The content of a caption file.
    public struct Content: Sendable, Hashable {
        /// The captions in the order of the file.
        public var captions: [Caption]
        /// The BCP 47 tag of the language, or `nil` if the file does not declare it.
        public var language: String?
        /// Notes on skipped or repaired content.
        public var notes: [CaptionFileNote]

        package init(captions: [Caption], language: String? = nil, notes: [CaptionFileNote] = []) {
            self.captions = captions
            self.language = language
            self.notes = notes
        }
    }

    package static let maxByteCount = 32 << 20

    /// The format of the file.
    public var format: CaptionFormat

    /// Creates a reader for `format`.
    public init(format: CaptionFormat) { self.format = format }

    /// Identifies the format from the first bytes of a file.
    ///
    /// The result is `nil` if the bytes match no format.
    public init?(guessingFrom bytes: some Collection<UInt8>) {
        let head = TextDecoding.text(of: Array(bytes.prefix(4096))).text
        let start = head.unicodeScalars.drop { $0.properties.isWhitespace || $0 == "\u{feff}" }
        if start.starts(with: "WEBVTT".unicodeScalars) {
            format = .webVTT
        } else if start.starts(with: "Scenarist_SCC".unicodeScalars) {
            format = .scenarist
        } else if start.first == "<" {
            format = .iTunesTimedText
        } else if head.contains("-->") {
            format = .subRip
        } else {
            return nil
        }
    }

    /// Reads a whole file.
    ///
    /// - Throws: `limitExceeded` above 32 MiB, `notThisFormat` or `malformed` if it cannot be read.
    public func read(_ bytes: some Collection<UInt8>) throws(CaptionError) -> Content {
        guard bytes.count <= Self.maxByteCount else {
            throw CaptionError(code: .limitExceeded, text: "more than \(Self.maxByteCount) bytes")
        }
        let bytes = Array(bytes)
        switch format {
        case .webVTT: return try WebVTTCaptionReader.read(bytes)
        case .subRip: return try SubRipReader.read(bytes)
        case .iTunesTimedText: return try TimedTextReader.read(bytes)
        case .scenarist: return try ScenaristReader.read(bytes)
        }
    }
}
