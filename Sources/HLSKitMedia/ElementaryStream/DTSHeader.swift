/// The header of a DTS core frame, or of an extension substream that follows its core.
///
/// Source: ETSI TS 102 114 §5.3 and §7.4.1.
package struct DTSHeader: Sendable, Hashable {
    package static let byteCount = 12

    package var isExtension: Bool
    package var frameByteCount: Int
    /// The samples per channel, or 0 for extensions, which do not declare them here.
    package var sampleCount = 0
    package var sampleRate = 0
    package var channelCount = 0

    // Indexed by SFREQ and AMODE. 0 is not used.
    private static let rates = [
        0, 8000, 16_000, 32_000, 0, 0, 11_025, 22_050, 44_100, 0, 0, 12_000, 24_000, 48_000, 0, 0,
    ]
    private static let channelCounts = [1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6, 6, 7, 8, 8]

    /// Returns nil if `bytes` is too short or not a header. Only the usual form of the core is supported: sixteen bits
    /// per word, the higher byte first.
    package init?(parsing bytes: ArraySlice<UInt8>) {
        guard bytes.count >= Self.byteCount else { return nil }
        var reader = BitReader(Array(bytes.prefix(Self.byteCount)))
        if bytes.starts(with: [0x64, 0x58, 0x20, 0x25]) {
            isExtension = true
            reader.skip(32 + 8 + 2)
            let isLong = reader.flag()
            let headerByteCount = reader.bits(isLong ? 12 : 8) + 1
            frameByteCount = reader.bits(isLong ? 20 : 16) + 1
            guard frameByteCount >= max(headerByteCount, Self.byteCount) else { return nil }
            return
        }
        guard bytes.starts(with: [0x7f, 0xfe, 0x80, 0x01]) else { return nil }
        isExtension = false
        reader.skip(32 + 1 + 5 + 1)
        sampleCount = (reader.bits(7) + 1) * 32
        frameByteCount = reader.bits(14) + 1
        let mode = reader.bits(6)
        sampleRate = Self.rates[reader.bits(4)]
        // Bit rate, flags, extension, and the place of the low-frequency channel.
        reader.skip(5 + 5 + 3 + 1 + 1)
        let lowFrequency = reader.bits(2)
        guard mode < Self.channelCounts.count, sampleRate > 0, frameByteCount >= 96, sampleCount >= 192 else {
            return nil
        }
        channelCount = Self.channelCounts[mode] + (lowFrequency == 1 || lowFrequency == 2 ? 1 : 0)
    }

    package var frame: AudioFrameHeader {
        AudioFrameHeader(
            codec: .dts, byteCount: frameByteCount, sampleCount: sampleCount, sampleRate: sampleRate,
            channelCount: channelCount, isContinuation: isExtension, mayContinue: !isExtension)
    }
}
