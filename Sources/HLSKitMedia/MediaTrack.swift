/// The kind of media in a track.
public enum MediaKind: String, Sendable, Hashable, CaseIterable {
    case video, audio, text, metadata
}

/// A coding format. An open set: a format unknown to this library keeps its name.
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
    /// AAC in LATM/LOAS framing; samples are whole LOAS frames with their three bytes of header, as libavcodec wants.
    package static let aacLATM = MediaCodec(rawValue: "aac_latm")
    /// MPEG audio, layer 2.
    package static let mp2 = MediaCodec(rawValue: "mp2")
    /// MPEG audio, layers 3 and 1, and where a container does not say the layer.
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
    /// AAC with the tools of USAC (xHE-AAC), which decoders of AAC need not know.
    public static let xheAAC = MediaCodec(rawValue: "xhe-aac")
    /// DTS, with or without its extensions.
    package static let dts = MediaCodec(rawValue: "dts")
    /// MPEG-1 video.
    package static let mpeg1Video = MediaCodec(rawValue: "mpeg1video")
    /// MPEG-2 video, H.262.
    package static let mpeg2Video = MediaCodec(rawValue: "mpeg2video")
    /// MPEG-4 part 2.
    package static let mpeg4Video = MediaCodec(rawValue: "mpeg4")
    /// Each sample is a JPEG image.
    public static let jpeg = MediaCodec(rawValue: "jpeg")
    /// WebVTT, in segments of text or in MP4 (`wvtt`).
    public static let webVTT = MediaCodec(rawValue: "webvtt")
    /// TTML in MP4 (`stpp`).
    public static let ttml = MediaCodec(rawValue: "ttml")
    /// ID3 timed metadata.
    public static let id3 = MediaCodec(rawValue: "id3")
}

/// One elementary stream as its container describes it.
public struct MediaTrack: Sendable, Hashable {
    /// The container's number for the track: PID in a transport stream, `track_ID` in MP4, 0 in packed audio.
    public var id: Int
    /// The kind of media in the stream.
    public var mediaType: MediaKind
    /// How it is coded.
    public var codec: MediaCodec
    /// Units per second of the track's timestamps: 90 000 in a transport stream and in packed audio.
    public var timescale: Int32
    /// Decoder configuration in the form that libavcodec calls extradata: the payload of `avcC`, `hvcC`, `av1C`, an
    /// AudioSpecificConfig, an `OpusHead`, a FLAC STREAMINFO. Empty if the stream carries it (H.264 in TS).
    public var configuration: [UInt8]
    /// The four-character code of the sample entry, empty outside MP4.
    public var sampleEntry: String
    /// Coded size as far as the container or the parameter sets declare it; 0 if unknown or not video.
    public var width: Int
    /// Coded height in pixels; 0 if unknown or not video.
    public var height: Int
    /// Samples per second and channels; 0 if unknown or not audio.
    public var sampleRate: Int
    /// Number of channels; 0 if unknown or not audio.
    public var channelCount: Int
    /// ISO 639-2 or BCP 47 tag; nil if undeclared or "und".
    public var language: String?
    /// What a playlist says of the rendition that it is of.
    package var label = MediaTrackLabel()
    /// Timestamps are 33 bits wide and wrap (transport streams, packed audio).
    public var wrapsAt33Bits: Bool
    /// Colours as the container declares them; nil if undeclared.
    public var colorInformation: ColorInformation?
    /// The shape of a pixel; nil if undeclared.
    public var pixelAspectRatio: PixelAspectRatio?
    /// The part of the frame to show; nil if undeclared, which means all of it.
    public var cleanAperture: CleanAperture?
    /// The display on which HDR video was graded, as the container or, in a transport stream, the pictures declare it; else
    /// nil.
    public var masteringDisplayColorVolume: MasteringDisplayColorVolume?
    /// How bright HDR video gets, as the container or, in a transport stream, the pictures declare it; else nil.
    public var contentLightLevelInfo: ContentLightLevelInfo?
    /// 2 of video that may be interlaced, 1 of video that is not; nil before it is known. See ``declaredFieldCount``.
    var fieldCount: Int?
    /// The record of Dolby Vision (`dvcC`, `dvvC` or `dvwC`); empty if there is none.
    package var dolbyVision: [UInt8] = []
    /// How the pictures of both eyes lie in a frame, by the number in `st3d`; nil if undeclared.
    package var stereoMode: UInt8?
    /// What the frame is a map of; nil if undeclared.
    package var sphericalMapping: SphericalMapping?
    /// Depth and chroma of the pictures' samples, if the container declares them (VP9 in MP4); else nil.
    package var sampleStructure: PictureSampleStructure?
    /// Timestamps count from the start of the segment, because it declares no other time.
    package var timestampsAreRelative = false
    /// Degrees by which to turn the frame clockwise before it is shown: 0, 90, 180 or 270 (`tkhd` of MP4).
    public var rotation = 0
    /// All that is to be done with the frame before it is shown, ``rotation`` included (`tkhd` of MP4).
    public var preferredTransform = TrackTransform.identity
    /// How samples are encrypted by common encryption; nil if the track is clear.
    package var encryption: TrackEncryption?
    /// Audio that an encoder has added, counted from the segment that declares it; nil if undeclared.
    package var gapless: GaplessInfo?
    /// Presentation times that the edit list of a whole file shows; the samples of others are there for the decoder.
    /// nil: all are shown.
    package var shownRange: Range<Int64>?
    /// It belongs to another track: pictures of chapters, or what a decoder of the main pictures has no use for.
    package var isAuxiliary = false

