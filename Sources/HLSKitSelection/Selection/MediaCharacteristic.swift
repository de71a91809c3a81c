/// A characteristic of media by which tracks and options are selected.
///
/// The set is open: unknown entries of `CHARACTERISTICS` keep their text.
public struct MediaCharacteristic: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The raw value.
    public var description: String { rawValue }

    /// Video and images.
    public static let visual = MediaCharacteristic(rawValue: "AVMediaCharacteristicVisual")
    /// Audio.
    public static let audible = MediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
    /// Subtitles and closed captions.
    public static let legible = MediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
    /// Media that consists of frames, such as video.
    public static let frameBased = MediaCharacteristic(rawValue: "AVMediaCharacteristicFrameBased")
    /// Colours beyond ITU-R BT.709.
    public static let usesWideGamutColorSpace = MediaCharacteristic(
        rawValue: "AVMediaCharacteristicUsesWideGamutColorSpace")
    /// Video with a PQ or HLG transfer function.
    public static let containsHDRVideo = MediaCharacteristic(rawValue: "AVMediaCharacteristicContainsHDRVideo")
    /// Subtitles that belong to the video and are shown without being selected.
    public static let containsOnlyForcedSubtitles = MediaCharacteristic(rawValue: "public.subtitles.forced-only")
    /// The main program, as its author intended it.
    public static let isMainProgramContent = MediaCharacteristic(rawValue: "public.main-program-content")
    /// An addition, such as a commentary.
    public static let isAuxiliaryContent = MediaCharacteristic(rawValue: "public.auxiliary-content")
    /// The language of production, not a translation.
    public static let isOriginalContent = MediaCharacteristic(rawValue: "public.original-content")
    /// Subtitles that transcribe spoken dialogue.
    public static let transcribesSpokenDialogForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.transcribes-spoken-dialog")
    /// Subtitles that describe music and sound effects.
    public static let describesMusicAndSoundForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.describes-music-and-sound")
    /// Audio that describes the video.
    public static let describesVideoForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.describes-video")
    /// Subtitles edited for easier reading.
    public static let easyToRead = MediaCharacteristic(rawValue: "public.easy-to-read")
    /// A translation of any kind.
    public static let languageTranslation = MediaCharacteristic(rawValue: "public.translation")
    /// A translation spoken instead of the original dialogue.
    public static let dubbedTranslation = MediaCharacteristic(rawValue: "public.translation.dubbed")
    /// A translation spoken over the original dialogue.
    public static let voiceOverTranslation = MediaCharacteristic(rawValue: "public.translation.voice-over")
}
