/// The fields of an AudioMuxElement's StreamMuxConfig in LOAS framing that describe timing and channels.
///
/// Source: ISO/IEC 14496-3 §1.7.3.
package struct LATMConfiguration: Sendable, Hashable {
    package var audio: AudioSpecificConfig
    package var subframeCount: Int

    package enum Element: Sendable {
        case configuration(LATMConfiguration), sameAsBefore
    }

    /// - Parameter payload: The AudioMuxElement after the three bytes of the LOAS header.
    /// - Throws: `malformed`, or `unsupported` for several programs or layers.
    package static func parse(_ payload: ArraySlice<UInt8>) throws(MediaError) -> Element {
        // Long enough for any configuration with its program config element.
        var reader = BitReader(Array(payload.prefix(1024)))
        if reader.flag() { return .sameAsBefore }
        let version = reader.bits(1)
        if version == 1 && reader.flag() {
            throw MediaError(code: .unsupported, text: "LATM: audioMuxVersionA 1")
        }
        if version == 1 { _ = value(from: &reader) }
        reader.skip(1)  // allStreamsSameTimeFraming
        let subframeCount = reader.bits(6) + 1
        guard reader.bits(4) == 0, reader.bits(3) == 0 else {
            throw MediaError(code: .unsupported, text: "LATM: several programs or layers")
        }
        if version == 1 { _ = value(from: &reader) }
        return .configuration(
            LATMConfiguration(audio: try AudioSpecificConfig(parsing: &reader), subframeCount: subframeCount))
    }

    /// LatmGetValue().
    private static func value(from reader: inout BitReader) -> Int {
        var value = 0
        for _ in 0...reader.bits(2) { value = value << 8 | reader.bits(8) }
        return value
    }
}
