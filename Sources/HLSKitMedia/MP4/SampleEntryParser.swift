/// Reads one sample entry of an `stsd` box into a ``MediaTrack``.
///
/// An error in optional data (colour, clean aperture, part of an extension) never fails the track. The data is dropped
/// with a note.
///
/// Source: ISO/IEC 14496-12 §8.5.2 and §12; QuickTime File Format, "Sound Sample Descriptions" (versions 1 and 2).
struct SampleEntryParser {
    /// Version 1 of `stsd` has ISO's second form of the audio sample entry, which must not be confused with
    /// QuickTime's.
    let descriptionVersion: UInt8
    private(set) var track: MediaTrack
    private(set) var notes: [String] = []
    private var pcm = PCMDescription()

    /// - Parameter track: The track as declared by its other boxes. Its media type comes from the handler.
    init(parsing entry: Box, descriptionVersion: UInt8, track: MediaTrack) throws(MediaError) {
        self.descriptionVersion = descriptionVersion
        self.track = track
        var reader = entry.payload
        try reader.skip(8)  // reserved, data_reference_index
        switch track.mediaType {
        case .video: try parseVisualFields(&reader)
        case .audio: try parseAudioFields(&reader)
        case .text, .metadata:
            if entry.type == "stpp" || entry.type == "sbtt" {
                for _ in 0..<3 { _ = reader.readString() }  // namespace, schema location, auxiliary MIME types
            }
        }
        setCodec(entry.type)
        if self.track.codec == .tx3g || self.track.codec == .quickTimeText {
            // Flags, default style and fonts, in a form that only readers of the samples need.
            self.track.configuration = Array(reader.rest)
            return
        }
        do {
            try parseChildren(&reader)
        } catch {
            guard track.mediaType == .text || track.mediaType == .metadata else { throw error }
            // Unknown forms of text may have other fields instead of boxes.
            notes.append("track \(track.id): the contents of '\(entry.type)' are skipped: \(error)")
        }
        if track.mediaType == .audio { setPCM() }
    }

    private mutating func setCodec(_ type: FourCharacterCode) {
        track.sampleEntry = type.description
        let known = MediaCodec.named(sampleEntry: type.description)
        // QuickTime's audio formats with a RIFF tag: 'ms' and the tag. 0x55 is MPEG layer 3.
        if type.rawValue == 0x6D73_0055 {
            track.codec = .mp3
        } else {
            track.codec = known?.codec ?? MediaCodec(rawValue: type.description)
        }
        // 'raw ' is also the name of a video format.
        if track.mediaType != .audio, track.codec.pcmByteCount != nil {
            track.codec = MediaCodec(rawValue: type.description)
        }
    }

    private mutating func setPCM() {
        guard track.codec.pcmByteCount != nil else { return }
        track.codec =
            pcm.codec(sampleEntry: track.sampleEntry, channelCount: track.channelCount)
            ?? MediaCodec(rawValue: track.sampleEntry)
        // The rate does not fit into the field.
        if track.sampleRate <= 1 { track.sampleRate = Int(track.timescale) }
    }

    private mutating func parseVisualFields(_ reader: inout BoxReader) throws(MediaError) {
        try reader.skip(16)
        track.width = Int(try reader.readUInt16())
        track.height = Int(try reader.readUInt16())
        // Resolution, reserved, frame count, compressor name, depth, pre_defined.
        try reader.skip(4 + 4 + 4 + 2 + 32 + 2 + 2)
    }

    private mutating func parseAudioFields(_ reader: inout BoxReader) throws(MediaError) {
        let version = try reader.readUInt16()
        try reader.skip(6)  // revision level, vendor
        track.channelCount = Int(try reader.readUInt16())
        pcm.bits = Int(try reader.readUInt16())
        try reader.skip(4)  // compression identifier, packet size
        track.sampleRate = Int(try reader.readUInt32() >> 16)
        guard descriptionVersion == 0 else { return }
        switch version {
        case 1: try reader.skip(16)  // samples per packet, bytes per packet, per frame, per sample
        case 2:
            try reader.skip(4)  // size of the fixed part
            let rate = Double(bitPattern: try reader.readUInt64())
            let channels = try reader.readUInt32()
            try reader.skip(4)  // 0x7F000000
            pcm.linear = PCMDescription.Linear(
                bits: try reader.readUInt32(), flags: try reader.readUInt32(), packetByteCount: try reader.readUInt32(),
                packetFrameCount: try reader.readUInt32())
            track.sampleRate = Int(exactly: rate.rounded()) ?? 0
            track.channelCount = Int(channels)
        default: break
        }
    }

    private mutating func parseChildren(_ entry: inout BoxReader) throws(MediaError) {
        while let child = try entry.nextBox() {
            do {
                try parseChild(child)
                if child.type == "wave" {  // QuickTime stores the audio configuration one level deeper.
                    var wave = child.payload
                    while let inner = try wave.nextBox() {
                        try parseChild(inner)
                    }
                }
            } catch {
                notes.append("track \(track.id): '\(child.type)' is skipped: \(error)")
            }
        }
    }

