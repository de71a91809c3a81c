/// Uncompressed audio: one number for each channel at each time. The names are libavcodec's: signed, unsigned or
/// floating point, number of bits, and byte order.
extension MediaCodec {
    package static let pcmU8 = MediaCodec(rawValue: "pcm_u8")
    package static let pcmS8 = MediaCodec(rawValue: "pcm_s8")
    package static let pcmS16LE = MediaCodec(rawValue: "pcm_s16le")
    package static let pcmS16BE = MediaCodec(rawValue: "pcm_s16be")
    package static let pcmS24LE = MediaCodec(rawValue: "pcm_s24le")
    package static let pcmS24BE = MediaCodec(rawValue: "pcm_s24be")
    package static let pcmS32LE = MediaCodec(rawValue: "pcm_s32le")
    package static let pcmS32BE = MediaCodec(rawValue: "pcm_s32be")
    package static let pcmF32LE = MediaCodec(rawValue: "pcm_f32le")
    package static let pcmF32BE = MediaCodec(rawValue: "pcm_f32be")
    package static let pcmF64LE = MediaCodec(rawValue: "pcm_f64le")
    package static let pcmF64BE = MediaCodec(rawValue: "pcm_f64be")
    package static let pcmALaw = MediaCodec(rawValue: "pcm_alaw")
    package static let pcmMuLaw = MediaCodec(rawValue: "pcm_mulaw")

    package static let pcmForms: [MediaCodec] = Array(pcmByteCounts.keys)

    /// The bytes of one number, or nil if the codec is not PCM.
    package var pcmByteCount: Int? { Self.pcmByteCounts[self] }

    private static let pcmByteCounts: [MediaCodec: Int] = [
        .pcmU8: 1, .pcmS8: 1, .pcmALaw: 1, .pcmMuLaw: 1, .pcmS16LE: 2, .pcmS16BE: 2, .pcmS24LE: 3, .pcmS24BE: 3,
        .pcmS32LE: 4, .pcmS32BE: 4, .pcmF32LE: 4, .pcmF32BE: 4, .pcmF64LE: 8, .pcmF64BE: 8,
    ]

    /// - Parameter bits: The bits of one number. Integers occupy as many whole bytes as they need.
    static func pcm(bits: Int, isFloat: Bool = false, isBigEndian: Bool, isSigned: Bool = true) -> MediaCodec? {
        if isFloat {
            switch bits {
            case 32: return isBigEndian ? .pcmF32BE : .pcmF32LE
            case 64: return isBigEndian ? .pcmF64BE : .pcmF64LE
            default: return nil
            }
        }
        switch bits {
        case 1...8: return isSigned ? .pcmS8 : .pcmU8
        case 9...16 where isSigned: return isBigEndian ? .pcmS16BE : .pcmS16LE
        case 17...24 where isSigned: return isBigEndian ? .pcmS24BE : .pcmS24LE
        case 25...32 where isSigned: return isBigEndian ? .pcmS32BE : .pcmS32LE
        default: return nil
        }
    }
}

extension MediaTrack {
    /// The bytes of one frame, with the numbers of all channels. It is nil if the codec is not PCM or the channel count
    /// is implausible.
    var pcmFrameByteCount: Int? {
        guard let byteCount = codec.pcmByteCount, (1...255).contains(channelCount) else { return nil }
        return byteCount * channelCount
    }
}
