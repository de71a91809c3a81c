/// A demuxer for one segment of fragmented MP4 (CMAF).
///
/// It emits samples in file order as soon as they are complete. Encrypted samples include the data needed to decrypt
/// them. A sample without bytes is not emitted, but its time passes. The demuxer keeps input only until the sample that
/// contains it is complete.
///
/// Source: ISO/IEC 14496-12; RFC 8216 §3.3.
public struct FragmentedMP4Demuxer: Demuxer {
    private var reader: MP4SegmentReader

    /// Creates a demuxer.
    ///
    /// - Parameter initialization: The section that `EXT-X-MAP` names, or `nil` if the segment begins with its own
    ///   `moov` box. If both exist, the segment's own box is used.
    public init(initialization: MP4InitializationSection?) {
        reader = MP4SegmentReader(
            initialization: initialization,
            mediaBeforeHeader: MediaError(
                code: .missingInitializationSection, text: "media without an initialization section"))
    }

    package var initialization: MP4InitializationSection? { reader.initialization }
    package var segmentIndexes: [SegmentIndex] { reader.segmentIndexes }

    /// Reads the next bytes of a segment; see ``Demuxer``.
    public mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError) {
        try reader.append(bytes, to: &events)
    }

    /// Ends the segment; see ``Demuxer``.
    public mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError) {
        try reader.finish(to: &events)
    }
}
