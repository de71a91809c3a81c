/// The decoder configuration of AAC.
///
/// Source: ISO/IEC 14496-3 §1.6.2.1.
package struct AudioSpecificConfig: Sendable, Hashable {
    /// The audio object type of the core: 2 is AAC-LC. With explicitly signalled SBR this is still the core's type.
    package var objectType: Int
    /// Samples per second of the core, before spectral band replication doubles it.
    package var coreSampleRate: Int
    package var sampleRate: Int
    /// The configuration, or 0 if a program config element declares it; see ``channelCount``.
    package var channelConfiguration: Int
    /// The signalled number of channels without parametric stereo, or 0 if unknown.
    package var channelCount: Int
    /// Core samples per frame: 1024 or 960 (512 or 480 for the low-delay types).
    package var samplesPerFrame: Int
    /// The number of bits read, so that a LATM reader can continue after them.
    package var bitCount = 0

    // ISO/IEC 14496-3 table 1.18.
    static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
    // ISO/IEC 14496-3 table 1.19.
    static let channelCounts = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8, 0]

    package init(parsing bytes: some Collection<UInt8>) throws(MediaError) {
        var reader = BitReader(Array(bytes))
        try self.init(parsing: &reader)
    }

    init(parsing reader: inout BitReader) throws(MediaError) {
        let start = reader.position
        objectType = Self.objectType(from: &reader)
        coreSampleRate = Self.sampleRate(from: &reader)
        sampleRate = coreSampleRate
        channelConfiguration = reader.bits(4)
        channelCount = Self.channelCounts[channelConfiguration]
        samplesPerFrame = 1024
        if objectType == 5 || objectType == 29 {
            sampleRate = Self.sampleRate(from: &reader)
            objectType = Self.objectType(from: &reader)
            if objectType == 22 { reader.skip(4) }
        }
        switch objectType {
        case 1, 2, 3, 4, 6, 7, 17, 19, 20, 21, 22, 23:
            let isShort = reader.flag()
            samplesPerFrame = objectType == 23 ? (isShort ? 480 : 512) : (isShort ? 960 : 1024)
            if reader.flag() { reader.skip(14) }  // dependsOnCoreCoder
            let hasExtension = reader.flag()
            if channelConfiguration == 0 {
                channelCount = ProgramConfigElement(parsing: &reader, alignment: start).channelCount
            }
            if objectType == 6 || objectType == 20 { reader.skip(3) }
            if hasExtension {
                if objectType == 22 { reader.skip(16) }
                if [17, 19, 20, 23].contains(objectType) { reader.skip(3) }
                reader.skip(1)
            }
        case 39: samplesPerFrame = reader.flag() ? 480 : 512
        default: break  // other types configure themselves in ways that only their decoder needs
        }
        guard !reader.isExhausted, objectType > 0, coreSampleRate > 0, sampleRate > 0 else {
            throw MediaError(code: .malformed, text: "AudioSpecificConfig: too short or a field is out of range")
        }
        bitCount = reader.position - start
    }

    /// Returns the configuration of plain AAC-LC, or no bytes if it cannot be expressed.
    static func lowComplexity(sampleRate: Int, channelCount: Int) -> [UInt8] {
        guard let rate = sampleRates.firstIndex(of: sampleRate), channelCount > 0,
            let channels = channelCounts.prefix(8).firstIndex(of: channelCount)
        else { return [] }
        let bits = UInt16(2) << 11 | UInt16(rate) << 7 | UInt16(channels) << 3
        return [UInt8(bits >> 8), UInt8(bits & 0xFF)]
    }

    static func objectType(from reader: inout BitReader) -> Int {
        let type = reader.bits(5)
        return type == 31 ? 32 + reader.bits(6) : type
    }

    /// 0 for a reserved number.
    static func sampleRate(from reader: inout BitReader) -> Int {
        let index = reader.bits(4)
        if index == 15 { return reader.bits(24) }
        return index < sampleRates.count ? sampleRates[index] : 0
    }
}

/// Describes the channels of AAC that fit no channel configuration (ISO/IEC 14496-3 §4.4.1.1, table 4.2).
struct ProgramConfigElement {
    private(set) var channelCount = 0

    /// - Parameter alignment: the bit position to which `byte_alignment()` refers.
    init(parsing reader: inout BitReader, alignment: Int) {
        reader.skip(4 + 2 + 4)
        let (front, side, back) = (reader.bits(4), reader.bits(4), reader.bits(4))
        let (lowFrequency, data, coupling) = (reader.bits(2), reader.bits(3), reader.bits(4))
        if reader.flag() { reader.skip(4) }
        if reader.flag() { reader.skip(4) }
        if reader.flag() { reader.skip(3) }
        channelCount = lowFrequency
        for _ in 0..<front + side + back {
            channelCount += reader.flag() ? 2 : 1
            reader.skip(4)
        }
        reader.skip(4 * lowFrequency + 4 * data + 5 * coupling)
        reader.skip((8 - (reader.position - alignment) & 7) & 7)
        reader.skip(reader.bits(8) * 8)
        if reader.isExhausted { channelCount = 0 }
    }
}

extension MediaTrack {
    /// Whether an element in the AAC frames, rather than a number, declares the channels.
    ///
    /// This is possible in a transport stream or without a container.
    package var namesChannelsInBand: Bool {
        codec == .aac && sampleEntry.isEmpty && configuration.count >= 2 && configuration[1] >> 3 & 15 == 0
    }

    package var awaitsChannels: Bool { namesChannelsInBand && configuration.count == 2 }
}
