import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import Synchronization

/// Decodes the samples of one kind of media, and delivers the results to the outputs when they are due.
///
/// Each renderer has one task, which calls libavcodec and may block in an output. Blocking is the back-pressure of
/// playback without a clock. The task therefore runs on its own thread, unless the player's clock is an executor.
/// Outputs that take samples need no decoder.
final class TrackRenderer: Sendable {
    struct Mode: Sendable {
        /// The number of threads for libavcodec, 0 for a share of the cores, or `nil` to decode nothing.
        var decodingThreadCount: Int?
        var passesSamples = false
        /// The start of a break, from which nothing is presented.
        var until: Duration?
    }

    enum Report: Sendable {
        /// Everything up to this item time was delivered to the outputs.
        case presented(upTo: Duration)
        /// The end with this number was reached. The last media ends at this item time.
        case drained(end: Duration, number: Int)
        /// The first media after a move of the reading position is decoded, or there is no media to wait for.
        ///
        /// `generation` is the number of moves, and `first` is the item time of the media.
        case primed(generation: Int, first: Duration?)
        /// The decoder has produced no output for a while. `isAll`: it never has, from the start to the end.
        case silent(HLSError, isAll: Bool)
        case failed(HLSError)
        /// The decoder has refused a sample with a new error.
        case damaged(String)
        /// The outputs' readers were too slow and have lost this many values since the last report.
        case lostByReaders(Int)
    }

    private enum Notice {
        /// The end of presentation has moved, so media that was held back may be presented.
        case limitMoved
        case truncated(from: Duration)
    }

    private struct Queue {
        var store: SampleStore
        /// The number of moves of the reading position. Media read before the last one is dropped.
        var generation = 0
        /// Whether copies continue after the last move without repetition.
        var continuesCopies = false
        var isStopped = false
        var notices: [Notice] = []
    }

    let mediaType: MediaKind
    private let mode: Mutex<Mode>
    let clock: PresentationClock
    let dispatcher: OutputDispatcher
    let makeDecoder: TrackDecoder.Maker
    private let counts: RendererCounters
    let report: @Sendable (Report) -> Void
    private let queue: Gate<Queue>
    private let exit = OneShot<Void>()

    init(
        mediaType: MediaKind, mode: Mode, store: SampleStore, clock: PresentationClock, dispatcher: OutputDispatcher,
        makeDecoder: @escaping TrackDecoder.Maker, counts: RendererCounters,
        report: @escaping @Sendable (Report) -> Void
    ) {
        queue = Gate(Queue(store: store))
        self.mediaType = mediaType
        self.mode = Mutex(mode)
        self.clock = clock
        self.dispatcher = dispatcher
        self.makeDecoder = makeDecoder
        self.counts = counts
        self.report = report
    }

    var currentMode: Mode { mode.withLock(\.self) }

    /// Changes the processing from the next sample on. Decoding starts at the next sync sample.
    func setMode(_ mode: Mode) {
        let isLimitMoved = self.mode.withLock { current in
            defer { current = mode }
            return current.until != mode.until
        }
        if isLimitMoved { queue.signal { $0.notices.append(.limitMoved) } }
    }

    /// Starts the task on an executor or, without one, on its own thread.
    func start(on executor: (any TaskExecutor)?) {
        let thread = executor == nil ? ThreadExecutor() : nil
        guard let executor = executor ?? thread else {
            exit.set(())
            report(.failed(HLSError(code: .internal, cause: "no thread to decode \(mediaType.rawValue)")))
            return
        }
        Task(executorPreference: executor) { [self] in
            await run()
            exit.set(())
            thread?.finish()
        }
    }

    func enqueue(_ elements: [SampleStore.Element]) {
        guard !elements.isEmpty else { return }
        change { queue in
            queue.store.append(elements)
            dispatcher.lockstep?.setIdle(false, mediaType)
        }
    }

    func flush(to landing: SeekTarget) {
        change { queue in
            queue.store.removeAll(landing: landing)
            queue.generation += 1
            queue.continuesCopies = false
        }
    }

    /// Drops all media without a jump in time.
    func restart(from landing: SeekTarget) {
        flush(to: landing)
        clock.cancelWait(of: ObjectIdentifier(self))
    }

    /// Presents media in the store again from `landing` on.
    ///
    /// - Parameter continuesCopies: Whether undecoded samples continue after those already delivered, without
    ///   repetition.
    func reposition(to landing: SeekTarget, continuesCopies: Bool = false) {
        let continues = continuesCopies && currentMode.passesSamples
        change { queue in
            queue.store.reposition(to: landing, keepsCopies: continues)
            queue.generation += 1
            queue.continuesCopies = continues
        }
    }

    func evict(before time: Duration) {
        change { $0.store.evict(before: time) }
    }

    func truncate(from time: Duration) {
        change { queue in
            queue.store.truncate(from: time)
            queue.notices.append(.truncated(from: time))
        }
    }

    func time(stepping count: Int, from time: Duration) -> Duration? {
        queue.withLock { $0.store.time(stepping: count, from: time) }
    }

    func isCurrent(_ generation: Int) -> Bool { queue.withLock { $0.generation == generation } }

    var isEmpty: Bool { queue.withLock { $0.store.isEmpty } }

    private func change(_ body: (inout Queue) -> Void) {
        queue.signal { queue in
            let before = queue.store.byteCount
            body(&queue)
            counts.noteHeld(queue.store.byteCount - before)
        }
    }

    /// Ends the task after the output call in progress.
    func stop() {
        change { queue in
            queue.isStopped = true
            queue.store.removeAll(landing: nil)
            dispatcher.lockstep?.end(mediaType)
        }
    }

    func waitUntilStopped() async { await exit.value() }

    // MARK: The task

    private func run() async {
        var worker = RendererWorker(renderer: self)
        while true {
            switch await next(isIdleAllowed: worker.hasPending || worker.hasFirstFrame) {
            case .item(let item, let move, let isSkipped):
                if move.generation != worker.generation {
                    worker.reset(to: move.generation, continuesCopies: move.continuesCopies)
                }
                worker.isSkipped = isSkipped
                await worker.process(item)
            case .notice(let notice, let generation):
                // A move has dropped everything that was read before it.
                guard generation == worker.generation else { break }
                switch notice {
                case .limitMoved: await worker.followLimit()
                case .truncated(let time): worker.truncate(from: time)
                }
            case .nothing: await worker.useIdleTime()
            case .stop: return
            }
        }
    }

    private enum Next {
        case item(SampleStore.Item, (generation: Int, continuesCopies: Bool), isSkipped: Bool)
        case notice(Notice, generation: Int)
        case nothing
        case stop
    }

    private func next(isIdleAllowed: Bool) async -> Next {
        await queue.wait { queue -> Next? in
            if queue.isStopped { return .stop }
            if !queue.notices.isEmpty {
                return .notice(queue.notices.removeFirst(), generation: queue.generation)
            }
            let before = queue.store.byteCount
            guard let item = queue.store.next() else {
                dispatcher.lockstep?.setIdle(true, mediaType)
                return isIdleAllowed ? .nothing : nil
            }
            counts.noteHeld(queue.store.byteCount - before)
            return .item(
                item, (queue.generation, queue.continuesCopies), isSkipped: queue.store.isSkipped(item))
        }
    }

    func count(_ body: (inout RendererCounters.Media) -> Void) {
        counts.count(mediaType, body)
    }
}
