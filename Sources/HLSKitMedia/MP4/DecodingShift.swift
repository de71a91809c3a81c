/// How far decoding times of a track are moved ahead, so that no sample is presented before it is decoded.
///
/// Composition offsets below zero let a track begin at its presentation time 0 without an edit list. Decoders and other
/// containers count otherwise.
///
/// Source: ISO/IEC 14496-12 §8.6.1.3, §8.6.1.4 (`compositionToDTSShift`).
enum DecodingShift {
    /// No stream holds pictures back for longer, in seconds: such offsets are damaged.
    private static let longest: Int64 = 10

    /// - Parameter offset: the smallest composition offset.
    static func needed(forOffset offset: Int32, timescale: Int32) -> Int64 {
        let shift = -Int64(offset)
        return shift > 0 && shift <= longest * Int64(timescale) ? shift : 0
    }
}