    private mutating func parseChild(_ child: Box) throws(MediaError) {
        var payload = child.payload
        switch child.type {
        case "avcC" where track.codec == .h264 || isEncrypted, "hvcC" where track.codec == .hevc || isEncrypted,
            "av1C" where track.codec == .av1 || isEncrypted, "vttC":
            track.configuration = Array(payload.rest)
            if track.width == 0 || track.height == 0 { setSize() }
        case "esds":
            _ = try payload.readVersionAndFlags()
            try apply(ElementaryStreamDescriptor(parsing: payload))
        case "dOps":
            let opus = try OpusConfiguration(parsing: payload)
            track.configuration = opus.header
            track.channelCount = opus.channelCount
            if opus.preSkip > 0 { track.gapless = GaplessInfo(leadingSampleCount: opus.preSkip) }
            track.sampleRate = 48_000  // The output rate of all decoders, regardless of the input rate (RFC 7845 §5.1).
        case "dfLa":
            track.configuration = try flacStreamInformation(payload)
            noteRate(track.configuration[10..<13].reduce(0) { $0 << 8 | Int($1) } >> 4)
        case "alac" where track.codec == .alac || isEncrypted:
            // libavcodec expects the cookie with its box header. A cookie consists of version, flags and 24 bytes.
            guard payload.remaining >= 28 else {
                throw payload.malformed("an ALAC cookie of \(payload.remaining) bytes")
            }
            track.configuration =
                [0, 0, 0, 36] + Array("alac".utf8) + Array(try payload.readBytes(28))
            noteRate(track.configuration.suffix(4).reduce(0) { $0 << 8 | Int($1) })
        case "pcmC":
            _ = try payload.readVersionAndFlags()
            let isLittleEndian = try payload.readUInt8() & 1 != 0
            pcm.configuration = (isLittleEndian, Int(try payload.readUInt8()))
        case "enda": pcm.isLittleEndian = try payload.readUInt16() & 0xFF == 1
        case "srat":
            _ = try payload.readVersionAndFlags()
            if let rate = Int(exactly: try payload.readUInt32()), rate > 0 { track.sampleRate = rate }
        case "dac3": try apply(DolbyConfiguration(parsingAC3: payload))
        case "dec3":
            try apply(DolbyConfiguration(parsingEnhancedAC3: payload))
            track.enhancedAC3Extension = EnhancedAC3Extension(parsing: payload.rest)
        case "colr":
            // A second 'colr' may contain an ICC profile, which does not replace the code points.
            if let color = try ColorInformation(parsing: payload) { track.colorInformation = color }
        case "vpcC":
            // VP9 frames contain all data for a decoder, but file writers need it here. 'colr' has precedence.
            track.sampleStructure = try PictureSampleStructure(parsingVP9: payload)
            if track.colorInformation == nil { track.colorInformation = try ColorInformation(parsingVP9: payload) }
        case "pasp": track.pixelAspectRatio = try PixelAspectRatio(parsing: payload)
        case "clap": track.cleanAperture = try CleanAperture(parsing: payload)
        case "mdcv": track.masteringDisplayColorVolume = try MasteringDisplayColorVolume(parsing: payload)
        case "SmDm": track.masteringDisplayColorVolume = try MasteringDisplayColorVolume(parsingVP9: payload)
        case "clli": track.contentLightLevelInfo = try ContentLightLevelInfo(parsing: payload)
        case "CoLL": track.contentLightLevelInfo = try ContentLightLevelInfo(parsing: payload, hasVersion: true)
        case "dvcC", "dvvC", "dvwC": track.dolbyVision = Array(payload.rest.prefix(24))
        case "st3d":
            _ = try payload.readVersionAndFlags()
            track.stereoMode = try payload.readUInt8()
        case "sv3d": track.sphericalMapping = try SphericalMapping(parsing: payload)
        case "sinf":
            let protection = try ProtectionInformation(parsing: payload)
            setCodec(protection.originalFormat)
            track.encryption = protection.encryption
            if protection.encryption == nil {
                notes.append("track \(track.id): protected by a scheme that is not common encryption")
            }
        default: break
        }
    }

    private mutating func setSize() {
        guard let size = ParameterSetRecord.size(configuration: track.configuration, codec: track.codec) else { return }
        (track.width, track.height) = size
    }

    /// The actual codec of `encv` and `enca` is known only after `sinf`, which may be the last box.
    private var isEncrypted: Bool { track.sampleEntry.hasPrefix("enc") }

    private mutating func apply(_ descriptor: ElementaryStreamDescriptor) {
        if let codec = MediaCodec.named(objectTypeIndication: descriptor.objectTypeIndication) {
            track.codec = codec
        } else if track.mediaType == .audio {
            track.codec = MediaCodec(rawValue: "mp4a.\(String(descriptor.objectTypeIndication, radix: 16))")
        }
        if track.mediaType == .video { track.configuration = descriptor.decoderSpecificInformation }
        guard track.codec == .aac else { return }
        track.configuration = descriptor.decoderSpecificInformation
        if track.configuration.isEmpty, [0x40, 0x67].contains(descriptor.objectTypeIndication) {
            // Some writers omit it because they do not know it yet when they write the header. Other containers require
            // it.
            track.configuration =
                AudioSpecificConfig.lowComplexity(sampleRate: track.sampleRate, channelCount: track.channelCount)
        }
        if let configuration = AACConfiguration(parsing: track.configuration) {
            if configuration.isExtendedHighEfficiency { track.codec = .xheAAC }
            track.sampleRate = configuration.sampleRate
            if configuration.channelCount > 0 { track.channelCount = configuration.channelCount }
        }
    }

    /// Takes the rate of the codec's configuration if it is above 65,535 Hz, because the sample entry then has none.
    private mutating func noteRate(_ rate: Int) {
        if track.sampleRate <= 1, rate <= Int(Int32.max) { track.sampleRate = rate }
    }

    private mutating func apply(_ configuration: DolbyConfiguration) {
        track.channelCount = configuration.channelCount
        if configuration.sampleRate > 0 { track.sampleRate = configuration.sampleRate }
    }
}
