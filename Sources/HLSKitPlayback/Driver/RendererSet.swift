import HLSKitEngine
import HLSKitMedia
import HLSKitOutput

/// Identifies a renderer of a driver, to detect reports of replaced renderers.
struct RendererID: Hashable, Sendable {
    let rawValue: Int
}

struct RendererKey: Hashable, Sendable {
    var lane: LaneID
    var type: MediaKind
}

/// The renderers of an item.
///
/// A renderer is created for the first media of its kind. Seeks move all renderers together. The set determines whether
/// media is decoded, how far it was presented, and whether all of it was.
struct RendererSet {
    private struct Active {
        var id: RendererID
        var renderer: TrackRenderer
        var presentedUpTo: Duration?
        var drainedEnd: Duration?
        /// The number of moves of the reading position, and the move after which the first media was decoded.
        var generation = 0
        var primedGeneration: Int?
        /// The item time of that media.
        var first: Duration?

        mutating func move() {
            drainedEnd = nil
            presentedUpTo = nil
            generation += 1
        }
    }

    private let clock: PresentationClock
    private let dispatcher: OutputDispatcher
    private let counters: RendererCounters
    private let makeDecoder: TrackDecoder.Maker
    private let executor: (any TaskExecutor)?
    private let report: @Sendable (LaneID, RendererID, TrackRenderer.Report) -> Void
    private var renderers: [RendererKey: Active] = [:]
    private var lastID = 0
    private var endedLanes: Set<LaneID> = []
    /// The number of the last end, which identifies ends that were revoked.
    private var lastEnd = 0
    private var endNumbers: [LaneID: Int] = [:]
    /// The start of presentation for future renderers. `landings` overrides it for individual ones.
    private var landing: SeekTarget?
    /// The start of copies for future renderers, or `nil` if it is ``landing``.
    private var copiesFrom: Duration?
    private var landings: [RendererKey: SeekTarget] = [:]
    private var primeNumber: Int?
    /// The end of the loaded media in lanes without renderers, which counts as presented.
    private var discarded: [LaneID: Duration] = [:]
    /// The time up to which all lanes were presented, without pacing.
    private(set) var presentedTime: Duration?
    private var expectation = TrackExpectation()
    private var limit: Duration?

    /// - Parameter report: Called by renderers on their threads.
    init(
        clock: PresentationClock, dispatcher: OutputDispatcher, counters: RendererCounters,
        makeDecoder: @escaping TrackDecoder.Maker, executor: (any TaskExecutor)?,
        report: @escaping @Sendable (LaneID, RendererID, TrackRenderer.Report) -> Void
    ) {
        self.clock = clock
        self.dispatcher = dispatcher
        self.counters = counters
        self.makeDecoder = makeDecoder
        self.executor = executor
        self.report = report
    }

    /// The renderers in order of creation, because a dictionary's order differs between runs.
    private var inOrder: [(key: RendererKey, value: Active)] {
        renderers.sorted { $0.value.id.rawValue < $1.value.id.rawValue }
    }

    private func inOrder(of lane: LaneID) -> [TrackRenderer] {
        inOrder.filter { $0.key.lane == lane }.map(\.value.renderer)
    }

    // MARK: Media

    func has(_ type: MediaKind, of lane: LaneID) -> Bool { renderers[RendererKey(lane: lane, type: type)] != nil }

    /// Keeps other kinds of media in step with kinds that are about to begin.
    func join(_ types: some Sequence<MediaKind>) {
        for type in types where dispatcher.registry.writersWantSamples(of: type) { dispatcher.lockstep?.join(type) }
    }

