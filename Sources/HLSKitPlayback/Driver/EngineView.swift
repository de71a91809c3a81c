import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// The engine state that an item's driver needs, as of the last event.
///
/// It is read as a whole, so that the driver does not take the player's lock for each value.
struct EngineView: Sendable {
    var isCurrent = false
    var url: String?
    /// The range of the item that is played.
    var start: Duration?
    var forwardEnd: Duration?
    var keepsPresented = false
    var closedCaptionService: ClosedCaptionService?
    /// The selected captions of the app.
    var sidecar: SidecarCaptions?
    var audibleLanguage: String?
    /// The rule that selects among audio tracks within segments.
    var audioTrackRule: AudioTrackRule?
    var legibleLanguage: String?
    /// The lanes that must have media before presentation starts.
    var requiredLanes: [LaneID] = []
    var hasAudioLane = false
    /// Whether the audio of a rendition has replaced the variant's audio.
    var hasReplacedAudio = false
    var hasSeveralVariants = false
    var disabledTracks: Set<MediaKind> = []
    /// Whether no media of the variant itself is loaded.
    var isVariantResting = false

    init() {}

    init(_ engine: borrowing PlaybackEngine, isCurrent: Bool) {
        self.isCurrent = isCurrent
        keepsPresented = engine.keepsPresented
        closedCaptionService = engine.closedCaptionService
        sidecar = engine.mediaSelection.selectedSidecar
        audioTrackRule = engine.mediaSelection.audioTrackRule
        url = engine.item?.url
        start = engine.item?.start
        forwardEnd = engine.item?.endTime.time
        audibleLanguage = engine.item?.audibleOption?.language
        legibleLanguage = engine.item?.legibleLanguage
        if let tracks = engine.item?.tracks { disabledTracks = tracks.disabled }
        isVariantResting = engine.item?.lanes[.main]?.presence == .resting
        hasSeveralVariants = (engine.item?.candidates.count ?? 0) > 1
        // Do not use the dictionary's keys, because that would copy the lanes.
        for lane in LaneID.allCases where engine.item?.lanes[lane]?.isRequired == true { requiredLanes.append(lane) }
        hasAudioLane = engine.item?.lanes[.audio] != nil
        hasReplacedAudio = engine.item?.lanes[.audio]?.hasReplaced == true
    }
}
