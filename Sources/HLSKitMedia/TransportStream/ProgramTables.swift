/// Assembles the sections of one PID from packets.
///
/// Source: ISO/IEC 13818-1 §2.4.4.
struct SectionAssembler {
    private var buffer: [UInt8] = []
    private var isActive = false
    private var continuityCounter: UInt8?
    /// The maximum length of a section with its header (§2.4.4.9 allows 1021 + 3, or 4093 + 3 for private ones).
    private static let maxByteCount = 4096

    mutating func append(_ packet: TransportPacket, _ bytes: Span<UInt8>) -> [[UInt8]] {
        guard let payload = packet.payload, !packet.isScrambled else { return [] }
        if let last = continuityCounter, !packet.hasDiscontinuity {
            // A repeated packet is harmless at the start of a section, and some writers never count.
            if last == packet.continuityCounter, !packet.startsUnit { return [] }
            if (last + 1) & 15 != packet.continuityCounter { reset() }
        }
        continuityCounter = packet.continuityCounter
        return append(bytes.extracting(payload), startsUnit: packet.startsUnit)
    }

    private mutating func reset() {
        buffer = []
        isActive = false
    }

    private mutating func append(_ payload: Span<UInt8>, startsUnit: Bool) -> [[UInt8]] {
        var sections: [[UInt8]] = []
        var at = 0
        if startsUnit {
            let pointer = Int(payload[0])
            let start = 1 + pointer
            guard start <= payload.count else {
                reset()
                return []
            }
            if isActive {
                for index in 1..<start { buffer.append(payload[index]) }
                takeSections(into: &sections)
            }
            buffer = []
            isActive = true
            at = start
        }
        guard isActive else { return sections }
        while at < payload.count {
            buffer.append(payload[at])
            at += 1
        }
        takeSections(into: &sections)
        return sections
    }

    private mutating func takeSections(into sections: inout [[UInt8]]) {
        while isActive, let first = buffer.first {
            guard first != 0xff else {  // stuffing up to the end of the packet
                reset()
                return
            }
            guard buffer.count >= 3 else { return }
            let byteCount = 3 + (Int(buffer[1] & 0x0f) << 8 | Int(buffer[2]))
            guard byteCount <= Self.maxByteCount else {
                reset()
                return
            }
            guard buffer.count >= byteCount else { return }
            sections.append(Array(buffer.prefix(byteCount)))
            buffer.removeFirst(byteCount)
        }
    }

    /// CRC_32 of Annex A over the whole section, which is 0 if it is intact.
    static func checksum(_ section: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xffff_ffff
        for byte in section {
            crc ^= UInt32(byte) << 24
            for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04c1_1db7 : crc << 1 }
        }
        return crc
    }
}

/// The program association table: the PID of each program's map (ISO/IEC 13818-1 §2.4.4.3).
struct ProgramAssociationTable: Hashable {
    struct Program: Hashable {
        var number: Int
        var mapPID: Int
    }

    var programs: [Program] = []

    init(programs: [Program]) { self.programs = programs }

    /// Reads the programs of one section. Returns nil if it is another table, not yet valid, or malformed.
    init?(section: [UInt8]) {
        guard section.count >= 12, section[0] == 0, section[5] & 1 == 1 else { return nil }
        var at = 8
        while at + 4 <= section.count - 4 {
            let number = Int(section[at]) << 8 | Int(section[at + 1])
            let pid = Int(section[at + 2] & 0x1f) << 8 | Int(section[at + 3])
            // Program 0 is the network information table.
            if number != 0 && pid != TransportPacket.nullPID { programs.append(Program(number: number, mapPID: pid)) }
            at += 4
        }
    }
}

struct ProgramAssociationSections {
    /// The common fields of a table's sections: the stream's number, the version, the number of the last section.
    private var key: [UInt8] = []
    private var parts: [UInt8: [ProgramAssociationTable.Program]] = [:]
    private var isWhole = false

    /// Adds a section that was parsed as `part`.
    ///
    /// - Returns: The table if all its sections have arrived, or if one is repeated, because the others will not arrive
    ///   then.
    mutating func append(_ part: ProgramAssociationTable, from section: [UInt8]) -> ProgramAssociationTable? {
        let key = [section[3], section[4], section[5], section[7]]
        if key != self.key {
            self = ProgramAssociationSections()
            self.key = key
        }
        let isRepeated = parts.updateValue(part.programs, forKey: section[6]) != nil
        if isRepeated || parts.count > Int(section[7]) { isWhole = true }
        guard isWhole else { return nil }
        return ProgramAssociationTable(programs: parts.sorted { $0.key < $1.key }.flatMap(\.value))
    }
}

