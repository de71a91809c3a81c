import HLSKitCore
import Tracing

/// The span of one item, and the state that it needs until it ends.
struct ItemTrace: Sendable {
    /// The limit on events and errors in a span, because an item may play for years.
    static let eventLimit = 128

    let span: any Span
    private let clock: TraceClock
    private var eventCount = 0
    private var droppedCount = 0
    private var hasPlayed = false
    private var stall: (any Span)?
    var outcome: ItemOutcome?
    private(set) var requests = RequestMemory()
    var variantCount: Int?
    var sessionID: String?

    init(_ item: PlayerItem, by tracer: any Tracer, parent: ServiceContext, _ clock: TraceClock, at time: HostTime) {
        self.clock = clock
        span = tracer.span(TraceName.item, .internal, in: parent, at: clock.instant(time))
        span.attributes[.url] = .string(Redaction.urlWithoutQuery(item.urlString))
    }

    // MARK: Events

    mutating func add(_ event: TraceEvent, at instant: TraceInstant, _ attributes: SpanAttributes = [:]) {
        guard takesEvent() else { return }
        span.addEvent(SpanEvent(name: event.rawValue, at: instant, attributes: attributes))
    }

    /// Records a failure that the player has recovered from or will retry.
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

    mutating func takeRequests(_ event: any MetricEvent) -> [any MetricEvent] { requests.take(event) }

    // MARK: Stalls

    mutating func stall(at time: HostTime, itemTime: MediaTime, by tracer: any Tracer) {
        guard stall == nil else { return }
        let span = tracer.span(TraceName.stall, .internal, in: span.context, at: clock.instant(time))
        if itemTime.isNumeric { span.attributes[.itemTime] = .double(itemTime.seconds) }
        stall = span
    }

    func wait(_ reason: WaitingReason?) {
        if let reason { stall?.attributes[.waitingReason] = .string(reason.rawValue) }
    }

    func noteStall(_ variant: AssetVariant?) {
        if let variant { stall?.attributes[.variant] = .string(variant.id.rawValue) }
    }

    mutating func endStall(at time: HostTime) {
        stall?.end(at: clock.instant(time))
        stall = nil
    }

    // MARK: The end

    mutating func end(_ item: PlayerItem, isOver: Bool, at time: HostTime) {
        endStall(at: time)
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
