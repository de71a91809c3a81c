/// A demuxer for a whole MP4 file whose header precedes the media.
///
/// It emits samples in file order, so each track has its decoding order. It also reads fragments after the header. If
/// the `moov` box follows the media, it throws ``MediaError/Code/unsupported`` at the first media byte because such a
/// file needs range requests.
public struct ProgressiveMP4Demuxer: Demuxer {
    private var reader: MP4SegmentReader

    /// Creates a demuxer that expects the start of a file.
    public init() {
        reader = MP4SegmentReader(
            initialization: nil,
            mediaBeforeHeader: MediaError(
                code: .unsupported,
                text: "the 'moov' box follows the media, so the file cannot be read as it arrives"))
    }

    package var initialization: MP4InitializationSection? { reader.initialization }

    /// Reads the next bytes of the file; see ``Demuxer``.
    public mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError) {
        try reader.append(bytes, to: &events)
    }

    /// Ends the file; see ``Demuxer``.
    public mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError) {
        try reader.finish(to: &events)
        guard reader.initialization != nil else {
            throw MediaError(code: .missingInitializationSection, text: "an MP4 file without a 'moov' box")
        }
    }
}