    mutating func enqueue(
        _ elements: [SampleStore.Element], _ type: MediaKind, of lane: LaneID,
        mode: @autoclosure () -> TrackRenderer.Mode,
        keepsPresented: Bool
    ) {
        let key = RendererKey(lane: lane, type: type)
        if let active = renderers[key] { return active.renderer.enqueue(elements) }
        lastID += 1
        let id = RendererID(rawValue: lastID)
        let mode = mode()
        let store = SampleStore(
            keepsRead: keepsPresented, landing: landings.removeValue(forKey: key) ?? landing,
            copiesFrom: mode.passesSamples ? copiesFrom : nil)
        let report = report
        let renderer = TrackRenderer(
            mediaType: type, mode: limited(mode), store: store, clock: clock, dispatcher: dispatcher,
            makeDecoder: makeDecoder, counts: counters
        ) { report(lane, id, $0) }
        renderers[key] = Active(id: id, renderer: renderer)
        renderer.start(on: executor)
        renderer.enqueue(elements)
    }

    func setModes(_ demand: MediaDemand, _ view: EngineView) {
        for (key, active) in renderers { active.renderer.setMode(limited(demand.mode(of: key.type, view))) }
    }

    private func limited(_ mode: TrackRenderer.Mode) -> TrackRenderer.Mode {
        var mode = mode
        mode.until = limit
        return mode
    }

    /// Limits presentation to media before `time`, or removes the limit if it is `nil`.
    mutating func limit(to time: Duration?) {
        limit = time
        for active in renderers.values { active.renderer.setMode(limited(active.renderer.currentMode)) }
    }

    /// Removes undecoded media of a lane from this item time on.
    func truncate(_ lane: LaneID, from time: Duration) {
        for renderer in inOrder(of: lane) { renderer.truncate(from: time) }
    }

    func cutAudio(from time: Duration) {
        for (key, active) in inOrder where key.type == .audio { active.renderer.truncate(from: time) }
    }

    func evict(_ lane: LaneID, before time: Duration) {
        for renderer in inOrder(of: lane) { renderer.evict(before: time) }
    }

    /// Presents kinds of media that were wanted too late from `landing` on. Their earlier media is dropped.
    mutating func restart(_ kinds: Set<MediaKind>, of lane: LaneID, from landing: SeekTarget) {
        for type in MediaKind.allCases where kinds.contains(type) {
            let key = RendererKey(lane: lane, type: type)
            landings[key] = renderers[key] == nil ? landing : nil
            renderers[key]?.renderer.restart(from: landing)
            renderers[key]?.move()
        }
    }

    // MARK: Lanes side by side

    func noteMissingMedia(_ range: Range<Duration>, of lane: LaneID) {
        note(lane) { $0.noteMissingMedia(range, of: $1) }
    }

    /// Called when a segment was handed on. Without renderers, its media counts as presented.
    mutating func noteSegment(upTo end: Duration, of lane: LaneID) -> OutputFact? {
        note(lane) { $0.noteHandedOn(upTo: end, of: $1) }
        guard !clock.isPaced, lane != .subtitles, !renderers.keys.contains(where: { $0.lane == lane }) else {
            return nil
        }
        discarded[lane] = end
        return presentedFact()
    }

    private func note(_ lane: LaneID, _ body: (TrackInterleaver, MediaKind) -> Void) {
        guard let lockstep = dispatcher.lockstep else { return }
        for key in renderers.keys where key.lane == lane { body(lockstep, key.type) }
    }

    // MARK: What there is

    mutating func expect(_ tracks: [MediaTrack], of lane: LaneID) {
        // Only the header of MP4 names all tracks.
        let mayGrow = tracks.allSatisfy { $0.sampleEntry.isEmpty }
        expectation.report(tracks.map(\.mediaType), of: lane, mayGrow: mayGrow)
    }

    mutating func noteCome(_ type: MediaKind, of lane: LaneID) { expectation.give(type, of: lane) }

    mutating func noteSegmentOver(of lane: LaneID) { expectation.finish(lane, isLaneOver: false) }

    /// Reports the kinds of media to writers, once every lane has announced its tracks.
    mutating func notifyWriters(needed: [LaneID], wanted: @autoclosure () -> Set<MediaKind>) {
        if let possible = expectation.takePossible() { dispatcher.announce(possible.intersection(wanted())) }
        guard let types = expectation.settle(needed: needed, ended: endedLanes) else { return }
        dispatcher.expect(types.intersection(wanted()))
    }

