/// Reads captions from the bytes of a file.
///
/// Lenient: what cannot be understood is skipped with a note. Whatever the bytes are, reading ends with captions or
/// a ``CaptionError``, in time and memory in proportion to the bytes.
///
/// Takes the place of AVFoundation's `AVAssetReaderOutputCaptionAdaptor`. See docs/reference/outputs-and-media.md.
public struct CaptionFileReader: Sendable {
    /// The content of a caption file.
    public struct Content: Sendable, Hashable {
        /// In the order of the file.
        public var captions: [Caption]
        /// BCP 47 tag; nil if the file does not say.
        public var language: String?
        /// Notes on what was skipped or repaired.
        public var notes: [CaptionFileNote]

        /// Makes the content of a file; without `language` the file declares none.
        package init(captions: [Caption], language: String? = nil, notes: [CaptionFileNote] = []) {
            self.captions = captions
            self.language = language
            self.notes = notes
        }
    }

    /// Larger files are refused, in bytes.
    package static let maxByteCount = 32 << 20

    /// The format of the file.
    public var format: CaptionFormat

    /// Makes a reader of `format`.
    public init(format: CaptionFormat) { self.format = format }

    /// Tells the format by the first bytes; nil if they are of none.
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
