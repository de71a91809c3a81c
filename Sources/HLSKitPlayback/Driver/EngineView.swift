import HLSKitCaptions
import HLSKitEngine
import HLSKitMedia
import HLSKitSelection

/// What the driver of an item knows of its engine, as it was after the last event: read in one go, so that the lock of
/// the player is not taken for each question.
struct EngineView: Sendable {
    /// The item is the player's current one.
    var isCurrent = false
    var url: String?
    /// The part of the item that is played.
    var start: Duration?
    var forwardEnd: Duration?
    /// Media that was presented is kept.
    var keepsPresented = false
    /// The service of closed captions that is selected.
    var closedCaptionService: ClosedCaptionService?
    /// The captions of the program that are selected.
    var sidecar: SidecarCaptions?
    var audibleLanguage: String?
    /// Chooses among audio tracks inside segments.
    var audioTrackRule: AudioTrackRule?
    var legibleLanguage: String?
    /// Lanes that have to have media before anything is presented.
    var requiredLanes: [LaneID] = []
    var hasAudioLane = false
    /// Audio of the variant was left for that of a rendition.
    var hasReplacedAudio = false
    var hasSeveralVariants = false
    /// Kinds of media that are switched off.
    var disabledTracks: Set<MediaKind> = []
    /// Nothing of the variant itself is loaded.
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
        // Not by their list: that would copy the lanes.
        for lane in LaneID.allCases where engine.item?.lanes[lane]?.isRequired == true { requiredLanes.append(lane) }
        hasAudioLane = engine.item?.lanes[.audio] != nil
        hasReplacedAudio = engine.item?.lanes[.audio]?.hasReplaced == true
    }
}
