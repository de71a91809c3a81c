import HLSKitCaptions
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection

/// Presents the output of an item's lanes.
///
/// It distributes the output to renderers, cues and metadata, and moves them together when time jumps.
struct MediaPresenter {
    struct News {
        var events: [EngineEvent] = []
        var published: [PlayerEvent.Kind] = []
        var isSegmentOver = false
    }

    let dispatcher: OutputDispatcher
    private let clock: PresentationClock
    private let outputClock: @Sendable () -> OutputClock
    private var renderers: RendererSet
    private var cues: CuePresenter
    private var metadata: MetadataPresenter
    private var isSuspended = false

    init(
        _ configuration: DriverConfiguration, _ channel: EngineChannel, inbox: DriverInbox, counters: RendererCounters
    ) {
        let clock = PresentationClock(isPaced: configuration.isPaced, clock: channel.clock, isHeld: true) {
            inbox.wake()
        }
        let (registry, audio) = (configuration.outputs, channel.audio)
        let outputClock: @Sendable () -> OutputClock = {
            var outputClock = clock.outputClock
            outputClock.gain = audio.gain
            outputClock.pitchAlgorithm = registry.pitchAlgorithm
            return outputClock
        }
        let dispatcher = OutputDispatcher(
            registry: registry, clock: outputClock, isHeld: true, isPaced: configuration.isPaced)
        self.clock = clock
        self.outputClock = outputClock
        self.dispatcher = dispatcher
        renderers = RendererSet(
            clock: clock, dispatcher: dispatcher, counters: counters, makeDecoder: configuration.makeDecoder,
            executor: channel.clock.executor
        ) { lane, id, report in inbox.post(.renderer(lane, id, report)) }
        cues = CuePresenter(dispatcher: dispatcher)
        metadata = MetadataPresenter(dispatcher: dispatcher)
    }

    func open(_ registry: OutputRegistry, noteChange: @escaping @Sendable () -> Void) {
        registry.open(clock: outputClock, noteChange: noteChange)
    }

    /// The current item time. Without pacing, the position of the outputs, or `nil` before anything was presented.
    var time: Duration? { clock.isPaced ? clock.now : renderers.presentedTime }

    var shownTime: Duration? { isSuspended ? nil : time }

    var nextDue: Duration? {
        let others = [cues.nextDue, dispatcher.nextDelivery].map { $0.flatMap { clock.hostTime(of: $0) } }
        return ([clock.nextDue] + others).compactMap(\.self).min()
    }

    func wakeDue() { clock.wakeDue() }

    // MARK: Media

    /// Hands on the output of a lane. The engine must handle the news before ``settle(_:of:_:)`` is called.
    mutating func handOn(_ report: LaneReport, _ demand: MediaDemand, _ view: EngineView) -> News {
        cues.timeline = report.timeline
        let lane = report.lane
        var news = News()
        guard !report.output.isEmpty else { return news }
        var samples: [MediaKind: [SampleStore.Element]] = [:]
        var facts: [MediaFact] = []
        var syncTimes: [Duration] = []
        for element in report.output {
            switch element {
            case .track(var track, let window, _):
                if track.mediaType == .audio, let audible = view.audible {
                    // The playlist knows its renditions better than their files do.
                    track.language =
                        lane == .audio ? audible.language ?? track.language : track.language ?? audible.language
                    if lane == .audio || !view.hasAudioLane { track.label = audible.label }
                }
                renderers.noteCome(track.mediaType, of: lane)
                if lane == .main, track.mediaType == .video { cues.begin(track, isStill: window.isStill) }
                samples[track.mediaType, default: []].append(.track(track, window: window))
            case .parameterSets(let sets, let type): samples[type, default: []].append(.parameterSets(sets))
            case .sample(let sample, let type, let offset):
                if lane == .main, type == .video { cues.add(sample, offset: offset) }
                samples[type, default: []].append(.sample(sample, offset: offset))
            case .sync(let time): syncTimes.append(time)
            case .cut(let time):
                samples = [:]
                renderers.cutAudio(from: time)
            case .cues(let batch): cues.add(batch, view, now: time ?? .zero)
            case .closedCaptions(let data, let time, let duration): cues.add(data, at: time, duration: duration)
            case .metadata(let found, let time, let segment):
                guard let group = metadata.add(found, at: time, view) else { break }
                news.events.append(.media(.metadata(segment, group)))
            case .fact(let fact):
                if case .tracks(_, let tracks) = fact {
                    renderers.expect(tracks, of: lane)
                    notifyWriters(demand, view)
                }
                facts.append(fact)
            case .omitted(var error):
                error.urlString = view.url
                news.published.append(.recoverableError(error))
            case .note(let text): news.published.append(.warning(text))
            }
        }
        if let fact = cues.settle(view) { news.events.append(.media(fact)) }
        // The variant's own audio was replaced by the audio of a rendition.
        if lane == .main, view.hasReplacedAudio { samples[.audio] = nil }
        // Media that only places metadata is not presented.
        samples = samples.filter { renderers.has($0.key, of: lane) || demand.isTaken($0.key, view) }
        renderers.join(samples.keys.filter { !renderers.has($0, of: lane) })
        for type in MediaKind.allCases {
            guard let elements = samples[type] else { continue }
            renderers.enqueue(
                elements, type, of: lane, mode: demand.mode(of: type, view), keepsPresented: view.keepsPresented)
        }
        if !syncTimes.isEmpty { news.events.append(.media(.syncSamples(lane, syncTimes))) }
        for fact in facts {
            news.events.append(.media(fact))
            guard case .segmentEnded(_, _, let end) = fact else { continue }
            if let fact = renderers.noteSegment(upTo: end, of: lane) { news.events.append(.output(fact)) }
            news.isSegmentOver = true
        }
        return news
    }

