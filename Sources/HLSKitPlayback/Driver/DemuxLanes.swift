import HLSKitEngine
import HLSKitMedia

/// The lanes of an item and their shared timeline. Decrypts and demuxes the data of all lanes.
struct DemuxLanes: Sendable {
    private let mode: LanePipeline.Mode
    private let declared: ContainerProbe.Container?
    private var pipelines: [LaneID: LanePipeline] = [:]
    private var timeline = ItemTimeline()
    private var endedLanes: Set<LaneID> = []

    init(
        mode: LanePipeline.Mode, declared: ContainerProbe.Container? = nil,
        mediaOrigin: @escaping @Sendable () -> Duration?
    ) {
        self.mode = mode
        self.declared = declared
        timeline.mediaOrigin = mediaOrigin
    }

    mutating func perform(_ work: LaneWork) -> LaneReport {
        if let opening = work.opening {
            pipelines[work.lane] = LanePipeline(
                lane: work.lane, mode: mode, wanted: opening.wanted, holdsSegments: opening.holdsSegments,
                declared: declared, audioRule: opening.audioRule)
        }
        var output: [LaneOutput] = []
        var wakesAudio = false
        switch work.action {
        case .begin(let job): wakesAudio = run(work, &output) { $0.begin(job) }
        case .restart(let job): wakesAudio = run(work, &output) { $0.restart(job) }
        case .append(let bytes, let segment): wakesAudio = run(work, &output) { $0.append(bytes, to: segment) }
        case .appendHead(let bytes, let segment, let key):
            wakesAudio = run(work, &output) { $0.appendHead(bytes, of: segment, key: key) }
        case .finish(let segment): wakesAudio = run(work, &output) { $0.finish(segment) }
        case .abandon(let segment): wakesAudio = run(work, &output) { $0.abandon(segment) }
        case .endHead(let segment): wakesAudio = run(work, &output) { $0.endHead(of: segment) }
        case .provide(let resource, let bytes): wakesAudio = run(work, &output) { $0.provide(resource, bytes: bytes) }
        case .resume: wakesAudio = run(work, &output) { _ in }
        case .want(let types): pipelines[work.lane]?.wanted = types
        case .choose(let rule): pipelines[work.lane]?.audioRule = rule
        case .end:
            pipelines[work.lane]?.end(timeline: &timeline, output: &output)
            endedLanes.insert(work.lane)
            wakesAudio = takeWaiting(after: work.lane)
        case .reopen: endedLanes.remove(work.lane)
        case .close:
            pipelines[work.lane] = nil
            endedLanes.remove(work.lane)
        case .flush:
            for lane in pipelines.keys { pipelines[lane]?.flush() }
            timeline.flush()
        case nil: break
        }
        return LaneReport(
            number: work.number, lane: work.lane, event: work.event, output: output, timeline: timeline,
            unreadByteCount: pipelines[work.lane]?.unreadByteCount ?? 0, wakesAudio: wakesAudio, url: work.url,
            effect: work.effect)
    }

    /// Lets `body` change a lane, and reads all available bytes.
    ///
    /// Returns `true` if separate audio waited for the new data.
    private mutating func run(
        _ work: LaneWork, _ output: inout [LaneOutput], _ body: (inout LanePipeline) -> Void
    ) -> Bool {
        // Remove the pipeline to avoid a copy of its contents.
        guard var pipeline = pipelines.removeValue(forKey: work.lane) else { return false }
        body(&pipeline)
        if work.lane == .audio {
            timeline.comingFromVariant = comingFromVariant(isExpected: work.surroundings?.expectsVariant ?? false)
            pipeline.earliestReplacement = (work.surroundings?.time ?? .zero) + RenditionChooser.audioChangeLead
        }
        pipeline.run(timeline: &timeline, output: &output)
        pipelines[work.lane] = pipeline
        return takeWaiting(after: work.lane)
    }

    private mutating func takeWaiting(after lane: LaneID) -> Bool {
        guard lane == .main, timeline.hasWaitingLane else { return false }
        timeline.hasWaitingLane = false
        return true
    }

    /// The timelines on which the variant will place media, or none if its media is unused.
    private func comingFromVariant(isExpected: Bool) -> ItemTimeline.Coming {
        if let main = pipelines[.main], main.hasBegun { return .timelines(main.coming) }
        return isExpected && !endedLanes.contains(.main) ? .unknown : .timelines([])
    }
}
