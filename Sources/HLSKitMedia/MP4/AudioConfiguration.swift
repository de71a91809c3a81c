/// The fields of an `esds` box that are needed for decoding.
///
/// Source: ISO/IEC 14496-1 §7.2.6.5 to §7.2.6.7.
struct ElementaryStreamDescriptor {
    private(set) var objectTypeIndication: UInt8 = 0
    private(set) var decoderSpecificInformation: [UInt8] = []

    init(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        var stream = try Self.descriptor(3, in: &reader)
        try stream.skip(2)  // ES_ID
        let flags = try stream.readUInt8()
        if flags & 0x80 != 0 { try stream.skip(2) }
        if flags & 0x40 != 0 { try stream.skip(Int(try stream.readUInt8())) }
        if flags & 0x20 != 0 { try stream.skip(2) }
        var decoder = try Self.descriptor(4, in: &stream)
        objectTypeIndication = try decoder.readUInt8()
        try decoder.skip(12)  // stream type, buffer size, maximum and average bit rate
        if decoder.remaining > 0 {
            decoderSpecificInformation = Array(try Self.descriptor(5, in: &decoder).rest)
        }
    }

    /// The body of the next descriptor, which must have this tag. A size beyond the parent is clamped because old
    /// writers calculate it incorrectly.
    private static func descriptor(_ tag: UInt8, in reader: inout BoxReader) throws(MediaError) -> BoxReader {
        guard try reader.readUInt8() == tag else { throw reader.malformed("'esds' without descriptor \(tag)") }
        var size = 0
        for _ in 0..<4 {
            let byte = try reader.readUInt8()
            size = size << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        let offset = reader.offset
        return BoxReader(try reader.readBytes(min(size, reader.remaining)), offset: offset)
    }
}

/// The audio that an AudioSpecificConfig describes. Missing fields at its end are accepted because some writers
/// truncate it.
///
/// Source: ISO/IEC 14496-3 §1.6.2.1.
struct AACConfiguration {
    private(set) var sampleRate = 0
    /// The number of channels, or 0 if only a program config element in the stream declares it.
    private(set) var channelCount = 0
    /// Whether its audio object type is USAC.
    private(set) var isExtendedHighEfficiency = false

    init?(parsing bytes: [UInt8]) {
        var reader = BitReader(bytes)
        let objectType = AudioSpecificConfig.objectType(from: &reader)
        isExtendedHighEfficiency = objectType == 42
        sampleRate = AudioSpecificConfig.sampleRate(from: &reader)
        channelCount = AudioSpecificConfig.channelCounts[reader.bits(4)]
        if objectType == 5 || objectType == 29 {  // SBR is signalled explicitly: the rate of the output follows
            sampleRate = AudioSpecificConfig.sampleRate(from: &reader)
            if objectType == 29, channelCount == 1 { channelCount = 2 }  // parametric stereo
        }
        guard !reader.isExhausted, sampleRate > 0 else { return nil }
    }
}

/// The `dOps` box, converted to the Opus header of Ogg, which libavcodec expects.
///
/// Source: "Encapsulation of Opus in ISO Base Media File Format" §4.3.2; RFC 7845 §5.1.
struct OpusConfiguration {
    let channelCount: Int
    let header: [UInt8]
    let preSkip: Int

    init(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        guard try reader.readUInt8() == 0 else { throw payload.malformed("an unknown version of 'dOps'") }
        let channels = try reader.readUInt8()
        let preSkip = try reader.readUInt16()
        let inputRate = try reader.readUInt32()
        let gain = try reader.readUInt16()
        let family = try reader.readUInt8()
        var header = Array("OpusHead".utf8) + [1, channels]
        header.append(contentsOf: [UInt8(truncatingIfNeeded: preSkip), UInt8(preSkip >> 8)])
        header.append(contentsOf: [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: inputRate >> $0) })
        header.append(contentsOf: [UInt8(truncatingIfNeeded: gain), UInt8(gain >> 8), family])
        if family != 0 {
            // Stream count, coupled count, one entry per channel.
            header.append(contentsOf: try reader.readBytes(2 + Int(channels)))
        }
        channelCount = Int(channels)
        self.header = header
        self.preSkip = Int(preSkip)
    }
}

/// The STREAMINFO of a `dfLa` box.
///
/// Source: "Encapsulation of FLAC in ISO Base Media File Format" §3.3.2.
func flacStreamInformation(_ payload: BoxReader) throws(MediaError) -> [UInt8] {
    var reader = payload
    _ = try reader.readVersionAndFlags()
    let type = try reader.readUInt8() & 0x7F
    let size = try reader.readUInt24()
    guard type == 0, size == 34 else { throw payload.malformed("'dfLa' does not begin with STREAMINFO") }
    return Array(try reader.readBytes(34))
}

/// The channels and rate of AC-3 and E-AC-3, because the sample entry's own fields are unreliable for these.
///
/// Source: ETSI TS 102 366, Annex F.
struct DolbyConfiguration {
    let sampleRate: Int
    let channelCount: Int

    init(parsingAC3 payload: BoxReader) throws(MediaError) {
        var reader = payload
        // fscod 2, bsid 5, bsmod 3, acmod 3, lfeon 1, bit_rate_code 5, reserved 5
        let fields = try reader.readUInt24()
        self.init(fscod: fields >> 22, acmod: fields >> 11 & 7, hasLFE: fields >> 10 & 1 != 0, extraChannels: 0)
    }

    init(parsingEnhancedAC3 payload: BoxReader) throws(MediaError) {
        var reader = payload
        try reader.skip(2)  // Data rate and number of independent substreams. Only the first substream is used.
        // fscod 2, bsid 5, reserved 1, asvc 1, bsmod 3, acmod 3, lfeon 1
        let fields = try reader.readUInt16()
        let dependent = try reader.readUInt8() >> 1 & 0xF
        var extraChannels = 0
        if dependent > 0, let low = try? reader.readUInt8() {
            // chan_loc: pairs count as two. Bit 8 (LFE2), which is rare, is in the previous byte and adds one channel.
            let pairs: UInt8 = 0b0110_0011
            extraChannels = low.nonzeroBitCount + (low & pairs).nonzeroBitCount
        }
        self.init(
            fscod: UInt32(fields >> 14), acmod: UInt32(fields >> 1 & 7), hasLFE: fields & 1 != 0,
            extraChannels: extraChannels)
    }

    private init(fscod: UInt32, acmod: UInt32, hasLFE: Bool, extraChannels: Int) {
        let rates = [48_000, 44_100, 32_000, 0]
        let channels = [2, 1, 2, 3, 3, 4, 4, 5]
        sampleRate = rates[Int(fscod & 3)]
        channelCount = channels[Int(acmod & 7)] + (hasLFE ? 1 : 0) + extraChannels
    }
}
