import HLSKitCore
import HLSKitPlaylist
import Tracing

/// An instant of a trace: a time of a player's clock, converted to a date.
struct TraceInstant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    init(_ date: PlaylistDate) {
        let whole = UInt64(clamping: date.seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let sum = whole.partialValue.addingReportingOverflow(UInt64(clamping: date.attoseconds / 1_000_000_000))
        nanosecondsSinceEpoch = whole.overflow || sum.overflow ? .max : sum.partialValue
    }

    static func < (left: TraceInstant, right: TraceInstant) -> Bool {
        left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
    }
}

struct TraceClock: Sendable {
    /// The date at which the player was created. `origin` is the same time on its clock.
    let epoch: PlaylistDate
    let origin: HostTime

    func instant(_ time: HostTime) -> TraceInstant { TraceInstant(epoch + (time - origin)) }

    /// - Parameter elapsed: The time since the player was created.
    func instant(_ elapsed: Duration) -> TraceInstant { TraceInstant(epoch + elapsed) }
}

extension Tracer {
    /// Starts a span that is ended separately, because it does not describe a function call.
    func span(
        _ name: String, _ kind: SpanKind, in context: ServiceContext, at instant: TraceInstant
    ) -> any Tracing.Span {
        startSpan(name, context: context, ofKind: kind, at: instant)
    }
}
