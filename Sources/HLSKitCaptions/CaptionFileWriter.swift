public import HLSKitTime

/// Writes captions as the bytes of a file.
///
/// Content that a format does not support is skipped or changed to the nearest equivalent. WebVTT and SubRip have no
/// empty lines, and `.itt` and `.scc` have times of whole frames. `.scc` has the characters and bandwidth of CEA-608
/// (see ``CaptionConversionValidator``).
///
/// This type replaces AVFoundation's `AVAssetWriterInputCaptionAdaptor`.
public struct CaptionFileWriter: Sendable {
    /// A written file.
    public struct Output: Sendable, Hashable {
        /// The whole file.
        public var bytes: [UInt8]
        /// Notes on content that was changed or omitted because of the format's limits.
        public var notes: [CaptionFileNote]
    }

    /// The format to write.
    public var format: CaptionFormat
    /// The BCP 47 tag of the language.
    ///
    /// Only `.itt` files can contain it.
    public var language: String?
    /// The frame duration of the time codes in `.itt`.
    ///
    /// It is 1/N or 1001/(N·1000) s, with N from 1 to 120. The default is 1001/30000 s, which `.scc` always uses.
    public var timeCodeFrameDuration = MediaTime(value: 1001, timescale: 30_000)
    /// A Boolean value that indicates whether time codes skip numbers to match the clock.
    ///
    /// This is possible only at 1001/30000 s. The default is `false`.
    public var usesDropFrameTimeCode = false

    /// Creates a writer for `format` with default settings.
    public init(format: CaptionFormat) { self.format = format }

    /// Writes captions as a file.
    ///
    /// - Throws: `invalidTime` for a caption without a start, or one later than 99:59:59.
    public func write(_ captions: [Caption]) throws(CaptionError) -> Output {
        switch format {
        case .webVTT: return Output(bytes: try WebVTTCaptionWriter.write(captions), notes: [])
        case .subRip: return Output(bytes: try SubRipWriter.write(captions), notes: [])
        case .iTunesTimedText:
            guard
                let rate = TimeCodeRate(frameDuration: timeCodeFrameDuration, isDropFrame: usesDropFrameTimeCode)
            else {
                throw CaptionError(
                    code: .invalidTime, text: "\(timeCodeFrameDuration) is not the length of a frame of a time code")
            }
            return Output(bytes: try TimedTextWriter.write(captions, rate: rate, language: language), notes: [])
        case .scenarist:
            let (bytes, notes) = try ScenaristWriter.write(
                captions, rate: usesDropFrameTimeCode ? .ntscDropFrame : .ntsc)
            return Output(bytes: bytes, notes: notes)
        }
    }
}
