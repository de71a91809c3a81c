/// The amount by which the decoding times of a track move to earlier times.
///
/// It ensures that no sample is presented before it is decoded. Negative composition offsets let a track begin at
/// presentation time 0 without an edit list. Decoders and other containers do not allow them.
///
/// Source: ISO/IEC 14496-12 §8.6.1.3, §8.6.1.4 (`compositionToDTSShift`).
enum DecodingShift {
    /// The longest plausible reordering delay, in seconds. Larger offsets are damaged.
    private static let longest: Int64 = 10

    /// - Parameter offset: The smallest composition offset.
    static func needed(forOffset offset: Int32, timescale: Int32) -> Int64 {
        let shift = -Int64(offset)
        return shift > 0 && shift <= longest * Int64(timescale) ? shift : 0
    }
}
