import HLSKitCore
import HLSKitPlaylist
import Tracing

/// A moment of a trace: what happened in a player has the time of its clock, as a date.
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

/// Turns the times of a player into those of traces.
struct TraceClock: Sendable {
    /// The date at which the player was made, and that moment on its clock.
    let epoch: PlaylistDate
    let origin: HostTime

    func instant(_ time: HostTime) -> TraceInstant { TraceInstant(epoch + (time - origin)) }

    /// - Parameter elapsed: since the player was made.
    func instant(_ elapsed: Duration) -> TraceInstant { TraceInstant(epoch + elapsed) }
}

extension Tracer {
    /// A span whose end is somebody else's: what it is of is no call.
    func span(
        _ name: String, _ kind: SpanKind, in context: ServiceContext, at instant: TraceInstant
    ) -> any Tracing.Span {
        startSpan(name, context: context, ofKind: kind, at: instant)
    }
}
