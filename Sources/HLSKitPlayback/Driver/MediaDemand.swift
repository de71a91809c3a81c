import HLSKitEngine
import HLSKitMedia
import HLSKitOutput

/// Determines which kinds of media the lanes hand on and how renderers process them.
///
/// This depends on the outputs and on the media needed to place cues and metadata.
struct MediaDemand {
    private let mediaTypes: Set<MediaKind>
    private let decodes: Set<MediaKind>
    private let decodingThreadCount: Int
    private let demuxes: Bool
    private let isPaced: Bool
    private let dispatcher: OutputDispatcher
    private var late = LateSubscribers()

    init(_ configuration: DriverConfiguration, dispatcher: OutputDispatcher) {
        mediaTypes = configuration.mediaTypes
        decodes = configuration.decodes
        decodingThreadCount = configuration.decodingThreadCount
        demuxes = configuration.demuxes
        isPaced = configuration.isPaced
        self.dispatcher = dispatcher
    }

    func isTaken(_ type: MediaKind, _ view: EngineView) -> Bool {
        !view.disabledTracks.contains(type)
            && (decodes.contains(type) || dispatcher.registry.wantsFrames(of: type)
                || dispatcher.registry.wantsSamples(of: type))
    }

    func types(_ view: EngineView) -> Set<MediaKind> {
        // Other media determines the times of metadata and cues.
        if dispatcher.registry.wantsMetadata || dispatcher.registry.wantsCues || view.closedCaptionService != nil {
            return mediaTypes.union([.metadata]).subtracting(view.disabledTracks)
        }
        return mediaTypes.filter { isTaken($0, view) }
    }

    func expectsVariant(_ view: EngineView) -> Bool {
        demuxes && !view.isVariantIdle && !types(view).subtracting([.audio]).isEmpty
    }

    private func types(of lane: LaneID, _ view: EngineView) -> Set<MediaKind> {
        var wanted = types(view)
        // A rendition's audio replaces the variant's audio.
        if lane == .main, view.hasAudioLane { wanted.remove(.audio) }
        if lane == .audio { wanted.remove(.video) }
        if lane == .subtitles { wanted = [.text] }
        // Closed captions may have a separate track.
        if lane == .main, wanted.contains(.video) { wanted.insert(.text) }
        // Without video, audio timestamps place cues and metadata.
        if lane == .main, dispatcher.registry.wantsCues || dispatcher.registry.wantsMetadata, !view.hasAudioLane {
            wanted.insert(.audio)
        }
        return wanted
    }

    mutating func open(_ lane: LaneID, _ view: EngineView) -> LaneOpening {
        let wanted = begin(lane, view)
        let mayChangeVariant = lane == .main && view.hasSeveralVariants
        return LaneOpening(
            wanted: wanted,
            holdsSegments: mayChangeVariant && wanted.contains { dispatcher.registry.wantsSamples(of: $0) },
            audioRule: view.audioTrackRule)
    }

    mutating func begin(_ lane: LaneID, _ view: EngineView) -> Set<MediaKind> {
        let wanted = types(of: lane, view)
        late.begin(lane, wanted.filter { isTaken($0, view) })
        return wanted
    }

    /// Called when outputs change.
    ///
    /// Past media is loaded again for kinds that no output took before. Kinds without an output are dropped at once.
    ///
    /// - Parameter hasBegun: Whether media of the lane has arrived.
    /// - Returns: The kinds to hand on from now on, and the message for the engine.
    mutating func follow(
        _ lane: LaneID, hasBegun: Bool, _ view: EngineView
    ) -> (wanted: Set<MediaKind>, control: EngineControl?) {
        let wanted = types(of: lane, view)
        let new = late.follow(
            wanted.filter { isTaken($0, view) }, of: lane, isTooLate: isPaced && demuxes && hasBegun)
        return (
            late.wanted(wanted, of: lane),
            new.kinds.isEmpty ? nil : .takeLate(new.kinds, of: lane, keepsOthers: new.isBesideOthers)
        )
    }

    mutating func take(_ kinds: Set<MediaKind>, of lane: LaneID, _ view: EngineView) -> Set<MediaKind> {
        late.take(kinds, of: lane)
        return late.wanted(types(of: lane, view), of: lane)
    }

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

// MARK: - Late outputs

extension MediaDemand {
    /// Tracks the kinds of media that outputs take from each lane, and those that they want too late.
    ///
    /// The latter must be loaded again before they are taken.
    struct LateSubscribers: Sendable {
        private var taken: [LaneID: Set<MediaKind>] = [:]
        private var waiting: [LaneID: Set<MediaKind>] = [:]

        mutating func begin(_ lane: LaneID, _ kinds: Set<MediaKind>) {
            taken[lane] = kinds
            waiting[lane] = nil
        }

        /// Updates the kinds that outputs want from a lane. Returns new kinds whose media was dropped.
        ///
        /// - Parameter isTooLate: Whether media of the lane has already been handed on.
        mutating func follow(
            _ kinds: Set<MediaKind>, of lane: LaneID, isTooLate: Bool
        ) -> (kinds: Set<MediaKind>, isBesideOthers: Bool) {
            let old = taken[lane, default: []].intersection(kinds)
            let known = waiting[lane, default: []].intersection(kinds)
            let new = kinds.subtracting(old).subtracting(known)
            taken[lane] = isTooLate ? old : old.union(new)
            waiting[lane] = isTooLate ? known.union(new) : known
            return (isTooLate ? new : [], !old.isEmpty)
        }

        func wanted(_ all: Set<MediaKind>, of lane: LaneID) -> Set<MediaKind> {
            all.subtracting(waiting[lane, default: []])
        }

        mutating func take(_ kinds: Set<MediaKind>, of lane: LaneID) {
            let come = waiting[lane, default: []].intersection(kinds)
            waiting[lane]?.subtract(come)
            taken[lane, default: []].formUnion(come)
        }
    }
}
