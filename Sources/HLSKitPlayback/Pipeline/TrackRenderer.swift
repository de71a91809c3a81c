import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import Synchronization

/// Takes the samples of one kind of media, decodes them and hands the result to the outputs when its time has come.
///
/// Each has one task, which drives libavcodec and may block in an output: that is the back-pressure of playing without
/// a clock. So it runs on a thread of its own, but where the player's clock is an executor, on that. Outputs that take
/// samples get them without a decoder.
final class TrackRenderer: Sendable {
    /// What is done with samples.
    struct Mode: Sendable {
        /// Threads that libavcodec may use, 0 for a share of the cores; nil decodes nothing.
        var decodingThreadCount: Int?
        var passesSamples = false
        /// Nothing is presented from there on: a break begins there.
        var until: Duration?
    }

    /// What a renderer tells its player.
    enum Report: Sendable {
        /// Everything up to this item time was handed to the outputs.
        case presented(upTo: Duration)
        /// The end of this number was reached; the last media ends at this item time.
        case drained(end: Duration, number: Int)
        /// After so many moves of the reading place, the first media to be presented is decoded, or there is nothing to
        /// wait for. `first` is its item time.
        case primed(generation: Int, first: Duration?)
        /// Nothing comes out of the decoder for a while; `isAll`: nothing has, from where it began to the end.
        case silent(HLSError, isAll: Bool)
        case failed(HLSError)
        /// The decoder has refused a sample in a way that it had not before.
        case damaged(String)
        /// Readers of outputs' sequences were too slow, and have lost so much since the last report.
        case lostByReaders(Int)
    }

    private enum Notice {
        /// Presenting ends elsewhere than it did: what was passed over may be taken up.
        case limitMoved
        /// Media from there on is replaced.
        case truncated(from: Duration)
    }

    private struct Queue {
        var store: SampleStore
        /// Counts the moves of the reading place: what was read before the last one is let go.
        var generation = 0
        /// Of the last move: copies go on where they were.
        var continuesCopies = false
        var isStopped = false
        /// What the task is to know before the samples that follow.
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

    /// What is done with samples now.
    var currentMode: Mode { mode.withLock(\.self) }

    /// Does something else with samples from the next one on; decoding begins at the next sync sample.
    func setMode(_ mode: Mode) {
        let isLimitMoved = self.mode.withLock { current in
            defer { current = mode }
            return current.until != mode.until
        }
        if isLimitMoved { queue.signal { $0.notices.append(.limitMoved) } }
    }

    /// Starts the task, on a thread of its own unless there is an executor.
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

    /// Forgets all media; what comes next is presented from `landing` on.
    func flush(to landing: Landing) {
        change { queue in
            queue.store.removeAll(landing: landing)
            queue.generation += 1
            queue.continuesCopies = false
        }
    }

    /// Forgets all media, without a jump in time.
    func restart(from landing: Landing) {
        flush(to: landing)
        clock.cancelWait(of: ObjectIdentifier(self))
    }

    /// Presents once more what is held, from `landing` on.
    ///
    /// - Parameter continuesCopies: what was handed over undecoded is not handed over again, and what comes behind it is.
    func reposition(to landing: Landing, continuesCopies: Bool = false) {
        let continues = continuesCopies && currentMode.passesSamples
        change { queue in
            queue.store.reposition(to: landing, keepsCopies: continues)
            queue.generation += 1
            queue.continuesCopies = continues
        }
    }

    /// Drops what was presented and is not needed from `time` on.
    func evict(before time: Duration) {
        change { $0.store.evict(before: time) }
    }

    /// Media from `time` on is not to be presented, as far as it was not decoded yet.
    func truncate(from time: Duration) {
        change { queue in
            queue.store.truncate(from: time)
            queue.notices.append(.truncated(from: time))
        }
    }

    /// As ``SampleStore/time(stepping:from:)``.
    func time(stepping count: Int, from time: Duration) -> Duration? {
        queue.withLock { $0.store.time(stepping: count, from: time) }
    }

    /// The reading place was not moved since.
    func isCurrent(_ generation: Int) -> Bool { queue.withLock { $0.generation == generation } }

    /// Holds no media at all.
    var isEmpty: Bool { queue.withLock { $0.store.isEmpty } }

    private func change(_ body: (inout Queue) -> Void) {
        queue.signal { queue in
            let before = queue.store.byteCount
            body(&queue)
            counts.noteHeld(queue.store.byteCount - before)
        }
    }

    /// Ends the task as soon as it has finished with the output that it is in.
    func stop() {
        change { queue in
            queue.isStopped = true
            queue.store.removeAll(landing: nil)
            dispatcher.lockstep?.end(mediaType)
        }
    }

    /// Returns when the task works no longer.
    func waitUntilStopped() async { await exit.value() }

    // MARK: The task

    private func run() async {
        var worker = RendererWorker(renderer: self)
        while true {
            switch await next(isIdleAllowed: worker.hasPending || worker.hasFirstPicture) {
            case .item(let item, let move, let isPassedOver):
                if move.generation != worker.generation {
                    worker.reset(to: move.generation, continuesCopies: move.continuesCopies)
                }
                worker.isPassedOver = isPassedOver
                await worker.process(item)
            case .notice(let notice, let generation):
                // Nothing is left of what was read before a move.
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
        /// `isPassedOver`: as of ``SampleStore/isPassedOver(_:)``.
        case item(SampleStore.Item, (generation: Int, continuesCopies: Bool), isPassedOver: Bool)
        case notice(Notice, generation: Int)
        case nothing
        case stop
    }

    /// The next item; waits for one unless there is something else to do.
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
                item, (queue.generation, queue.continuesCopies), isPassedOver: queue.store.isPassedOver(item))
        }
    }

    func count(_ body: (inout RendererCounters.Media) -> Void) {
        counts.count(mediaType, body)
    }
}