    // MARK: Ends

    mutating func end(_ lane: LaneID) {
        endedLanes.insert(lane)
        lastEnd += 1
        endNumbers[lane] = lastEnd
        expectation.finish(lane, isLaneOver: true)
    }

    mutating func drain(_ lane: LaneID) -> OutputFact? {
        guard let number = endNumbers[lane] else { return nil }
        for (key, active) in inOrder where key.lane == lane {
            renderers[key]?.drainedEnd = nil
            active.renderer.enqueue([.end(number: number)])
        }
        return drainedFact(of: lane)
    }

    mutating func reopen(_ lane: LaneID) {
        endedLanes.remove(lane)
        for key in renderers.keys where key.lane == lane { renderers[key]?.drainedEnd = nil }
    }

    mutating func clear(_ lane: LaneID) {
        endedLanes.remove(lane)
        // The position of the dropped media no longer matters.
        discarded[lane] = nil
        for key in renderers.keys where key.lane == lane { renderers[key]?.presentedUpTo = nil }
    }

    private func drainedFact(of lane: LaneID) -> OutputFact? {
        guard endedLanes.contains(lane) else { return nil }
        let fed = renderers.filter { $0.key.lane == lane }.values
        guard fed.allSatisfy({ $0.drainedEnd != nil }) else { return nil }
        return .drained(lane, end: fed.compactMap(\.drainedEnd).max())
    }

    // MARK: Reports

    func mediaType(of id: RendererID) -> MediaKind? { renderers.first { $0.value.id == id }?.key.type }

    mutating func take(
        _ report: TrackRenderer.Report, of id: RendererID, _ lane: LaneID, required: [LaneID]
    ) -> OutputFact? {
        guard let key = renderers.first(where: { $0.value.id == id })?.key else { return nil }
        switch report {
        case .presented(let time):
            renderers[key]?.presentedUpTo = time
            return presentedFact()
        case .primed(let generation, let first):
            renderers[key]?.primedGeneration = generation
            renderers[key]?.first = first
            return primedFact(required: required)
        case .drained(let end, let number):
            // Ignore an end that was revoked.
            guard endedLanes.contains(lane), endNumbers[lane] == number else { return nil }
            renderers[key]?.drainedEnd = end
            return drainedFact(of: lane)
        case .silent(let error, let isAll): return .undecodable(lane, error, isAll: isAll)
        case .failed(let error): return .failed(error)
        case .damaged, .lostByReaders: return nil
        }
    }

    private mutating func presentedFact() -> OutputFact? {
        guard !clock.isPaced else { return nil }
        var times = renderers.values.filter { $0.drainedEnd == nil }.compactMap(\.presentedUpTo)
        times += discarded.filter { lane, _ in !endedLanes.contains(lane) }.values
        guard let time = times.min() else { return nil }
        presentedTime = time
        return .presented(upTo: time)
    }

    /// Returns the answer to the engine's query once all renderers in required lanes have decoded media.
    mutating func primedFact(required: [LaneID]) -> OutputFact? {
        guard let number = primeNumber else { return nil }
        let awaited = renderers.filter { required.contains($0.key.lane) && !$0.value.renderer.isEmpty }
        guard awaited.values.allSatisfy({ $0.primedGeneration == $0.generation }) else { return nil }
        primeNumber = nil
        let first = awaited.first { $0.key.type == .video } ?? awaited.first { $0.key.type == .audio }
        return .primed(number, first: first?.value.first)
    }

    mutating func prime(_ number: Int, required: [LaneID]) -> OutputFact? {
        primeNumber = number
        return primedFact(required: required)
    }

    // MARK: Seeking

    mutating func land(on landing: SeekTarget, copiesFrom: Duration?) {
        self.landing = landing
        self.copiesFrom = copiesFrom
    }

