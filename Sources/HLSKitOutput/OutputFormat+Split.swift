public import HLSKitLoading
import HLSKitTime

extension OutputFormat {
    /// A writer that cuts what it gets into files of a length, as far as pictures allow: each begins at 0, with a picture that can
    /// be decoded by itself, and nothing is lost in between.
    ///
    /// A file has its name once it is whole; until then `.part` follows it. Lengths are counted from the first file on, so that those
    /// of an hour stay in step with the clock.
    ///
    /// - Parameters:
    ///   - length: of each file, in media time; more than zero.
    ///   - firstLength: of the first one, such as the rest of the hour; nil (the default) is `length`.
    ///   - overwrite: whether existing files may be replaced.
    ///   - note: receives what was converted so that the media fits the format.
    ///   - path: makes the path of the file of a number, from 1, when that is begun; its folder is there. What it throws fails the
    ///     item.
    /// - Throws: ``HLSError/Code/unsupported`` for formats other than `ts`, `mp4`, `mkv`, `aac` and `mp3`,
    ///   ``HLSError/Code/invalidArgument`` for a length that is none, and what opening the first file throws.
    public func makeSplitWriter(
        every length: Duration, firstLength: Duration? = nil, overwrite: Bool = false,
        note: @escaping WriterNote = { _ in }, path: @escaping @Sendable (_ number: Int) throws(HLSError) -> String
    ) throws(HLSError) -> any MediaWriter {
        switch self {
        case .ts, .mp4, .mkv, .aac, .mp3: break
        case .y4m, .rawvideo, .wav, .s16le, .f32le, .framemd5, .null:
            throw HLSError(code: .unsupported, cause: "\(rawValue) cannot be split")
        }
        guard length > .zero, firstLength.map({ $0 > .zero }) ?? true else {
            throw HLSError(code: .invalidArgument, cause: "a file must have a length")
        }
        return try SplitWriter(.duration(MediaTime(length)), firstLength: firstLength.map { MediaTime($0) }) {
            number throws(HLSError) in
            let path = try path(number)
            let writer = try makeWriter(path: path, overwrite: overwrite, note: note)
            guard let writer = writer as? Remuxer else {
                throw HLSError(code: .internal, path: path, text: "\(rawValue) cannot be split")
            }
            return SplitWriter.Part(writer)
        }
    }
}