    mutating func settle(_ news: News, of lane: LaneID, _ demand: MediaDemand, _ view: EngineView) {
        guard news.isSegmentOver else { return }
        renderers.noteSegmentOver(of: lane)
        notifyWriters(demand, view)
    }

    private mutating func notifyWriters(_ demand: MediaDemand, _ view: EngineView) {
        renderers.notifyWriters(needed: view.requiredLanes, wanted: demand.types(view))
    }

    mutating func truncate(_ lane: LaneID, from time: Duration) {
        if lane == .main { cues.truncate(from: time) }
        renderers.truncate(lane, from: time)
    }

    func skip(_ range: Range<Duration>, of lane: LaneID) { renderers.noteMissingMedia(range, of: lane) }

    func evict(_ lane: LaneID, before time: Duration) { renderers.evict(lane, before: time) }

    mutating func restart(_ kinds: Set<MediaKind>, of lane: LaneID, from landing: SeekTarget) {
        renderers.restart(kinds, of: lane, from: landing)
    }

    // MARK: Ends of lanes

    mutating func end(_ lane: LaneID, _ demand: MediaDemand, _ view: EngineView) {
        renderers.end(lane)
        notifyWriters(demand, view)
    }

    mutating func drain(_ lane: LaneID, _ view: EngineView) -> [EngineEvent] {
        var events: [EngineEvent] = []
        if lane == .main {
            cues.finish()
            if let fact = cues.settle(view) { events.append(.media(fact)) }
        }
        if let fact = renderers.drain(lane) { events.append(.output(fact)) }
        return events
    }

    mutating func reopen(_ lane: LaneID) { renderers.reopen(lane) }

    mutating func clear(_ lane: LaneID) {
        renderers.clear(lane)
        if lane == .subtitles { cues.clear(at: time ?? .zero) }
    }

    mutating func showKnownCaptions(_ view: EngineView) { cues.showKnown(at: time ?? .zero, view) }

    // MARK: Time

    mutating func deliverDue(at time: Duration, _ view: EngineView) -> [LegibleCue] {
        let due = cues.takeDue(at: time, view)
        dispatcher.deliver(upTo: time)
        return dispatcher.registry.suppressesCues ? [] : due
    }

    mutating func release() {
        isSuspended = false
        dispatcher.release()
        clock.release()
    }

    mutating func hold() {
        isSuspended = true
        clock.hold()
        dispatcher.hold()
    }

    mutating func limit(to time: Duration?) { renderers.limit(to: time) }

    func setTimebase(_ timebase: TimebaseState) { clock.setTimebase(timebase) }

    func fail() { dispatcher.end() }

    // MARK: Jumps

    mutating func land(on landing: SeekTarget, copiesFrom: Duration?) {
        renderers.land(on: landing, copiesFrom: copiesFrom)
    }

    mutating func flush(to landing: SeekTarget, isReverse: Bool) {
        renderers.flush(to: landing, isReverse: isReverse)
        cues.flush(to: landing.time)
        metadata.flush()
        dispatcher.flush(generation: clock.generation)
    }

    mutating func reposition(to landing: SeekTarget, continuesCopies: Bool) -> [EngineEvent] {
        renderers.reposition(to: landing, continuesCopies: continuesCopies)
        dispatcher.flush(generation: clock.generation)
        cues.rewind(to: landing.time)
        metadata.rewind(to: landing.time)
        return renderers.drainedFacts.map { .output($0) }
    }

    func time(stepping count: Int, from time: Duration) -> Duration? { renderers.time(stepping: count, from: time) }

    // MARK: Renderers

    mutating func prime(_ number: Int, _ view: EngineView) -> OutputFact? {
        renderers.prime(number, required: view.requiredLanes)
    }

    /// Returns the pending fact if the required lanes are primed. They may have changed.
    mutating func primedFact(_ view: EngineView) -> OutputFact? { renderers.primedFact(required: view.requiredLanes) }

    mutating func take(
        _ report: TrackRenderer.Report, of id: RendererID, _ lane: LaneID, _ view: EngineView
    ) -> OutputFact? {
        renderers.take(report, of: id, lane, required: view.requiredLanes)
    }

    func mediaType(of id: RendererID) -> MediaKind? { renderers.mediaType(of: id) }

    // MARK: Outputs

    /// Called when an output was added. `tracker` returns the variant's playlist.
    mutating func welcome(
        _ entry: OutputRegistry.OutputEntry, _ tracker: () -> PlaylistTracker?
    ) throws(HLSError) {
        if let receiver = entry.cues { cues.welcome(receiver) }
        if let receiver = entry.metadata { metadata.welcome(receiver, from: time ?? .zero) }
        if let receiver = entry.dateRanges { metadata.welcome(receiver, tracker) }
        try dispatcher.welcome(entry)
    }

    func setModes(_ demand: MediaDemand, _ view: EngineView) { renderers.setModes(demand, view) }

    mutating func readDateRanges(_ tracker: () -> PlaylistTracker?) { metadata.readDateRanges(tracker) }

    mutating func close(_ outputs: OutputRegistry, _ view: EngineView) async {
        cues.end(view)
        clock.close()
        dispatcher.close()
        outputs.close()
        await renderers.stop()
    }
}