    /// Makes a track. What has a default is undeclared or unknown.
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

/// What a playlist says of a rendition, for whoever looks at a file with its track.
package struct MediaTrackLabel: Sendable, Hashable {
    /// nil if it has none.
    package var name: String?
    /// It is played where nobody chooses.
    package var isDefault = false
    /// Subtitles for what is foreign in the sound.
    package var isForced = false
    /// Subtitles that tell of sounds, for whom cannot hear them.
    package var describesSound = false
    /// Sound that tells of pictures, for whom cannot see them.
    package var describesVideo = false

    /// Makes a label that says nothing.
    package init() {}
}

/// Which of the decoded audio was in the source: encoders work in whole frames, and with a delay.
///
/// All numbers are in samples per channel of what the decoder gives. Audio that comes after the last of them is of
/// another source and is kept.
package struct GaplessInfo: Sendable, Hashable {
    /// Samples before the source begins: the delay of the encoder and that of the decoder.
    package var leadingSampleCount: Int
    /// Samples of the source; nil if its length is not stated.
    package var validSampleCount: Int?
    /// Samples behind the source that fill the last frames.
    package var trailingSampleCount: Int

    /// Makes gapless information; without `validSampleCount` the length is unknown.
    package init(leadingSampleCount: Int, validSampleCount: Int? = nil, trailingSampleCount: Int = 0) {
        self.leadingSampleCount = leadingSampleCount
        self.validSampleCount = validSampleCount
        self.trailingSampleCount = trailingSampleCount
    }
}

/// One access unit: what a decoder takes in one go.
public struct MediaSample: Sendable {
    /// The track it belongs to, as in ``MediaTrack/id``.
    public var trackID: Int
    /// Presentation and decoding time in units of the track's timescale, as the container has them (33 bits in TS,
    /// but continuous within a segment: a wrap inside the segment has been undone). Where MP4 has pictures shown before
    /// they are decoded, by its words, all decoding times of the track are moved so far ahead that none is.
    public var pts: Int64
    /// Decoding time; see ``pts``.
    public var dts: Int64
    /// In units of the track's timescale; 0 if the container does not say (TS video).
    public var duration: Int64
    /// Decoding can start here.
    public var isSync: Bool
    /// Bytes of this access unit were lost or damaged on the way.
    public var isDamaged: Bool
    /// Two pictures that are one field each, of one frame.
    package var holdsTwoFields = false
    /// The coded bytes, encrypted where the track is.
    public var data: SampleData
    /// Parameters for decrypting ``data``; nil if it is clear.
    package var encryption: SampleEncryption?

    /// Makes a sample; its duration is unknown and its data clear by default.
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