/// The program map table: the elementary streams of one program (ISO/IEC 13818-1 §2.4.4.8).
struct ProgramMapTable: Hashable {
    struct Stream: Hashable {
        var pid: Int
        var type: UInt8
        var descriptors: [Descriptor]
    }

    struct Descriptor: Hashable {
        var tag: UInt8
        var content: [UInt8]
    }

    var programNumber: Int
    var streams: [Stream] = []

    init?(section: [UInt8]) {
        guard section.count >= 16, section[0] == 2, section[5] & 1 == 1 else { return nil }
        programNumber = Int(section[3]) << 8 | Int(section[4])
        let end = section.count - 4
        var at = 12 + (Int(section[10] & 0x0f) << 8 | Int(section[11]))
        while at + 5 <= end {
            let pid = Int(section[at + 1] & 0x1f) << 8 | Int(section[at + 2])
            let infoEnd = at + 5 + (Int(section[at + 3] & 0x0f) << 8 | Int(section[at + 4]))
            guard infoEnd <= end else { return }
            var descriptors: [Descriptor] = []
            var place = at + 5
            while place + 2 <= infoEnd {
                let contentEnd = place + 2 + Int(section[place + 1])
                guard contentEnd <= infoEnd else { break }
                descriptors.append(Descriptor(tag: section[place], content: Array(section[place + 2..<contentEnd])))
                place = contentEnd
            }
            if !streams.contains(where: { $0.pid == pid }) {
                streams.append(Stream(pid: pid, type: section[at], descriptors: descriptors))
            }
            at = infoEnd
        }
    }
}

extension ProgramMapTable.Stream {
    enum Content: Hashable {
        case video(MediaCodec)
        case frames(AudioFraming)
        /// MPEG-1, MPEG-2 and MPEG-4 part 2.
        case olderVideo(MediaCodec)
        /// Opus, with the number of its channels and their mapping.
        case opus(UInt8)
        /// SCTE 35 sections, which mark insertions such as advertisements.
        case spliceInformation
        case unknown(String)
    }

    /// The content according to the stream type and the descriptors.
    ///
    /// Source: ISO/IEC 13818-1 table 2-34; ATSC A/52 Annex A (0x81, 0x87); Blu-ray (0x84); SCTE 35 §8.1 (0x86); ETSI EN
    /// 300 468 Annex D (0x06 with descriptors 0x6a, 0x7a, 0x7c); Apple, "Timed Metadata for HTTP Live Streaming" (0x15)
    /// and "MPEG-2 Stream Encryption Format for HTTP Live Streaming" (0xdb, 0xcf, 0xc1, 0xc2).
    var content: Content {
        switch type {
        case 0x03, 0x04: .frames(.mpegAudio)
        case 0x0f: .frames(.adts)
        case 0x11: .frames(.loas)
        case 0x15: isID3 ? .frames(.id3) : .unknown("metadata that is not ID3")
        case 0x1b: .video(.h264)
        case 0x24: .video(.hevc)
        case 0x81, 0x84, 0x87: .frames(.ac3)
        case 0x06: privateContent
        case 0xdb: .video(.h264)
        case 0xcf: .frames(.adts)
        case 0xc1, 0xc2: .frames(.ac3)
        case 0x01: .olderVideo(.mpeg1Video)
        case 0x02: .olderVideo(.mpeg2Video)
        case 0x10: .olderVideo(.mpeg4Video)
        case 0x82, 0x85, 0x8a: .frames(.dts)
        case 0x86: .spliceInformation
        default: .unknown(Self.names[type] ?? "unknown stream type")
        }
    }

    /// The names of unsupported types. Source: ISO/IEC 13818-1 table 2-34, and Blu-ray and others for types from 0x80.
    private static let names: [UInt8: String] = [
        0x05: "private sections", 0x08: "DSM-CC", 0x0b: "DSM-CC", 0x0d: "DSM-CC", 0x1c: "MPEG-4 audio without frames",
        0x20: "MVC video", 0x21: "JPEG 2000 video", 0x2d: "MPEG-H 3D Audio", 0x2e: "MPEG-H 3D Audio",
        0x32: "JPEG XS video", 0x33: "VVC video", 0x34: "VVC video", 0x35: "EVC video", 0x42: "AVS video",
        0x80: "PCM of Blu-ray", 0x83: "Dolby TrueHD", 0x90: "PGS subtitles", 0x92: "text subtitles of Blu-ray",
        0xa1: "E-AC-3 of Blu-ray, secondary", 0xa2: "DTS of Blu-ray, secondary", 0xd1: "Dirac video",
        0xd2: "AVS2 video",
        0xd4: "AVS3 video", 0xea: "VC-1 video",
    ]

