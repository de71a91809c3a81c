import HLSKitEngine
import HLSKitMedia

/// Names one renderer of a driver: reports of one that was replaced are known by it.
struct RendererID: Hashable, Sendable {
    let rawValue: Int
}

/// Names the renderer of one kind of media of a lane.
struct RendererKey: Hashable, Sendable {
    var lane: LaneID
    var type: MediaKind
}

/// The renderers of an item: made when the first media of their kind comes, moved by seeks, and asked together whether
/// media is decoded, how far it was presented and whether all of it was.
struct RendererSet {
    private struct Active {
        var id: RendererID
        var renderer: TrackRenderer
        var presentedUpTo: Duration?
        var drainedEnd: Duration?
        /// How often its reading place was moved, and after which of the moves the first media was decoded.
        var generation = 0
        var primedGeneration: Int?
        /// Item time of that media.
        var first: Duration?

        /// What was presented up to now counts no longer.
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
    /// Ends of lanes are numbered: one that was taken back is known by it.
    private var lastEnd = 0
    private var endNumbers: [LaneID: Int] = [:]
    /// Where media begins that renderers are still to be made for, and of single ones.
    private var landing: Landing?
    /// Copies of what comes first begin there; nil where they begin at ``landing``.
    private var copiesFrom: Duration?
    private var landings: [RendererKey: Landing] = [:]
    /// The question of the engine whether media is decoded that has no answer yet.
    private var primeNumber: Int?
    /// Up to where lanes without renderers were loaded, which counts as presented.
    private var discarded: [LaneID: Duration] = [:]
    /// Without pacing, up to where all lanes were presented.
    private(set) var presentedTime: Duration?
    private var expectation = TrackExpectation()
    /// Nothing is presented from there on.
    private var limit: Duration?

    /// - Parameter report: called by renderers, on their threads.
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

    /// In the order in which they were made: a dictionary's order changes from run to run.
    private var inOrder: [(key: RendererKey, value: Active)] {
        renderers.sorted { $0.value.id.rawValue < $1.value.id.rawValue }
    }

    private func inOrder(of lane: LaneID) -> [TrackRenderer] {
        inOrder.filter { $0.key.lane == lane }.map(\.value.renderer)
    }

    // MARK: Media

    func has(_ type: MediaKind, of lane: LaneID) -> Bool { renderers[RendererKey(lane: lane, type: type)] != nil }

    /// Hands media to the renderer of its kind, which is made where there is none.
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

    /// Outputs came, went or changed what they take.
    func setModes(_ demand: MediaDemand, _ view: EngineView) {
        for (key, active) in renderers { active.renderer.setMode(limited(demand.mode(of: key.type, view))) }
    }

    private func limited(_ mode: TrackRenderer.Mode) -> TrackRenderer.Mode {
        var mode = mode
        mode.until = limit
        return mode
    }

    /// Nothing is presented from there on, whatever is held; nil takes it back.
    mutating func limit(to time: Duration?) {
        limit = time
        for active in renderers.values { active.renderer.setMode(limited(active.renderer.currentMode)) }
    }

    /// Media of a lane from this item time on is not presented, as far as it was not decoded yet.
    func truncate(_ lane: LaneID, from time: Duration) {
        for renderer in inOrder(of: lane) { renderer.truncate(from: time) }
    }

    /// Another rendition's audio plays from this item time on.
    func cutAudio(from time: Duration) {
        for (key, active) in inOrder where key.type == .audio { active.renderer.truncate(from: time) }
    }

    func evict(_ lane: LaneID, before time: Duration) {
        for renderer in inOrder(of: lane) { renderer.evict(before: time) }
    }

    /// Kinds of media that were wanted too late are presented from there on; what was held of them is of no use.
    mutating func restart(_ kinds: Set<MediaKind>, of lane: LaneID, from landing: Landing) {
        for type in MediaKind.allCases where kinds.contains(type) {
            let key = RendererKey(lane: lane, type: type)
            landings[key] = renderers[key] == nil ? landing : nil
            renderers[key]?.renderer.restart(from: landing)
            renderers[key]?.move()
        }
    }

    // MARK: Lanes side by side

    /// Nothing of these item times comes in this lane.
    func noteHole(_ range: Range<Duration>, of lane: LaneID) {
        note(lane) { $0.noteHole(range, of: $1) }
    }

    /// A segment was handed on, which ends at this item time. Without renderers, its media counts as presented.
    mutating func noteSegment(upTo end: Duration, of lane: LaneID) -> OutputFact? {
        note(lane) { $0.noteHandedOn(upTo: end, of: $1) }
        guard !clock.isPaced, lane != .subtitles, !renderers.keys.contains(where: { $0.lane == lane }) else {
            return nil
        }
        discarded[lane] = end
        return presentedFact()
    }

