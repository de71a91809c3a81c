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
    package var isLowRate: Bool

    /// Returns nil if `bytes` is too short or not a supported header. A free-format frame (no declared bit rate) is not
    /// supported because its length is unknown.
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
            codec: layer == 2 ? .mp2 : .mp3, byteCount: frameByteCount, sampleCount: sampleCount,
            sampleRate: sampleRate, channelCount: channelCount)
    }

    /// Whether the frame contains no audio but a table for file players ("Xing", "Info", "VBRI").
    ///
    /// Decoders would play it as silence. FFmpeg's demuxer drops it and its time. This library drops the frame but
    /// keeps its time.
    package static func isInformation(_ frame: ArraySlice<UInt8>) -> Bool {
        guard let header = MPEGAudioHeader(parsing: frame), header.layer == 3 else { return false }
        return header.hasXingTable(frame) || frame.dropFirst(36).starts(with: "VBRI".utf8)
    }

    private var xingOffset: Int {
        let isMono = channelCount == 1
        return 4 + (isLowRate ? (isMono ? 9 : 17) : (isMono ? 17 : 32))
    }

    private func hasXingTable(_ frame: ArraySlice<UInt8>) -> Bool {
        let table = frame.dropFirst(xingOffset)
        return table.starts(with: "Xing".utf8) || table.starts(with: "Info".utf8)
    }

    /// The number of samples that a layer III decoder outputs before the first frame's own.
    private static let decoderDelay = 529

    /// The audio that the encoder added, from its information frame, or nil if undeclared.
    ///
    /// Source: the LAME tag, as FFmpeg reads it (written by LAME and by FFmpeg's libraries).
    package static func gapless(_ frame: ArraySlice<UInt8>) -> GaplessInfo? {
        guard let header = MPEGAudioHeader(parsing: frame), header.layer == 3, header.hasXingTable(frame) else {
            return nil
        }
        var rest = frame.dropFirst(header.xingOffset + 4)
        func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
        guard rest.count >= 4 else { return nil }
        let flags = number(rest.prefix(4))
        rest = rest.dropFirst(4)
        let frameCount = flags & 1 != 0 ? number(rest.prefix(4)) : 0
        // The number of frames, the number of bytes, the seek table and the quality.
        for (bit, byteCount) in [(1, 4), (2, 4), (4, 100), (8, 4)] where flags & bit != 0 {
            rest = rest.dropFirst(byteCount)
        }
        guard ["LAME", "Lavf", "Lavc"].contains(where: { rest.starts(with: $0.utf8) }), rest.count >= 24 else {
            return nil
        }
        let delays = number(rest.dropFirst(21).prefix(3))
        let leading = (delays >> 12) + decoderDelay
        var info = GaplessInfo(leadingSampleCount: leading)
        guard frameCount > 0 else { return info }
        info.trailingSampleCount = max(0, (delays & 0xfff) - decoderDelay)
        // Below 2³² frames of 1152 samples.
        let valid = frameCount * header.sampleCount - leading - info.trailingSampleCount
        guard valid > 0 else { return GaplessInfo(leadingSampleCount: leading) }
        info.validSampleCount = valid
        return info
    }

    // ISO/IEC 11172-3 §2.4.2.3 and ISO/IEC 13818-3 §2.4.2.3: layers I, II, III, and for low rates layer I, then layers
    // II and III.
    private static let kilobits = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
