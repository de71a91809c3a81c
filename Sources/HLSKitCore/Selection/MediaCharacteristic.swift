/// A property of media by which tracks and options are chosen. An open set: entries of `CHARACTERISTICS` that this
/// library does not know keep their text.
public struct MediaCharacteristic: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let visual = MediaCharacteristic(rawValue: "AVMediaCharacteristicVisual")
    public static let audible = MediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
    public static let legible = MediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
    /// Made of frames: video.
    public static let frameBased = MediaCharacteristic(rawValue: "AVMediaCharacteristicFrameBased")
    /// Colours beyond ITU-R BT.709.
    public static let usesWideGamutColorSpace = MediaCharacteristic(
        rawValue: "AVMediaCharacteristicUsesWideGamutColorSpace")
    /// A transfer function of PQ or HLG.
    public static let containsHDRVideo = MediaCharacteristic(rawValue: "AVMediaCharacteristicContainsHDRVideo")
    /// Subtitles that belong to the picture and are shown without being asked for.
    public static let containsOnlyForcedSubtitles = MediaCharacteristic(rawValue: "public.subtitles.forced-only")
    public static let isMainProgramContent = MediaCharacteristic(rawValue: "public.main-program-content")
    public static let isAuxiliaryContent = MediaCharacteristic(rawValue: "public.auxiliary-content")
    public static let isOriginalContent = MediaCharacteristic(rawValue: "public.original-content")
    public static let transcribesSpokenDialogForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.transcribes-spoken-dialog")
    public static let describesMusicAndSoundForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.describes-music-and-sound")
    public static let describesVideoForAccessibility = MediaCharacteristic(
        rawValue: "public.accessibility.describes-video")
    public static let easyToRead = MediaCharacteristic(rawValue: "public.easy-to-read")
    public static let languageTranslation = MediaCharacteristic(rawValue: "public.translation")
    public static let dubbedTranslation = MediaCharacteristic(rawValue: "public.translation.dubbed")
    public static let voiceOverTranslation = MediaCharacteristic(rawValue: "public.translation.voice-over")
}