    /// Tells what keeps the kinds of media side by side of those that a lane gives.
    private func note(_ lane: LaneID, _ body: (Lockstep, MediaKind) -> Void) {
        guard let lockstep = dispatcher.lockstep else { return }
        for key in renderers.keys where key.lane == lane { body(lockstep, key.type) }
    }

    // MARK: What there is

    /// A segment of the lane names tracks of these kinds.
    mutating func expect(_ types: some Sequence<MediaKind>, of lane: LaneID) { expectation.tell(types, of: lane) }

    /// Media of this kind has come.
    mutating func noteCome(_ type: MediaKind, of lane: LaneID) { expectation.give(type, of: lane) }

    /// A segment of the lane is over: kinds that it named and of which nothing came are waited for no longer.
    mutating func noteSegmentOver(of lane: LaneID) { expectation.finish(lane, isLaneOver: false) }

    /// Tells writers which kinds of media will come, once every lane has shown its tracks.
    mutating func tellWriters(needed: [LaneID], wanted: @autoclosure () -> Set<MediaKind>) {
        guard let types = expectation.settle(needed: needed, ended: endedLanes) else { return }
        dispatcher.expect(types.intersection(wanted()))
    }

    // MARK: Ends

    /// Notes that no further segment comes in the lane. Its renderers are told by ``drain(_:)``.
    mutating func end(_ lane: LaneID) {
        endedLanes.insert(lane)
        lastEnd += 1
        endNumbers[lane] = lastEnd
        expectation.finish(lane, isLaneOver: true)
    }

    /// Lets the renderers of a lane that has ended tell when all of it was presented.
    mutating func drain(_ lane: LaneID) -> OutputFact? {
        guard let number = endNumbers[lane] else { return nil }
        for (key, active) in inOrder where key.lane == lane {
            renderers[key]?.drainedEnd = nil
            active.renderer.enqueue([.end(number: number)])
        }
        return drainedFact(of: lane)
    }

    /// The end of the lane was not the end.
    mutating func reopen(_ lane: LaneID) {
        endedLanes.remove(lane)
        for key in renderers.keys where key.lane == lane { renderers[key]?.drainedEnd = nil }
    }

    /// What was loaded in the lane is not presented.
    mutating func clear(_ lane: LaneID) {
        endedLanes.remove(lane)
        // Nobody waits for it.
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

    /// What a renderer presents; nil where it was replaced.
    func mediaType(of id: RendererID) -> MediaKind? { renderers.first { $0.value.id == id }?.key.type }

    /// Takes a report of a renderer. nil where the engine need not know of it.
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
            // An end that was taken back is none.
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

    /// Media is decoded, once all renderers of required lanes have some.
    mutating func primedFact(required: [LaneID]) -> OutputFact? {
        guard let number = primeNumber else { return nil }
        let awaited = renderers.filter { required.contains($0.key.lane) && !$0.value.renderer.isEmpty }
        guard awaited.values.allSatisfy({ $0.primedGeneration == $0.generation }) else { return nil }
        primeNumber = nil
        let first = awaited.first { $0.key.type == .video } ?? awaited.first { $0.key.type == .audio }
        return .primed(number, first: first?.value.first)
    }

    /// The engine asks to be told when media at the playhead is decoded.
    mutating func prime(_ number: Int, required: [LaneID]) -> OutputFact? {
        primeNumber = number
        return primedFact(required: required)
    }

    // MARK: Seeking

    /// Media that comes first is presented from there on.
    mutating func land(on landing: Landing, copiesFrom: Duration?) {
        self.landing = landing
        self.copiesFrom = copiesFrom
    }

    /// Forgets all media: what comes is presented from there on.
    mutating func flush(to landing: Landing, isReverse: Bool) {
        copiesFrom = nil
        move(to: landing, isReverse: isReverse) { $0.flush(to: landing) }
    }

    /// Presents once more what is held, from there on.
    mutating func reposition(to landing: Landing, continuesCopies: Bool) {
        if !continuesCopies { copiesFrom = nil }
        move(to: landing) { $0.reposition(to: landing, continuesCopies: continuesCopies) }
    }

    /// Of lanes that have ended, whether all is presented already.
    var drainedFacts: [OutputFact] { LaneID.allCases.compactMap { drainedFact(of: $0) } }

    private mutating func move(to landing: Landing, isReverse: Bool = false, _ body: (TrackRenderer) -> Void) {
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

    /// The time of the picture that is this many after (or before) the one shown at `time`.
    func time(stepping count: Int, from time: Duration) -> Duration? {
        renderers[RendererKey(lane: .main, type: .video)]?.renderer.time(stepping: count, from: time)
    }

    // MARK: The end

    /// Returns when no renderer works any more.
    func stop() async {
        let renderers = inOrder.map(\.value.renderer)
        for renderer in renderers { renderer.stop() }
        for renderer in renderers { await renderer.waitUntilStopped() }
    }
}
