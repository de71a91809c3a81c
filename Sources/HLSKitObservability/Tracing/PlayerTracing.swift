public import HLSKitCore
import Synchronization
public import Tracing

/// Records spans of the activity of players, for swift-distributed-tracing.
///
/// ```swift
/// let tracing = PlayerTracing()
/// tracing.attach(to: player)  // spans belong to the current span
/// ```
///
/// Each item has a span, which contains one span for each request and each stall. Times are from the player's clock.
/// Errors are recorded. URLs are recorded without user, query and fragment.
public final class PlayerTracing: Sendable {
    /// The requests for which spans are recorded.
    public enum RequestSpans: Sendable, Hashable, CaseIterable { case all, failed, none }

    private let tracer: (any Tracer)?
    private let requestSpans: RequestSpans

    /// Creates tracing.
    ///
    /// - Parameters:
    ///   - tracer: The tracer. The default, `nil`, is the tracer of the process (`InstrumentationSystem.bootstrap`)
    ///     when a player is attached.
    ///   - requestSpans: The requests for which spans are recorded. A live stream makes about ten thousand requests per
    ///     day. The default is all.
    public init(tracer: (any Tracer)? = nil, requestSpans: RequestSpans = .all) {
        self.tracer = tracer
        self.requestSpans = requestSpans
    }

    /// Records spans of a player's activity until it is closed or released.
    ///
    /// - Parameters:
    ///   - player: The player. It is not retained.
    ///   - context: The parent context of the items' spans. The default, `nil`, is the context of the caller's task.
    /// - Returns: The observation, which you need not keep.
    @discardableResult
    public func attach(to player: Player, context: ServiceContext? = nil) -> PlayerObservation {
        let recorder = TraceRecorder(
            tracer: tracer ?? InstrumentationSystem.tracer, parent: context ?? ServiceContext.current ?? .topLevel,
            clock: TraceClock(epoch: player.creationDate, origin: player.creationTime), requestSpans: requestSpans)
        // Traces need no periodic samples.
        return PlayerObservation(of: player, interval: .seconds(3600), observer: recorder)
    }
}

private final class TraceRecorder: PlayerObserver {
    private struct State {
        var items: [PlayerItemID: ItemTrace] = [:]
        var current: PlayerItemID?
        /// The reason of the current wait. Time control events belong to the player, not to an item.
        var reason: WaitingReason?
    }

    private let tracer: any Tracer
    private let parent: ServiceContext
    private let clock: TraceClock
    private let requestSpans: PlayerTracing.RequestSpans
    private let state = Mutex(State())

    init(tracer: any Tracer, parent: ServiceContext, clock: TraceClock, requestSpans: PlayerTracing.RequestSpans) {
        self.tracer = tracer
        self.parent = parent
        self.clock = clock
        self.requestSpans = requestSpans
    }

    func observe(_ signal: PlayerSignal, at time: HostTime) {
        state.withLock { state in
            switch signal {
            case .began(let now):
                state.current = now.currentItemID
                state.reason = now.reasonForWaitingToPlay
            case .itemAppeared(let item):
                guard state.items[item.id] == nil else { return }
                state.items[item.id] = ItemTrace(item, by: tracer, parent: parent, clock, at: time)
            case .event(let event): take(event, &state)
            case .metric(let event, let id):
                guard var trace = state.items[id] else { return }
                take(event, &trace)
                state.items[id] = trace
            case .sample: break
            case .itemLeft(let item, let isOver):
                guard var trace = state.items.removeValue(forKey: item.id) else { return }
                trace.end(item, isOver: isOver, at: time)
            case .ended: break
            }
        }
    }

    // MARK: Events

    private func take(_ event: PlayerEvent, _ state: inout State) {
        if case .currentItemChanged(let id) = event.kind { state.current = id }
        if case .timeControl(let change) = event.kind { state.reason = change.reason }
        guard let id = event.item?.id ?? state.current, var trace = state.items[id] else { return }
        let instant = clock.instant(event.hostTime)
        switch event.kind {
        case .timeControl(let change):
            switch change.new {
            case .playing:
                trace.play(at: instant)
                trace.endStall(at: event.hostTime)
            case .paused: trace.endStall(at: event.hostTime)
            case .waitingToPlayAtSpecifiedRate: trace.wait(change.reason)
            }
        case .itemStatusChanged(.readyToPlay): trace.add(.ready, at: instant)
        case .playbackStalled(let itemTime):
            trace.stall(at: event.hostTime, itemTime: itemTime, by: tracer)
            trace.wait(state.reason)
        case .variantSwitched(let old, let new, let explanation):
            var attributes = SpanAttributes([:])
            attributes[.variant] = .string(new.id.rawValue)
            attributes[.oldVariant] = old.map { .string($0.id.rawValue) }
            attributes[.explanation] = .string(explanation)
            trace.add(.variantSwitch, at: instant, attributes)
        case .segmentSkipped(let segments), .segmentsMissed(let segments):
            var attributes = SpanAttributes([:])
            attributes[.mediaSequence] = .int(Int64(segments.first))
            attributes[.segmentDuration] = .double(segments.mediaDuration.seconds)
            attributes[.cause] = .string(segments.cause)
            trace.add(.missing, at: instant, attributes)
        case .recoverableError(let error): trace.add(error, at: instant)
        case .didPlayToEnd: trace.outcome = .ended
        default: break
        }
        state.items[id] = trace
    }

    private func take(_ event: any MetricEvent, _ trace: inout ItemTrace) {
        trace.sessionID = event.context.sessionID
        switch event {
        case let event as MetricHLSPlaylistRequestEvent where event.isMultivariantPlaylist:
            if event.request.error == nil { trace.variantCount = event.variants.count }
        case let event as MetricPlayerItemStallEvent: trace.noteStall(event.variant)
        case is MetricPlayerItemSeekEvent: trace.add(.seek, at: clock.instant(event.context.elapsedTime))
        default: break
        }
        for event in trace.takeRequests(event) {
            guard let span = RequestSpan(event) else { continue }
            switch requestSpans {
            case .none: continue
            case .failed where !span.hasFailed: continue
            case .failed, .all: span.record(by: tracer, parent: trace.span.context, clock)
            }
        }
    }
}
