public import HLSKitLoading
import HLSKitTime

extension OutputFormat {
    /// Creates a writer that splits its media into files of a given length.
    ///
    /// Each file begins at 0 with a sync frame, and no media is lost between files. A file has the ending `.part` until
    /// it is complete. Lengths are counted from the first file, so that files of an hour remain aligned to the clock.
    ///
    /// - Parameters:
    ///   - length: The length of each file in media time, more than zero.
    ///   - firstLength: The length of the first file, such as the rest of the hour. The default, `nil`, is `length`.
    ///   - overwrite: Whether existing files may be replaced. The default is `false`.
    ///   - note: Receives a text for each change to the media that was needed to fit the format.
    ///   - path: Returns the path of a file, given its number from 1, when the file is begun. Its folder must exist. An
    ///     error that it throws fails the item.
    /// - Throws: ``HLSError/Code/unsupported`` for formats other than `ts`, `mp4`, `mkv`, `aac` and `mp3`,
    ///   ``HLSError/Code/invalidArgument`` for an invalid length, or the error of opening the first file.
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
