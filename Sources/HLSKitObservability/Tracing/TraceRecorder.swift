import HLSKitCore
import Synchronization
import Tracing

/// Keeps the spans of one player's items.
final class TraceRecorder: PlayerObserver {
    private struct State {
        var items: [PlayerItemID: ItemTrace] = [:]
        var current: PlayerItemID?
        /// What is waited for; events of time control are the player's, not an item's.
        var reason: WaitingReason?
        /// Items of assets that have not been played yet.
        var waiting: [PlayerItemID: WaitingAsset] = [:]
        /// A break that was under way when looking began.
        var running: InterstitialProgress?
        /// Where the current item was then.
        var itemTime = MediaTime.indefinite
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
                state.running = now.interstitial
                state.itemTime = now.currentTime
            case .itemAppeared(let item): begin(item, at: time, &state)
            case .event(let event):
                if let item = event.item, item.isInterstitial {
                    take(signal, ofAsset: item.id, &state)
                } else {
                    take(event, &state)
                }
            case .metric(_, let id) where state.waiting[id] != nil: take(signal, ofAsset: id, &state)
            case .metric(let event, let id):
                guard var trace = state.items[id] else { return }
                take(event, &trace)
                state.items[id] = trace
            case .sample: break
            case .itemLeft(let item, let isOver):
                open(item.id, &state)
                guard var trace = state.items.removeValue(forKey: item.id) else { return }
                trace.end(item, isOver: isOver, at: time)
            case .ended: break
            }
        }
    }

    private func begin(_ item: PlayerItem, at time: HostTime, _ state: inout State) {
        guard state.items[item.id] == nil else { return }
        guard !item.isInterstitial else {
            let primary = state.current.flatMap { state.items[$0] }
            state.waiting[item.id] = WaitingAsset(item, context: primary?.span.context ?? parent, at: time)
            // One that plays already.
            if state.running?.itemID == item.id { open(item.id, &state) }
            return
        }
        var trace = ItemTrace(item, by: tracer, parent: parent, clock, at: time)
        if item.id == state.current, let progress = state.running {
            trace.beginBreak(at: state.itemTime, by: tracer, at: time)
            trace.begin(progress.event, by: tracer, at: time)
        }
        state.items[item.id] = trace
    }

    // MARK: Assets

    /// What happens to the item of an asset. It is kept until it plays: then its span belongs to the event that plays it.
    private func take(_ signal: PlayerSignal, ofAsset id: PlayerItemID, _ state: inout State) {
        guard var asset = state.waiting.removeValue(forKey: id) else {
            if case .event(let event) = signal { take(event, &state) }
            return
        }
        let isFull = !asset.keep(signal)
        if case .event(let event) = signal, case .timeControl(let change) = event.kind, change.new != .paused {
            asset.isPlayed = true
        }
        // An asset is told to play before its event is told to have begun.
        let hasEvent = state.current.flatMap { state.items[$0]?.contextOfEvent } != nil
        let begins = isFull || asset.isPlayed && hasEvent
        state.waiting[id] = asset
        if begins { open(id, &state) }
    }

    /// Begins the span of an asset's item, as of when it was heard of.
    private func open(_ id: PlayerItemID, _ state: inout State) {
        guard let asset = state.waiting.removeValue(forKey: id) else { return }
        let context = state.current.flatMap { state.items[$0]?.contextOfEvent } ?? asset.context
        var trace = ItemTrace(asset.item, by: tracer, parent: context, clock, at: asset.began)
        for signal in asset.signals {
            switch signal {
            case .event(let event): take(event, of: &trace, reason: trace.reason)
            case .metric(let event, _): take(event, &trace)
            default: break
            }
        }
        state.items[id] = trace
    }

    // MARK: Events

    private func take(_ event: PlayerEvent, _ state: inout State) {
        if case .currentItemChanged(let id) = event.kind { state.current = id }
        if case .timeControl(let change) = event.kind, event.item?.isInterstitial != true {
            state.reason = change.reason
        }
        guard let id = event.item?.id ?? state.current, var trace = state.items[id] else { return }
        let isAsset = event.item?.isInterstitial == true
        take(event, of: &trace, reason: isAsset ? trace.reason : state.reason)
        state.items[id] = trace
        guard case .interstitialEventBegan = event.kind else { return }
        for id in state.waiting.filter({ $0.value.isPlayed }).map(\.key) { open(id, &state) }
    }

    /// - Parameter reason: what is waited for.
    private func take(_ event: PlayerEvent, of trace: inout ItemTrace, reason: WaitingReason?) {
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
            trace.wait(reason)
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
        case .interstitialBreakBegan(let itemTime):
            trace.beginBreak(at: itemTime, by: tracer, at: event.hostTime)
        case .interstitialEventBegan(let interstitial):
            trace.begin(interstitial, by: tracer, at: event.hostTime)
        case .interstitialEventEnded(let interstitial, let outcome, let played):
            trace.end(interstitial, outcome, played: played, at: event.hostTime)
        case .interstitialBreakEnded(let time): trace.endBreak(resumingAt: time, at: event.hostTime)
        case .interstitialAssetListStatusChanged(let interstitial, let status):
            trace.add(status, of: interstitial, at: instant)
        case .interstitialSkippableStateChanged(let interstitial, let state):
            trace.add(state, of: interstitial, at: instant)
        case .interstitialSeekRefused(let interstitial): trace.refuseSeek(because: interstitial, at: instant)
        default: break
        }
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