    /// The names by registration descriptor (0x05).
    private static let registeredNames: [String: String] = [
        "AC-4": "AC-4", "KLVA": "KLV metadata", "VC-1": "VC-1 video", "drac": "Dirac video", "AV01": "AV1 video",
        "BSSD": "PCM of SMPTE 302", "mlpa": "Dolby TrueHD", "VVC ": "VVC video", "VANC": "ancillary data",
    ]

    /// The names by the extension of a DVB descriptor (0x7f).
    private static let extensionNames: [UInt8: String] = [
        0x0e: "DTS-HD", 0x0f: "DTS Neural", 0x15: "AC-4", 0x21: "DTS-UHD",
    ]

    /// The media kind of an unsupported stream, or nil if it is neither video nor audio, or unknown.
    var unreadKind: MediaKind? {
        guard case .unknown(let name) = content else { return nil }
        if name.hasSuffix(" video") { return .video }
        let audio = ["sound", "Audio", "PCM", "TrueHD", "E-AC-3", "DTS", "AC-4"]
        return audio.contains(where: name.contains) ? .audio : nil
    }

    /// Whether its samples are encrypted separately (SAMPLE-AES). Source: as for ``content``.
    var isSampleEncrypted: Bool { [0xdb, 0xcf, 0xc1, 0xc2].contains(type) }

    /// ISO 639-2 code of the language descriptor (0x0a).
    var language: String? {
        guard let code = descriptors.first(where: { $0.tag == 0x0a })?.content.prefix(3), code.count == 3,
            code.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) })
        else { return nil }
        let text = String(decoding: code, as: UTF8.self).lowercased()
        return text == "und" ? nil : text
    }

    private var registration: String? {
        descriptors.first { $0.tag == 0x05 && $0.content.count >= 4 }
            .map { String(decoding: $0.content.prefix(4), as: UTF8.self) }
    }

    /// Metadata is ID3 unless its descriptor (0x26, ISO/IEC 13818-1 §2.6.60) names another format.
    private var isID3: Bool {
        guard let content = descriptors.first(where: { $0.tag == 0x26 })?.content, content.count >= 3 else {
            return true
        }
        // An identifier follows the application format 0xffff, and another one follows the format byte 0xff.
        var at = 2
        if content[0] == 0xff && content[1] == 0xff { at += 4 }
        guard at < content.count, content[at] == 0xff, at + 5 <= content.count else { return false }
        return content[(at + 1)..<(at + 5)].elementsEqual("ID3 ".utf8)
    }

    /// The `channel_config_code` of the Opus descriptor. Source: ETSI TS 103 491 Annex; "Opus in MPEG-2 TS" §5.1.
    private var opusChannels: UInt8? {
        descriptors.first { $0.tag == 0x7f && $0.content.count >= 2 && $0.content[0] == 0x80 }?.content[1]
    }

    private var privateContent: Content {
        let tags = descriptors.map(\.tag)
        if tags.contains(0x6a) || tags.contains(0x7a) { return .frames(.ac3) }
        switch registration {
        case "AC-3", "EAC3": return .frames(.ac3)
        case "HEVC": return .video(.hevc)
        case "ID3 ": return .frames(.id3)
        case "DTS1", "DTS2", "DTS3": return .frames(.dts)
        case "Opus": return .opus(opusChannels ?? 2)
        case let other?: return .unknown(Self.registeredNames[other] ?? "private data \"\(other)\"")
        case nil: break
        }
        if tags.contains(0x7c) { return .frames(.loas) }
        if tags.contains(0x7b) { return .frames(.dts) }
        if let name = descriptors.lazy.filter({ $0.tag == 0x7f }).compactMap({
            Self.extensionNames[$0.content.first ?? 0]
        })
        .first {
            return .unknown(name)
        }
        if tags.contains(0x56) || tags.contains(0x46) { return .unknown("teletext") }
        if tags.contains(0x59) { return .unknown("DVB subtitles") }
        return .unknown("private data")
    }
}