    mutating func flush(to landing: SeekTarget, isReverse: Bool) {
        copiesFrom = nil
        move(to: landing, isReverse: isReverse) { $0.flush(to: landing) }
    }

    mutating func reposition(to landing: SeekTarget, continuesCopies: Bool) {
        if !continuesCopies { copiesFrom = nil }
        move(to: landing) { $0.reposition(to: landing, continuesCopies: continuesCopies) }
    }

    var drainedFacts: [OutputFact] { LaneID.allCases.compactMap { drainedFact(of: $0) } }

    private mutating func move(to landing: SeekTarget, isReverse: Bool = false, _ body: (TrackRenderer) -> Void) {
        self.landing = landing
        primeNumber = nil
        clock.flush(at: landing.time, isReverse: isReverse)
        dispatcher.lockstep?.restart()
        for (key, active) in inOrder {
            body(active.renderer)
            renderers[key]?.move()
        }
        discarded = [:]
        presentedTime = nil
    }

    func time(stepping count: Int, from time: Duration) -> Duration? {
        renderers[RendererKey(lane: .main, type: .video)]?.renderer.time(stepping: count, from: time)
    }

    // MARK: The end

    func stop() async {
        let renderers = inOrder.map(\.value.renderer)
        for renderer in renderers { renderer.stop() }
        for renderer in renderers { await renderer.waitUntilStopped() }
    }
}

// MARK: - Announced tracks

extension RendererSet {
    /// Determines the kinds of media of an item for users that need to know them before they start.
    ///
    /// These are the kinds that its lanes announce, except for those without media.
    struct TrackExpectation: Sendable {
        private var reported: [LaneID: Set<MediaKind>] = [:]
        private var given: [LaneID: Set<MediaKind>] = [:]
        private var isSettled = false
        /// The kinds that lanes have announced, with or without media, and the lanes that may soon announce others.
        private var announced: Set<MediaKind> = []
        private var growing: Set<LaneID> = []
        private var known: Set<LaneID> = []
        private var possible: Set<MediaKind>?

        /// Called when a segment of a lane announces tracks of these kinds. It has no effect on the result after that
        /// is final.
        ///
        /// - Parameter mayGrow: Whether the lane's first segment may announce further tracks.
        mutating func report(_ types: some Sequence<MediaKind>, of lane: LaneID, mayGrow: Bool = false) {
            guard lane != .subtitles else { return }
            announced.formUnion(types)
            if known.insert(lane).inserted, mayGrow { growing.insert(lane) }
            guard !isSettled else { return }
            reported[lane, default: []].formUnion(types)
        }

        /// Returns the kinds that may still begin, whenever they have changed.
        mutating func takePossible() -> Set<MediaKind>? {
            let new = growing.isEmpty ? announced : announced.union([.video, .audio])
            guard new != possible else { return nil }
            possible = new
            return new
        }

        mutating func give(_ type: MediaKind, of lane: LaneID) { given[lane, default: []].insert(type) }

        /// Called when a segment of a lane, or the lane, has ended. Removes announced kinds without media.
        ///
        /// If media of such a kind arrives later, the result changes.
        mutating func finish(_ lane: LaneID, isLaneOver: Bool) {
            growing.remove(lane)
            guard let types = reported[lane] else { return }
            let real = types.intersection(given[lane] ?? [])
            guard real != types, !real.isEmpty || isLaneOver else { return }
            reported[lane] = real
            isSettled = false
        }

        /// Returns the kinds whenever they have changed, or `nil` while a needed lane has not announced its tracks.
        mutating func settle(needed: [LaneID], ended: Set<LaneID>) -> Set<MediaKind>? {
            guard !isSettled, !needed.isEmpty, needed.allSatisfy({ reported[$0] != nil || ended.contains($0) }) else {
                return nil
            }
            isSettled = true
            return reported.values.reduce(into: []) { $0.formUnion($1) }
        }
    }
}
