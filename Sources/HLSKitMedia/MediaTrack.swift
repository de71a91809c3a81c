/// The kind of media in a track.
public enum MediaKind: String, Sendable, Hashable, CaseIterable {
    case video, audio, text, metadata
}

/// A coding format.
///
/// The set is open, and a format that this library does not know keeps its name.
public struct MediaCodec: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// ``rawValue``.
    public var description: String { rawValue }

    /// H.264, AVC.
    public static let h264 = MediaCodec(rawValue: "h264")
    /// H.265, HEVC.
    public static let hevc = MediaCodec(rawValue: "hevc")
    /// AV1.
    public static let av1 = MediaCodec(rawValue: "av1")
    /// VP9.
    public static let vp9 = MediaCodec(rawValue: "vp9")
    /// AAC in all its profiles.
    public static let aac = MediaCodec(rawValue: "aac")
    /// AAC in LATM/LOAS framing. Samples are whole LOAS frames with their three-byte header, as libavcodec expects.
    package static let aacLATM = MediaCodec(rawValue: "aac_latm")
    package static let mp2 = MediaCodec(rawValue: "mp2")
    /// MPEG audio of layers 3 and 1, and of an undeclared layer.
    public static let mp3 = MediaCodec(rawValue: "mp3")
    /// AC-3, Dolby Digital.
    public static let ac3 = MediaCodec(rawValue: "ac3")
    /// E-AC-3, Dolby Digital Plus.
    public static let eac3 = MediaCodec(rawValue: "eac3")
    /// Opus.
    public static let opus = MediaCodec(rawValue: "opus")
    /// FLAC.
    public static let flac = MediaCodec(rawValue: "flac")
    /// Apple Lossless.
    public static let alac = MediaCodec(rawValue: "alac")
    /// AAC with the tools of USAC (xHE-AAC), which not all AAC decoders support.
    public static let xheAAC = MediaCodec(rawValue: "xhe-aac")
    package static let dts = MediaCodec(rawValue: "dts")
    package static let mpeg1Video = MediaCodec(rawValue: "mpeg1video")
    package static let mpeg2Video = MediaCodec(rawValue: "mpeg2video")
    package static let mpeg4Video = MediaCodec(rawValue: "mpeg4")
    /// Each sample is a JPEG image.
    public static let jpeg = MediaCodec(rawValue: "jpeg")
    /// WebVTT, in segments of text or in MP4 (`wvtt`).
    public static let webVTT = MediaCodec(rawValue: "webvtt")
    /// TTML in MP4 (`stpp`).
    public static let ttml = MediaCodec(rawValue: "ttml")
    package static let tx3g = MediaCodec(rawValue: "tx3g")
    /// SubRip in Matroska.
    package static let subRip = MediaCodec(rawValue: "subrip")
    /// Advanced SubStation Alpha in Matroska.
    package static let advancedSubStation = MediaCodec(rawValue: "ass")
    package static let quickTimeText = MediaCodec(rawValue: "text")
    /// ID3 timed metadata.
    public static let id3 = MediaCodec(rawValue: "id3")
}

/// One elementary stream as described by its container.
public struct MediaTrack: Sendable, Hashable {
    /// The container's number for the track.
    ///
    /// It is the PID in a transport stream, `track_ID` in MP4, and 0 in packed audio.
    public var id: Int
    /// The kind of media in the stream.
    public var mediaType: MediaKind
    /// The coding format.
    public var codec: MediaCodec
    /// The units per second of the track's timestamps: 90 000 in a transport stream and in packed audio.
    public var timescale: Int32
    /// The decoder configuration, which libavcodec calls extradata.
    ///
    /// It is the payload of `avcC`, `hvcC` or `av1C`, an AudioSpecificConfig, an `OpusHead`, or a FLAC STREAMINFO. It
    /// is empty if the stream itself contains the configuration (H.264 in TS).
    public var configuration: [UInt8]
    /// The four-character code of the sample entry, empty outside MP4.
    public var sampleEntry: String
    /// The coded width in pixels, or 0 if unknown or not video.
    ///
    /// The container or the parameter sets declare it.
    public var width: Int
    /// The coded height in pixels, or 0 if unknown or not video.
    public var height: Int
    /// The samples per second, or 0 if unknown or not audio.
    public var sampleRate: Int
    /// The number of channels, or 0 if unknown or not audio.
    public var channelCount: Int
    /// An ISO 639-2 or BCP 47 tag, or `nil` if undeclared or "und".
    public var language: String?
    package var label = MediaTrackLabel()
    /// A Boolean value that indicates whether timestamps have 33 bits and wrap.
    ///
    /// This is the case in transport streams and packed audio.
    public var wrapsAt33Bits: Bool
    /// The colour information that the container declares, or `nil` if undeclared.
    public var colorInformation: ColorInformation?
    /// The shape of a pixel, or `nil` if undeclared.
    public var pixelAspectRatio: PixelAspectRatio?
    /// The part of the frame to show, or `nil` if undeclared, which means all of it.
    public var cleanAperture: CleanAperture?
    /// The display on which HDR video was graded, or `nil` if undeclared.
    ///
    /// The container declares it or, in a transport stream, the video itself.
    public var masteringDisplayColorVolume: MasteringDisplayColorVolume?
    /// The light level of HDR video, or `nil` if undeclared.
    ///
    /// The container declares it or, in a transport stream, the video itself.
    public var contentLightLevelInfo: ContentLightLevelInfo?
    /// The fields of a frame: 2 if the video may be interlaced, 1 if not, or nil if not yet known. See
    /// ``declaredFieldCount``.
    var fieldCount: Int?
    /// The Dolby Vision record (`dvcC`, `dvvC` or `dvwC`), or empty if there is none.
    package var dolbyVision: [UInt8] = []
    package var enhancedAC3Extension: EnhancedAC3Extension?
    /// The arrangement of the views for both eyes in a frame, as the number in `st3d`, or nil if undeclared.
    package var stereoMode: UInt8?
    package var sphericalMapping: SphericalMapping?
    /// The bit depth and chroma of the video, or nil unless the container declares them (VP9 in MP4).
    package var sampleStructure: PictureSampleStructure?
    /// Whether timestamps count from the start of the segment because it declares no other time.
    package var timestampsAreRelative = false
    /// The clockwise rotation to apply to the frame, in degrees: 0, 90, 180 or 270 (`tkhd` of MP4).
    public var rotation = 0
    /// The complete transform to apply to the frame, including ``rotation`` (`tkhd` of MP4).
    public var preferredTransform = TrackTransform.identity
    package var encryption: TrackEncryption?
    /// The audio that the encoder added, counted from the segment that declares it, or nil if undeclared.
    package var gapless: GaplessInfo?
    /// The presentation times that the edit list of a whole file shows, or nil if all are shown. Samples outside are
    /// only for the decoder.
    package var shownRange: Range<Int64>?
    /// Whether the track only serves another track: chapter images, or data that the decoder of the main video does not
    /// need.
    package var isAuxiliary = false
    package var holdsChapters = false

