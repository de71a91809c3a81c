/// The header of a frame of AC-3 or E-AC-3.
///
/// Source: ETSI TS 102 366 §4.4 (AC-3), §E.1.2 and §E.1.3 (E-AC-3).
package struct AC3Header: Sendable, Hashable {
    package static let byteCount = 8

    package enum Substream: Sendable, Hashable {
        case independent(Int), dependent(Int)
    }

    package var isEnhanced: Bool
    /// `independent(0)` for AC-3.
    package var substream: Substream
    package var bitStreamID: Int
    package var frameByteCount: Int
    package var sampleRate: Int
    /// The channels of this substream, including the low-frequency one.
    package var channelCount: Int
    package var sampleCount: Int
    /// Audio coding mode (`acmod`), 0 to 7.
    package var codingMode: Int
    package var hasLowFrequencyChannel: Bool
    /// `bsmod`, or 0 for E-AC-3, in which it follows optional fields.
    package var bitStreamMode: Int

    package init?(parsing bytes: ArraySlice<UInt8>) {
        guard bytes.count >= Self.byteCount, bytes.starts(with: [0x0b, 0x77]) else { return nil }
        var reader = BitReader(Array(bytes.prefix(Self.byteCount)))
        reader.skip(16)
        bitStreamID = Int(bytes[bytes.startIndex + 5] >> 3)
        guard bitStreamID <= 16 else { return nil }
        isEnhanced = bitStreamID > 10
        let rates = [48_000, 44_100, 32_000]
        if isEnhanced {
            let type = reader.bits(2)
            let number = reader.bits(3)
            guard type != 3 else { return nil }
            substream = type == 1 ? .dependent(number) : .independent(number)
            frameByteCount = (reader.bits(11) + 1) * 2
            let rateCode = reader.bits(2)
            let secondCode = reader.bits(2)
            guard rateCode < 3 || secondCode < 3 else { return nil }
            sampleRate = rateCode < 3 ? rates[rateCode] : rates[secondCode] / 2
            sampleCount = 256 * (rateCode < 3 ? [1, 2, 3, 6][secondCode] : 6)
            codingMode = reader.bits(3)
            hasLowFrequencyChannel = reader.flag()
            bitStreamMode = 0
        } else {
            substream = .independent(0)
            reader.skip(16)
            let rateCode = reader.bits(2)
            let sizeCode = reader.bits(6)
            reader.skip(5)
            bitStreamMode = reader.bits(3)
            codingMode = reader.bits(3)
            if codingMode & 1 == 1 && codingMode != 1 { reader.skip(2) }
            if codingMode & 4 == 4 { reader.skip(2) }
            if codingMode == 2 { reader.skip(2) }
            hasLowFrequencyChannel = reader.flag()
            guard rateCode < 3, sizeCode < 38 else { return nil }
            let kilobits = Self.kilobits[sizeCode / 2]
            switch rateCode {
            case 0: frameByteCount = kilobits * 4
            // 320/147 words per kilobit, rounded down, and one more for odd codes (table 4.13).
            case 1: frameByteCount = 2 * (kilobits * 320 / 147 + (sizeCode & 1))
            default: frameByteCount = kilobits * 6
            }
            // bsid 9 and 10 halve and quarter the rate.
            sampleRate = rates[rateCode] >> max(0, bitStreamID - 8)
            sampleCount = 1536
        }
        channelCount = [2, 1, 2, 3, 3, 4, 4, 5][codingMode] + (hasLowFrequencyChannel ? 1 : 0)
        guard frameByteCount > Self.byteCount else { return nil }
    }

    package var frame: AudioFrameHeader {
        AudioFrameHeader(
            codec: isEnhanced ? .eac3 : .ac3, byteCount: frameByteCount, sampleCount: sampleCount,
            sampleRate: sampleRate, channelCount: channelCount,
            isContinuation: substream != .independent(0), mayContinue: isEnhanced)
    }

    private static let kilobits = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
}
