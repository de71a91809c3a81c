/// One version of the presentation: `EXT-X-STREAM-INF` with its URI, or `EXT-X-I-FRAME-STREAM-INF`.
///
/// Source: rfc8216bis §4.4.6.2 and §4.4.6.3.
public struct VariantStream: Sendable, Hashable {
    /// The URI of the media playlist, as written.
    public var uri: String
    /// The peak bit rate in bits per second.
    ///
    /// The value is 0 if it is missing, which is an issue.
    public var bandwidth: Int
    /// The average bit rate in bits per second.
    public var averageBandwidth: Int?
    /// The relative quality of the variant.
    ///
    /// A higher score is better.
    public var score: Double?
    /// The codecs as written, `avc1.640028,mp4a.40.2`, or `nil` if undeclared.
    public var codecsText: String?
    /// The supplemental codecs as written (`SUPPLEMENTAL-CODECS`): `codec/brand/brand,…`.
    public var supplementalCodecs: String?
    /// The largest size of the video (`RESOLUTION`), or `nil` if undeclared or without video.
    public var resolution: Resolution?
    /// The maximum number of frames per second.
    public var frameRate: Double?
    /// The copy protection that outputs need (`HDCP-LEVEL`), or `nil` if undeclared.
    public var hdcpLevel: HDCPLevel?
    /// The allowed protection configurations as written (`ALLOWED-CPC`): `KEYFORMAT:label/label,…`.
    public var allowedCPC: String?
    /// The video range as written.
    ///
    /// `nil` means SDR.
    public var videoRange: VideoRange?
    /// The required video layout as written (`REQ-VIDEO-LAYOUT`): `CH-STEREO,…`.
    public var requiredVideoLayout: String?
    /// A stable identifier (`STABLE-VARIANT-ID`) that survives changes of URIs, or `nil` if undeclared.
    public var stableVariantID: String?
    /// The group of audio renditions.
    public var audio: String?
    /// The group of video renditions.
    public var video: String?
    /// The group of subtitle renditions.
    public var subtitles: String?
    /// The group of closed captions, or a declaration that there are none.
    public var closedCaptions: ClosedCaptions?
    /// The pathway as written.
    ///
    /// `nil` means `.`.
    public var pathwayID: String?
    /// The name (`NAME`), which is not part of the specification.
    public var name: String?
    /// Attributes without a property, including unknown `REQ-*` attributes.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a variant.
    ///
    /// Properties with a default are undeclared. A variant that names no group contains its media itself.
    public init(
        uri: String, bandwidth: Int, averageBandwidth: Int? = nil, codecsText: String? = nil,
        resolution: Resolution? = nil, frameRate: Double? = nil, audio: String? = nil, video: String? = nil,
        subtitles: String? = nil, closedCaptions: ClosedCaptions? = nil
    ) {
        self.uri = uri
        self.bandwidth = bandwidth
        self.averageBandwidth = averageBandwidth
        self.codecsText = codecsText
        self.resolution = resolution
        self.frameRate = frameRate
        self.audio = audio
        self.video = video
        self.subtitles = subtitles
        self.closedCaptions = closedCaptions
        otherAttributes = []
    }

    /// The individual codecs, or an empty array if undeclared.
    public var codecs: [String] {
        (codecsText ?? "").split(separator: ",").map { codec in
            var codec = codec
            while codec.utf8.first == 0x20 { codec.removeFirst() }
            while codec.utf8.last == 0x20 { codec.removeLast() }
            return String(codec)
        }
    }

    package var effectiveVideoRange: VideoRange { videoRange ?? .sdr }

    /// The names of `REQ-*` attributes that this library does not support. A variant with any of them must not be
    /// played.
    package var unknownRequirements: [String] {
        otherAttributes.map(\.name).filter { $0.hasPrefix("REQ-") }
    }
}

/// The copy protection of outputs that a variant needs.
///
/// The set is open.
public struct HDCPLevel: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// No protection is needed.
    public static let none = HDCPLevel(rawValue: "NONE")
    /// HDCP of type 0.
    public static let type0 = HDCPLevel(rawValue: "TYPE-0")
    /// HDCP of type 1.
    public static let type1 = HDCPLevel(rawValue: "TYPE-1")
}

extension HDCPLevel: Comparable {
    /// Orders levels by protection.
    ///
    /// An unknown level is above all known ones.
    public static func < (one: HDCPLevel, other: HDCPLevel) -> Bool {
        one.rank != other.rank ? one.rank < other.rank : one.rank == 3 && one.rawValue < other.rawValue
    }

    private var rank: Int {
        switch self {
        case .none: 0
        case .type0: 1
        case .type1: 2
        default: 3
        }
    }
}

/// The dynamic range of a variant's video.
///
/// The set is open.
public struct VideoRange: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// Standard dynamic range.
    public static let sdr = VideoRange(rawValue: "SDR")
    /// High dynamic range, hybrid log-gamma.
    public static let hlg = VideoRange(rawValue: "HLG")
    /// High dynamic range, SMPTE ST 2084.
    public static let pq = VideoRange(rawValue: "PQ")
}

