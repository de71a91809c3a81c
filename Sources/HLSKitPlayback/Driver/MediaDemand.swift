import HLSKitEngine
import HLSKitMedia
import HLSKitOutput

/// Which kinds of media the lanes of an item hand on, and what renderers make of them: what outputs want now, and what
/// is needed beside that.
struct MediaDemand {
    private let mediaTypes: Set<MediaKind>
    private let decodes: Set<MediaKind>
    private let decodingThreadCount: Int
    private let demuxes: Bool
    private let isPaced: Bool
    private let dispatcher: OutputDispatcher
    private var late = LateTaking()

    init(_ configuration: DriverConfiguration, dispatcher: OutputDispatcher) {
        mediaTypes = configuration.mediaTypes
        decodes = configuration.decodes
        decodingThreadCount = configuration.decodingThreadCount
        demuxes = configuration.demuxes
        isPaced = configuration.isPaced
        self.dispatcher = dispatcher
    }

    /// An output takes media of this kind, or it is decoded without; and it is not switched off.
    func isTaken(_ type: MediaKind, _ view: EngineView) -> Bool {
        !view.disabledTracks.contains(type)
            && (decodes.contains(type) || dispatcher.registry.wantsFrames(of: type)
                || dispatcher.registry.wantsSamples(of: type))
    }

    /// Kinds of media that are of use.
    func types(_ view: EngineView) -> Set<MediaKind> {
        // Metadata and cues are placed by the media beside them.
        if dispatcher.registry.wantsMetadata || dispatcher.registry.wantsCues || view.closedCaptionService != nil {
            return mediaTypes.union([.metadata]).subtracting(view.disabledTracks)
        }
        return mediaTypes.filter { isTaken($0, view) }
    }

    /// Media of the variant is of use beside the audio of a rendition.
    func expectsVariant(_ view: EngineView) -> Bool {
        demuxes && !view.isVariantResting && !types(view).subtracting([.audio]).isEmpty
    }

    private func types(of lane: LaneID, _ view: EngineView) -> Set<MediaKind> {
        var wanted = types(view)
        // Audio in the variant is not played beside that of a rendition.
        if lane == .main, view.hasAudioLane { wanted.remove(.audio) }
        if lane == .audio { wanted.remove(.video) }
        if lane == .subtitles { wanted = [.text] }
        // Closed captions may have a track beside the pictures.
        if lane == .main, wanted.contains(.video) { wanted.insert(.text) }
        // Where there are no pictures, sound tells where cues and metadata belong.
        if lane == .main, dispatcher.registry.wantsCues || dispatcher.registry.wantsMetadata, !view.hasAudioLane {
            wanted.insert(.audio)
        }
        return wanted
    }

    /// How a lane begins: with all that is wanted now.
    mutating func open(_ lane: LaneID, _ view: EngineView) -> LaneOpening {
        let wanted = begin(lane, view)
        let mayChangeVariant = lane == .main && view.hasSeveralVariants
        return LaneOpening(
            wanted: wanted,
            holdsSegments: mayChangeVariant && wanted.contains { dispatcher.registry.wantsSamples(of: $0) },
            audioRule: view.audioTrackRule)
    }

    /// All that is wanted of the lane is loaded from here on.
    mutating func begin(_ lane: LaneID, _ view: EngineView) -> Set<MediaKind> {
        let wanted = types(of: lane, view)
        late.begin(lane, wanted.filter { isTaken($0, view) })
        return wanted
    }

    /// Outputs came, went or changed what they take. Media that has gone by is loaded again for kinds that no output took;
    /// kinds that no output takes any more are dropped at once.
    ///
    /// - Parameter hasBegun: media of the lane has come.
    /// - Returns: what is handed on from now on, and what the engine has to be told.
    mutating func follow(
        _ lane: LaneID, hasBegun: Bool, _ view: EngineView
    ) -> (wanted: Set<MediaKind>, control: EngineControl?) {
        let wanted = types(of: lane, view)
        let new = late.follow(
            wanted.filter { isTaken($0, view) }, of: lane, isTooLate: isPaced && demuxes && hasBegun)
        return (
            late.wanted(wanted, of: lane),
            new.kinds.isEmpty ? nil : .takeLate(new.kinds, of: lane, besideOthers: new.isBesideOthers)
        )
    }

    /// Kinds that were wanted too late come with the segments that begin next.
    ///
    /// - Returns: what is handed on from now on.
    mutating func take(_ kinds: Set<MediaKind>, of lane: LaneID, _ view: EngineView) -> Set<MediaKind> {
        late.take(kinds, of: lane)
        return late.wanted(types(of: lane, view), of: lane)
    }

    /// What a renderer does with samples of this kind.
    func mode(of type: MediaKind, _ view: EngineView) -> TrackRenderer.Mode {
        var mode = TrackRenderer.Mode()
        guard !view.disabledTracks.contains(type) else { return mode }
        if decodes.contains(type) || dispatcher.registry.wantsFrames(of: type) {
            mode.decodingThreadCount = decodingThreadCount
        }
        mode.passesSamples = dispatcher.registry.wantsSamples(of: type)
        return mode
    }
}
