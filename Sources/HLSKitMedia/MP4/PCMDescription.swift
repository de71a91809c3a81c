/// The form of PCM, from a sample entry and its boxes.
///
/// Source: ISO/IEC 23003-5 §4 (`ipcm`, `fpcm`, `pcmC`); QuickTime File Format, "Sound Sample Descriptions" and `enda`.
struct PCMDescription {
    /// The number of PCM frames to read as one sample: 20 ms at 48 kHz. A container may have a sample for each.
    static let maximumFrameCount = 1024

    /// The fields of QuickTime's second description version.
    struct Linear {
        var bits: UInt32
        var flags: UInt32
        var packetByteCount: UInt32
        var packetFrameCount: UInt32
    }

    var bits = 16
    var linear: Linear?
    var isLittleEndian = false
    var configuration: (isLittleEndian: Bool, bits: Int)?

    /// - Returns: The codec, or nil if it is not PCM or has an inexpressible or unknown form.
    func codec(sampleEntry: String, channelCount: Int) -> MediaCodec? {
        switch sampleEntry {
        case "ipcm", "fpcm":
            return configuration.flatMap {
                .pcm(bits: $0.bits, isFloat: sampleEntry == "fpcm", isBigEndian: !$0.isLittleEndian)
            }
        case "lpcm": return linear.flatMap { Self.codec($0, channelCount: channelCount) }
        case "raw ", "NONE": return bits == 16 ? .pcmS16BE : .pcmU8
        case "twos": return .pcm(bits: bits, isBigEndian: true)
        case "sowt": return .pcm(bits: bits, isBigEndian: false)
        case "in24": return .pcm(bits: 24, isBigEndian: !isLittleEndian)
        case "in32": return .pcm(bits: 32, isBigEndian: !isLittleEndian)
        case "fl32": return .pcm(bits: 32, isFloat: true, isBigEndian: !isLittleEndian)
        case "fl64": return .pcm(bits: 64, isFloat: true, isBigEndian: !isLittleEndian)
        case "ulaw": return .pcmMuLaw
        case "alaw": return .pcmALaw
        default: return nil
        }
    }

    private static func codec(_ linear: Linear, channelCount: Int) -> MediaCodec? {
        let (isFloat, isBigEndian, isSigned) = (linear.flags & 1 != 0, linear.flags & 2 != 0, linear.flags & 4 != 0)
        guard
            let codec = MediaCodec.pcm(
                bits: Int(linear.bits), isFloat: isFloat, isBigEndian: isBigEndian, isSigned: isSigned),
            let byteCount = codec.pcmByteCount
        else { return nil }
        // Numbers may take more bytes than they need.
        guard linear.packetFrameCount == 1, linear.packetByteCount > 0 else { return codec }
        return Int(linear.packetByteCount) == byteCount * channelCount ? codec : nil
    }
}
