/// One element of a `CODECS` attribute, such as `avc1.640028`.
///
/// Parsing never fails: an unknown element keeps its text and has neither ``codec`` nor ``mediaType``.
///
/// Source: RFC 6381 §3; ISO/IEC 14496-15 Annex E (avc1, hvc1); the AV1 and VP9 bindings to ISO-BMFF.
package struct CodecString: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The text as written, without surrounding white space.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static func list(parsing attribute: String) -> [CodecString] {
        attribute.split(separator: ",").compactMap { element in
            let trimmed = element.drop { $0.isWhitespace }
            let text = String(trimmed.reversed().drop { $0.isWhitespace }.reversed())
            return text.isEmpty ? nil : CodecString(rawValue: text)
        }
    }

    package var description: String { rawValue }

    package var sampleEntry: String { String(rawValue.prefix { $0 != "." }) }

    private var parameters: [Substring] {
        Array(rawValue.split(separator: ".", omittingEmptySubsequences: false).dropFirst())
    }

    package var codec: MediaCodec? {
        if sampleEntry == "mp4a" { return Self.mpeg4Audio(parameters) }
        if sampleEntry == "mp3" { return .mp3 }
        if sampleEntry == "mp4v" { return Self.mpeg4Video(parameters) }
        return MediaCodec.named(sampleEntry: sampleEntry)?.codec
    }

    /// Known for some formats without a ``codec``, too.
    package var mediaType: MediaKind? {
        switch sampleEntry {
        case "mp4a", "mp3", "dtsc", "dtse", "dtsh", "dtsl", "dtsx", "ac-4", "mha1", "mhm1", "iamf": .audio
        case "mp4v", "vp08", "jpeg", "vvc1", "vvi1", "evc1": .video
        case "tx3g": .text
        default: MediaCodec.named(sampleEntry: sampleEntry)?.mediaType
        }
    }

    /// The level in the codec's own units, or nil if it is not stated.
    ///
    /// The units are `level_idc` (H.264: 40 is 4.0), `general_level_idc` (HEVC: 120 is 4.0), `seq_level_idx` (AV1: 8 is
    /// 4.0), VP9's level (40 is 4.0) and Dolby Vision's level.
    package var level: Int? {
        let parameters = parameters
        switch sampleEntry {
        case "avc1", "avc2", "avc3", "avc4":
            guard let first = parameters.first else { return nil }
            if parameters.count >= 2 { return Int(parameters[1]) }
            return first.count == 6 ? Self.hexadecimal(first.suffix(2)) : nil
        case "hvc1", "hev1": return parameters.count > 2 ? Int(parameters[2].dropFirst()) : nil
        case "av01":
            guard parameters.count > 1 else { return nil }
            return Int(parameters[1].prefix { $0.isNumber })
        case "vp09", "dvh1", "dvhe", "dva1", "dvav", "dav1": return parameters.count > 1 ? Int(parameters[1]) : nil
        default: return nil
        }
    }

    package var bitDepth: Int? {
        let parameters = parameters
        guard sampleEntry == "av01" || sampleEntry == "vp09", parameters.count > 2 else { return nil }
        return Int(parameters[2])
    }

    /// `mp4a.OO[.A]`: OO is the object type indication in hexadecimal. If it is 40, A is the audio object type.
    private static func mpeg4Audio(_ parameters: [Substring]) -> MediaCodec? {
        guard let first = parameters.first else { return .aac }
        guard let indication = hexadecimal(first).flatMap(UInt8.init(exactly:)) else { return nil }
        if indication == 0x40, parameters.count > 1 {
            switch Int(parameters[1]) {
            // MPEG-4's names for MPEG audio layers 1 to 3.
            case 33: return .mp2
            case 32, 34: return .mp3
            case 42: return .xheAAC
            default: break
            }
        }
        return MediaCodec.named(objectTypeIndication: indication)
    }

    /// `mp4v.OO[.P]`: OO is the object type indication in hexadecimal, P the profile and level of MPEG-4.
    private static func mpeg4Video(_ parameters: [Substring]) -> MediaCodec? {
        guard let first = parameters.first else { return .mpeg4Video }
        return hexadecimal(first).flatMap(UInt8.init(exactly:)).flatMap(MediaCodec.named(objectTypeIndication:))
    }

    /// Int(_:radix:) would accept a sign.
    private static func hexadecimal(_ text: some StringProtocol) -> Int? {
        text.allSatisfy(\.isHexDigit) ? Int(text, radix: 16) : nil
    }
}

extension MediaCodec {
    /// Source: ISO/IEC 14496-1 §7.2.6.6 and the registrations at mp4ra.org.
    static func named(objectTypeIndication: UInt8) -> MediaCodec? {
        switch objectTypeIndication {
        case 0x40, 0x66, 0x67, 0x68: .aac
        case 0x69, 0x6B: .mp3
        case 0x20: .mpeg4Video
        case 0x60...0x65: .mpeg2Video
        case 0x6A: .mpeg1Video
        case 0x6C: .jpeg
        case 0xA9: .dts
        case 0xA5: .ac3
        case 0xA6: .eac3
        case 0xAD: .opus
        default: nil
        }
    }
}
