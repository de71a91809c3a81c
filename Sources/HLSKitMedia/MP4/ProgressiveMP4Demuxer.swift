/// Demuxes a whole MP4 file from its first byte to its last, as long as its header comes before the media.
///
/// Samples come in file order, so those of a track come in decoding order. Fragments behind the header are read too.
/// A file whose `moov` box lies behind the media ends in ``MediaError/Code/unsupported`` at its first media byte:
/// only ranges can read it.
public struct ProgressiveMP4Demuxer: Demuxer {
    private var reader: MP4SegmentReader

    /// Makes a demuxer that expects the beginning of a file.
    public init() {
        reader = MP4SegmentReader(
            initialization: nil,
            mediaBeforeHeader: MediaError(
                code: .unsupported,
                text: "the 'moov' box follows the media, so the file cannot be read as it arrives"))
    }

    /// The header of the file, once it has come.
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
