import HLSKitCore
import Tracing

/// The span of one item, with what is known of it until it ends.
struct ItemTrace: Sendable {
    /// Events and errors that a span keeps; an item may play for years.
    static let eventLimit = 128

    let span: any Span
    private let clock: TraceClock
    private var eventCount = 0
    private var droppedCount = 0
    private var hasPlayed = false
    private var stall: (any Span)?
    private var running: BreakTrace?
    /// What is waited for while it plays, of the item of an asset.
    private(set) var reason: WaitingReason?
    var outcome: ItemOutcome?
    private(set) var requests = RequestMemory()
    var variantCount: Int?
    var sessionID: String?

    init(_ item: PlayerItem, by tracer: any Tracer, parent: ServiceContext, _ clock: TraceClock, at time: HostTime) {
        self.clock = clock
        let name = item.isInterstitial ? TraceName.asset : TraceName.item
        span = tracer.span(name, .internal, in: parent, at: clock.instant(time))
        span.attributes[.url] = .string(Redaction.urlWithoutQuery(item.urlString))
    }

    // MARK: Events

    mutating func add(_ event: TraceEvent, at instant: TraceInstant, _ attributes: SpanAttributes = [:]) {
        guard takesEvent() else { return }
        span.addEvent(SpanEvent(name: event.rawValue, at: instant, attributes: attributes))
    }

    /// A failure that was, or will be, mended.
    mutating func add(_ error: HLSError, at instant: TraceInstant) {
        guard takesEvent() else { return }
        var attributes = SpanAttributes([:])
        attributes[.errorType] = .string(error.nameOfCause)
        span.recordError(error, attributes: attributes, at: instant)
    }

    mutating func play(at instant: TraceInstant) {
        guard !hasPlayed else { return }
        hasPlayed = true
        add(.playing, at: instant)
    }

    private mutating func takesEvent() -> Bool {
        guard eventCount < Self.eventLimit else {
            droppedCount += 1
            return false
        }
        eventCount += 1
        return true
    }

    /// Requests that were not told before.
    mutating func takeRequests(_ event: any MetricEvent) -> [any MetricEvent] { requests.take(event) }

    // MARK: Stalls

    mutating func stall(at time: HostTime, itemTime: MediaTime, by tracer: any Tracer) {
        guard stall == nil else { return }
        let span = tracer.span(TraceName.stall, .internal, in: span.context, at: clock.instant(time))
        if itemTime.isNumeric { span.attributes[.itemTime] = .double(itemTime.seconds) }
        stall = span
    }

    mutating func wait(_ reason: WaitingReason?) {
        self.reason = reason
        if let reason { stall?.attributes[.waitingReason] = .string(reason.rawValue) }
    }

    /// - Parameter variant: what was presented then.
    func noteStall(_ variant: AssetVariant?) {
        if let variant { stall?.attributes[.variant] = .string(variant.id.rawValue) }
    }

    mutating func endStall(at time: HostTime) {
        stall?.end(at: clock.instant(time))
        stall = nil
    }

    // MARK: Breaks

    /// That of the event that plays, or of the break; nil while there is none.
    var contextOfEvent: ServiceContext? { running?.context }

    mutating func beginBreak(at itemTime: MediaTime, by tracer: any Tracer, at time: HostTime) {
        guard running == nil else { return }
        running = BreakTrace(at: itemTime, by: tracer, parent: span.context, clock, at: time)
    }

    mutating func begin(_ event: InterstitialEvent, by tracer: any Tracer, at time: HostTime) {
        running?.begin(event, by: tracer, at: time)
    }

    mutating func end(
        _ event: InterstitialEvent, _ outcome: InterstitialEvent.Outcome, played: MediaTime, at time: HostTime
    ) {
        running?.end(event, outcome, played: played, at: time)
    }

    mutating func endBreak(resumingAt resumption: MediaTime?, at time: HostTime) {
        running?.end(resumingAt: resumption, at: time)
        running = nil
    }

    mutating func add(
        _ status: InterstitialEvent.AssetListStatus, of event: InterstitialEvent, at instant: TraceInstant
    ) {
        var attributes = SpanAttributes([:])
        attributes[.assetListStatus] = .string(status.rawValue)
        if running?.add(.assetList, of: event.id, attributes, at: instant) == true { return }
        // That it comes ahead of time is the rule.
        guard status == .unavailable else { return }
        attributes[.interstitialID] = .string(event.id)
        add(.assetList, at: instant, attributes)
    }

    func add(_ state: InterstitialEvent.SkippableEventState, of event: InterstitialEvent, at instant: TraceInstant) {
        var attributes = SpanAttributes([:])
        attributes[.skippableState] = .string(state.rawValue)
        _ = running?.add(.skippable, of: event.id, attributes, at: instant)
    }

    func refuseSeek(because event: InterstitialEvent, at instant: TraceInstant) {
        _ = running?.add(.seekRefused, of: event.id, [:], at: instant)
    }

    // MARK: The end

    mutating func end(_ item: PlayerItem, isOver: Bool, at time: HostTime) {
        endStall(at: time)
        endBreak(resumingAt: nil, at: time)
        let (error, state) = (item.error, item.latestState)
        let outcome = isOver ? error != nil ? ItemOutcome.failed : outcome ?? .left : .unobserved
        var attributes = span.attributes
        attributes[.outcome] = .string(outcome.rawValue)
        attributes[.session] = sessionID.map { .string($0) }
        attributes[.variantCount] = variantCount.map { .int(Int64($0)) }
        attributes[.playbackType] = item.accessLog?.events.last?.playbackType.map { .string($0.lowercased()) }
        let counts = state.statistics
        attributes[.startupTime] = counts.startupTime.map { .double($0.seconds) }
        attributes[.played] = .double(counts.durationWatched.seconds)
        attributes[.stallCount] = .int(Int64(counts.numberOfStalls))
        attributes[.stallTime] = .double(counts.stallDuration.seconds)
        attributes[.switchCount] = .int(Int64(counts.numberOfVariantSwitches))
        attributes[.requestCount] = .int(Int64(counts.numberOfRequests))
        attributes[.receivedBytes] = .int(Int64(counts.receivedByteCount))
        attributes[.missingSegments] = .int(Int64(counts.numberOfSkippedSegments))
        if droppedCount > 0 { attributes[.droppedEvents] = .int(Int64(droppedCount)) }
        if isOver, let error {
            attributes[.errorType] = .string(error.nameOfCause)
            attributes[.status] = (error.statusCode ?? (error.underlyingError as? HLSError)?.statusCode).map {
                .int(Int64($0))
            }
            span.setStatus(SpanStatus(code: .error, message: error.cause))
            span.recordError(error, attributes: [:], at: clock.instant(time))
        }
        span.attributes = attributes
        span.end(at: clock.instant(time))
    }
}
