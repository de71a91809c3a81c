/// The header of an AAC frame in ADTS framing.
///
/// Source: ISO/IEC 14496-3 §1.A.2.2.
package struct ADTSHeader: Sendable, Hashable {
    /// The bytes that the initializer needs. With a checksum, the header itself has two more.
    package static let byteCount = 7

    /// Audio object type: 1 to 4.
    package var objectType: Int
    package var sampleRateIndex: Int
    /// The configuration, or 0 if a program config element in the frame declares it.
    package var channelConfiguration: Int
    package var frameByteCount: Int
    package var headerByteCount: Int
    /// 1 to 4.
    package var rawDataBlockCount: Int

    package init?(parsing bytes: ArraySlice<UInt8>) {
        guard bytes.count >= Self.byteCount else { return nil }
        let b = bytes.startIndex
        guard bytes[b] == 0xff, bytes[b + 1] & 0xf6 == 0xf0 else { return nil }
        let hasChecksum = bytes[b + 1] & 1 == 0
        objectType = Int(bytes[b + 2] >> 6) + 1
        sampleRateIndex = Int(bytes[b + 2] >> 2 & 15)
        channelConfiguration = Int(bytes[b + 2] & 1) << 2 | Int(bytes[b + 3] >> 6)
        frameByteCount = Int(bytes[b + 3] & 3) << 11 | Int(bytes[b + 4]) << 3 | Int(bytes[b + 5] >> 5)
        rawDataBlockCount = Int(bytes[b + 6] & 3) + 1
        // With a checksum, the positions of several blocks precede them.
        headerByteCount = Self.byteCount + (hasChecksum ? 2 * rawDataBlockCount : 0)
        guard sampleRateIndex < AudioSpecificConfig.sampleRates.count, frameByteCount > headerByteCount else {
            return nil
        }
    }

    package var sampleRate: Int { AudioSpecificConfig.sampleRates[sampleRateIndex] }

    package var frame: AudioFrameHeader {
        AudioFrameHeader(
            codec: .aac, byteCount: frameByteCount, strippedByteCount: headerByteCount,
            sampleCount: 1024 * rawDataBlockCount, sampleRate: sampleRate,
            channelCount: AudioSpecificConfig.channelCounts[channelConfiguration])
    }

    /// Returns the equivalent AudioSpecificConfig and the number of channels (0 if unknown).
    ///
    /// - Parameter payload: The frame after its header, which may begin with a program config element.
    package func configuration(payload: ArraySlice<UInt8>) -> (bytes: [UInt8], channelCount: Int) {
        let fixed = objectType << 11 | sampleRateIndex << 7 | channelConfiguration << 3
        let bytes = [UInt8(fixed >> 8), UInt8(fixed & 255)]
        guard channelConfiguration == 0 else {
            return (bytes, AudioSpecificConfig.channelCounts[channelConfiguration])
        }
        // A program config element has at most 2 + 3 × 15 × 5 + … bits and 255 bytes of comment.
        var reader = BitReader(Array(payload.prefix(512)))
        guard reader.bits(3) == 5 else { return (bytes, 0) }
        let element = ProgramConfigElement(parsing: &reader, alignment: 0)
        guard element.channelCount > 0 else { return (bytes, 0) }
        return (bytes + Self.realigned(Array(payload.prefix(512)), end: reader.position), element.channelCount)
    }

    /// Moves the element from bit 3 of the payload to bit 0 of the configuration's third byte, its comment aligned.
    private static func realigned(_ payload: [UInt8], end: Int) -> [UInt8] {
        var reader = BitReader(payload)
        reader.skip(3)
        var bits: [Bool] = []
        func copy(_ count: Int) -> Int {
            let value = reader.bits(count)
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
            return value
        }
        _ = copy(10)
        let channels = copy(4) + copy(4) + copy(4)
        let (lowFrequency, data, coupling) = (copy(2), copy(3), copy(4))
        if copy(1) == 1 { _ = copy(4) }
        if copy(1) == 1 { _ = copy(4) }
        if copy(1) == 1 { _ = copy(3) }
        for _ in 0..<channels { _ = copy(5) }
        for _ in 0..<lowFrequency + data { _ = copy(4) }
        for _ in 0..<coupling { _ = copy(5) }
        reader.alignToByte()
        while bits.count & 7 != 0 { bits.append(false) }
        while reader.position < end { _ = copy(8) }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}
