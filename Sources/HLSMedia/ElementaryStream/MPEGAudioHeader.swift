/// The header of a frame of MPEG audio, layers I to III, with the low sample rates of MPEG-2 and "2.5".
///
/// Source: ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.
package struct MPEGAudioHeader: Sendable, Hashable {
    /// 1 to 3.
    package var layer: Int
    package var bitsPerSecond: Int
    package var sampleRate: Int
    package var channelCount: Int
    package var frameByteCount: Int
    package var sampleCount: Int
    /// Sample rates below 32 kHz.
    package var isLowRate: Bool

    /// Nil where `bytes` is too short or no header that can be followed. A free-format frame (no declared bit rate)
    /// is none: its length cannot be known.
    package init?(parsing bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 4 else { return nil }
        let b = bytes.startIndex
        guard bytes[b] == 0xff, bytes[b + 1] & 0xe0 == 0xe0 else { return nil }
        let version = bytes[b + 1] >> 3 & 3  // 0: 2.5, 2: 2, 3: 1
        layer = 4 - Int(bytes[b + 1] >> 1 & 3)
        let rateIndex = Int(bytes[b + 2] >> 2 & 3)
        let bitRateIndex = Int(bytes[b + 2] >> 4)
        guard version != 1, layer < 4, rateIndex < 3, (1..<15).contains(bitRateIndex), bytes[b + 3] & 3 != 2 else {
            return nil
        }
        isLowRate = version != 3
        sampleRate = [44_100, 48_000, 32_000][rateIndex] >> (version == 3 ? 0 : version == 2 ? 1 : 2)
        channelCount = bytes[b + 3] >> 6 == 3 ? 1 : 2
        bitsPerSecond = 1000 * Self.kilobits[isLowRate ? (layer == 1 ? 3 : 4) : layer - 1][bitRateIndex]
        let padding = Int(bytes[b + 2] >> 1 & 1)
        switch layer {
        case 1:
            frameByteCount = (12 * bitsPerSecond / sampleRate + padding) * 4
            sampleCount = 384
        case 3 where isLowRate:
            frameByteCount = 72 * bitsPerSecond / sampleRate + padding
            sampleCount = 576
        default:
            frameByteCount = 144 * bitsPerSecond / sampleRate + padding
            sampleCount = 1152
        }
    }

    package var frame: AudioFrameHeader {
        AudioFrameHeader(
            codec: .mp3, byteCount: frameByteCount, sampleCount: sampleCount, sampleRate: sampleRate,
            channelCount: channelCount)
    }

    /// The frame holds no sound but a table for players of files ("Xing", "Info", "VBRI").
    ///
    /// Decoders would play it as silence; FFmpeg's demuxer drops it, and no time passes for it.
    package static func isInformation(_ frame: ArraySlice<UInt8>) -> Bool {
        guard let header = MPEGAudioHeader(parsing: frame), header.layer == 3 else { return false }
        let isMono = header.channelCount == 1
        let sideInformation = header.isLowRate ? (isMono ? 9 : 17) : (isMono ? 17 : 32)
        func has(_ word: String, at offset: Int) -> Bool { frame.dropFirst(offset).starts(with: word.utf8) }
        return has("Xing", at: 4 + sideInformation) || has("Info", at: 4 + sideInformation) || has("VBRI", at: 36)
    }

    // ISO/IEC 11172-3 §2.4.2.3 and ISO/IEC 13818-3 §2.4.2.3: layers I, II, III; low rates: layer I, layers II and III.
    private static let kilobits = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
