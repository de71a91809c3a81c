public import HLSKitCore
public import Tracing

/// Makes spans of what players do, for swift-distributed-tracing: one for each item, and in it one for each request, each
/// stall, and each break with its events and what they play.
///
/// ```swift
/// let tracing = PlayerTracing()
/// tracing.attach(to: player)  // in the span that is open here
/// ```
///
/// Times are those of the player's clock, and errors are recorded. URLs are without user, query and fragment. All names and
/// attributes are in docs/behaviour/observability.md.
public final class PlayerTracing: Sendable {
    /// Which requests get spans.
    public enum RequestSpans: Sendable, Hashable, CaseIterable { case all, failed, none }

    private let tracer: (any Tracer)?
    private let requestSpans: RequestSpans

    /// - Parameters:
    ///   - tracer: makes the spans; nil (the default) is that of the process when a player is attached
    ///     (`InstrumentationSystem.bootstrap`).
    ///   - requestSpans: which requests get spans. A live stream makes some ten thousand requests a day. Default: all.
    public init(tracer: (any Tracer)? = nil, requestSpans: RequestSpans = .all) {
        self.tracer = tracer
        self.requestSpans = requestSpans
    }

    /// Makes spans of what the player does from now on, until it is closed or let go.
    ///
    /// - Parameters:
    ///   - player: is not kept.
    ///   - context: what the items belong to; nil (the default) is the context of the caller's task.
    @discardableResult
    public func attach(to player: Player, context: ServiceContext? = nil) -> PlayerObservation {
        let recorder = TraceRecorder(
            tracer: tracer ?? InstrumentationSystem.tracer, parent: context ?? ServiceContext.current ?? .topLevel,
            clock: TraceClock(epoch: player.creationDate, origin: player.creationTime), requestSpans: requestSpans)
        // Nothing is to be seen in between.
        return PlayerObservation(
            of: player, interval: .seconds(3600), followsAssets: true, observer: recorder)
    }
}