/// The closed captions of a variant.
public enum ClosedCaptions: Sendable, Hashable {
    /// `CLOSED-CAPTIONS=NONE`
    case none
    /// The group of their renditions.
    case group(String)
}

extension VariantStream {
    /// Reads the attributes of the current tag in place because copying a value of this size takes as long as reading
    /// it. The URI of a `STREAM-INF` follows later.
    mutating func read(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        var hasBandwidth = false
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .uri where context.tag == .iFrameStreamInf: uri = try context.uri(attribute, bytes)
            case .bandwidth:
                if let value = try context.integer(attribute, bytes) {
                    bandwidth = value
                    hasBandwidth = true
                }
            case .averageBandwidth: averageBandwidth = try context.integer(attribute, bytes)
            case .score: score = try context.number(attribute, bytes)
            case .codecs: codecsText = try context.string(attribute, bytes)
            case .supplementalCodecs: supplementalCodecs = try context.string(attribute, bytes)
            case .resolution: resolution = try context.resolution(attribute, bytes)
            case .frameRate: frameRate = try context.number(attribute, bytes)
            case .hdcpLevel: hdcpLevel = HDCPLevel(rawValue: try context.enumerated(attribute, bytes))
            case .allowedCPC: allowedCPC = try context.string(attribute, bytes)
            case .videoRange: videoRange = VideoRange(rawValue: try context.enumerated(attribute, bytes))
            case .requiredVideoLayout: requiredVideoLayout = try context.string(attribute, bytes)
            case .stableVariantID: stableVariantID = try context.string(attribute, bytes)
            case .audio: audio = try context.string(attribute, bytes)
            case .video: video = try context.string(attribute, bytes)
            case .subtitles: subtitles = try context.string(attribute, bytes)
            case .closedCaptions:
                if !attribute.isQuoted, bytes.equals(attribute.value, "NONE") {
                    closedCaptions = ClosedCaptions.none
                } else {
                    closedCaptions = .group(try context.string(attribute, bytes))
                }
            case .pathwayID: pathwayID = try context.string(attribute, bytes)
            case .name: name = try context.string(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        if !hasBandwidth { try context.reportMissing(.bandwidth) }
    }

    func attributeText(isIFrame: Bool) -> String {
        var list = AttributeText()
        if bandwidth > 0 { list.plain(.bandwidth, bandwidth) }
        list.plain(.averageBandwidth, averageBandwidth)
        list.plain(.score, score)
        list.quoted(.codecs, codecsText)
        list.quoted(.supplementalCodecs, supplementalCodecs)
        list.plain(.resolution, resolution)
        list.plain(.frameRate, frameRate)
        list.plain(.hdcpLevel, hdcpLevel?.rawValue)
        list.quoted(.allowedCPC, allowedCPC)
        list.plain(.videoRange, videoRange?.rawValue)
        list.quoted(.requiredVideoLayout, requiredVideoLayout)
        list.quoted(.stableVariantID, stableVariantID)
        list.quoted(.audio, audio)
        list.quoted(.video, video)
        list.quoted(.subtitles, subtitles)
        switch closedCaptions {
        case nil: break
        case ClosedCaptions.none?: list.plain(.closedCaptions, "NONE")
        case .group(let group)?: list.quoted(.closedCaptions, group)
        }
        list.quoted(.pathwayID, pathwayID)
        list.quoted(.name, name)
        list.other(otherAttributes)
        if isIFrame { list.quoted(.uri, uri) }
        return list.text
    }
}

extension ReadingContext {
    /// Reads a decimal-floating-point as the nearest `Double`. Reports and returns nil for other text and for
    /// implausibly large or small numbers (10¹⁵, 10⁻⁴).
    mutating func number(_ attribute: Attribute, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) -> Double? {
        guard let value = bytes.number(in: bytes.trimmed(attribute.value)), value == 0 || (1e-4...1e15).contains(value)
        else {
            try report(
                .number, "\(attribute.name?.rawValue ?? "") is not a number: \"\(bytes.excerpt(attribute.value))\"")
            return nil
        }
        return value
    }
}

extension Span where Element == UInt8 {
    fileprivate func number(in range: Range<Int>) -> Double? {
        // Up to 15 digits and a power of ten are exact, so their quotient is the nearest.
        var digits = 0.0
        var scale = 1.0
        var hasPoint = false
        for index in range {
            let digit = self[index] &- 0x30
            if digit < 10 {
                digits = digits * 10 + Double(digit)
                if hasPoint { scale *= 10 }
            } else if self[index] == 0x2E, !hasPoint {
                hasPoint = true
            } else {
                return nil
            }
        }
        guard range.count > (hasPoint ? 1 : 0) else { return nil }
        return range.count <= 15 ? digits / scale : Double(string(range))
    }
}