    package init(
        id: Int, mediaType: MediaKind, codec: MediaCodec, timescale: Int32, configuration: [UInt8] = [],
        sampleEntry: String = "", width: Int = 0, height: Int = 0, sampleRate: Int = 0, channelCount: Int = 0,
        language: String? = nil, wrapsAt33Bits: Bool = false, colorInformation: ColorInformation? = nil,
        pixelAspectRatio: PixelAspectRatio? = nil, cleanAperture: CleanAperture? = nil,
        encryption: TrackEncryption? = nil, gapless: GaplessInfo? = nil
    ) {
        self.id = id
        self.mediaType = mediaType
        self.codec = codec
        self.timescale = timescale
        self.configuration = configuration
        self.sampleEntry = sampleEntry
        self.width = width
        self.height = height
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.language = language
        self.wrapsAt33Bits = wrapsAt33Bits
        self.colorInformation = colorInformation
        self.pixelAspectRatio = pixelAspectRatio
        self.cleanAperture = cleanAperture
        self.encryption = encryption
        self.gapless = gapless
    }
}

/// The part of the decoded audio that belongs to the source. Encoders use whole frames and add a delay.
///
/// All numbers are samples per channel of the decoder's output. Audio after the last of them belongs to another source
/// and is kept.
package struct GaplessInfo: Sendable, Hashable {
    /// The samples before the source: the encoder's delay plus the decoder's.
    package var leadingSampleCount: Int
    package var validSampleCount: Int?
    /// The samples after the source that fill the last frames.
    package var trailingSampleCount: Int

    package init(leadingSampleCount: Int, validSampleCount: Int? = nil, trailingSampleCount: Int = 0) {
        self.leadingSampleCount = leadingSampleCount
        self.validSampleCount = validSampleCount
        self.trailingSampleCount = trailingSampleCount
    }
}

/// One access unit: the input for a single decoding step.
public struct MediaSample: Sendable {
    /// The ``MediaTrack/id`` of the sample's track.
    public var trackID: Int
    /// The presentation time in units of the track's timescale, as in the container.
    ///
    /// In a transport stream it has 33 bits, but it is continuous within a segment because wraps have been undone. If
    /// MP4 declares pictures that are shown before they are decoded, all decoding times of the track are moved to
    /// earlier times.
    public var pts: Int64
    /// The decoding time; see ``pts``.
    public var dts: Int64
    /// The duration in units of the track's timescale, or 0 if the container does not declare it (TS video).
    public var duration: Int64
    /// A Boolean value that indicates whether decoding can start here.
    public var isSync: Bool
    /// A Boolean value that indicates whether bytes of this access unit were lost or damaged.
    public var isDamaged: Bool
    /// Whether the sample contains two pictures, each one field of the same frame.
    package var holdsTwoFields = false
    /// The coded bytes, which are encrypted if the track is.
    public var data: SampleData
    package var encryption: SampleEncryption?

    package init(
        trackID: Int, pts: Int64, dts: Int64, duration: Int64 = 0, isSync: Bool, isDamaged: Bool = false,
        data: SampleData, encryption: SampleEncryption? = nil
    ) {
        self.trackID = trackID
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.isSync = isSync
        self.isDamaged = isDamaged
        self.data = data
        self.encryption = encryption
    }
}
