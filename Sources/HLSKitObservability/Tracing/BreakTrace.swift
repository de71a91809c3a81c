import HLSKitCore
import Tracing

/// The spans of a break of an item, and of the event of it that plays.
struct BreakTrace: Sendable {
    let span: any Span
    private let clock: TraceClock
    /// What plays, or is waited for.
    private var event: (id: String, span: any Span)?
    private var eventCount = 0
    private var failureCount = 0
    private var played = Duration.zero

    /// - Parameter itemTime: where the item was left.
    init(
        at itemTime: MediaTime, by tracer: any Tracer, parent: ServiceContext, _ clock: TraceClock, at time: HostTime
    ) {
        self.clock = clock
        span = tracer.span(TraceName.breakOfItem, .internal, in: parent, at: clock.instant(time))
        if itemTime.isNumeric { span.attributes[.itemTime] = .double(itemTime.seconds) }
    }

    /// What the items of assets belong to that are played now.
    var context: ServiceContext { event?.span.context ?? span.context }

    // MARK: Events

    mutating func begin(_ event: InterstitialEvent, by tracer: any Tracer, at time: HostTime) {
        endEvent(outcome: ItemOutcome.unobserved.rawValue, at: time)
        eventCount += 1
        let span = tracer.span(TraceName.interstitial, .internal, in: span.context, at: clock.instant(time))
        span.attributes[.interstitialID] = .string(event.id)
        self.event = (event.id, span)
    }

    mutating func end(
        _ event: InterstitialEvent, _ outcome: InterstitialEvent.Outcome, played: MediaTime, at time: HostTime
    ) {
        guard let current = self.event, current.id == event.id else { return }
        let length = played.duration ?? .zero
        self.played += length
        current.span.attributes[.played] = .double(length.seconds)
        if outcome == .failed {
            failureCount += 1
            // Why is told by the items of its assets, and by what is said of its list.
            current.span.attributes[.errorType] = "_OTHER"
            current.span.setStatus(SpanStatus(code: .error, message: "nothing of it could be played"))
        }
        endEvent(outcome: outcome.rawValue, at: time)
    }

    private mutating func endEvent(outcome: String, at time: HostTime) {
        guard let event = event.take() else { return }
        event.span.attributes[.outcome] = .string(outcome)
        event.span.end(at: clock.instant(time))
    }

    /// Something that is about the event that plays.
    ///
    /// - Returns: false where that is another one.
    func add(_ name: TraceEvent, of id: String, _ attributes: SpanAttributes, at instant: TraceInstant) -> Bool {
        guard let event, event.id == id else { return false }
        event.span.addEvent(SpanEvent(name: name.rawValue, at: instant, attributes: attributes))
        return true
    }

    // MARK: The end

    /// - Parameter resumption: where the item continues; nil where it does not, or nobody looks any more.
    mutating func end(resumingAt resumption: MediaTime?, at time: HostTime) {
        endEvent(outcome: ItemOutcome.unobserved.rawValue, at: time)
        var attributes = span.attributes
        attributes[.interstitialCount] = .int(Int64(eventCount))
        attributes[.failedInterstitials] = .int(Int64(failureCount))
        attributes[.played] = .double(played.seconds)
        attributes[.resumptionTime] = resumption.flatMap { $0.isNumeric ? .double($0.seconds) : nil }
        span.attributes = attributes
        span.end(at: clock.instant(time))
    }
}
