/// Demuxes one segment of fragmented MP4 (CMAF).
///
/// Samples come in file order as soon as their last byte is there. Encrypted samples come encrypted, with what is
/// needed to decrypt them. A sample without a byte is not given; its time passes. Pieces of the input are held no
/// longer than until the sample that they are part of is whole.
///
/// Source: ISO/IEC 14496-12; RFC 8216 §3.3.
public struct FragmentedMP4Demuxer: Demuxer {
    private var reader: MP4SegmentReader

    /// - Parameter initialization: the section that `EXT-X-MAP` names; nil if the segment begins with its own
    ///   `moov` box, which otherwise replaces it.
    public init(initialization: MP4InitializationSection?) {
        reader = MP4SegmentReader(
            initialization: initialization,
            mediaBeforeHeader: MediaError(
                code: .missingInitializationSection, text: "media without an initialization section"))
    }

    /// The initialization section in use.
    package var initialization: MP4InitializationSection? { reader.initialization }
    /// The indexes (`sidx`) that have been found so far.
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
