public import HLSKitCore

/// The events of a player as lines of text, for comparing two runs or as a golden file.
///
/// ```swift
/// var log = EventLog()
/// for await event in player.events() { log.append(event) }
/// print(log.text)
/// ```
public struct EventLog: Sendable, Hashable {
    /// All events with their times in seconds and their details.
    ///
    /// Under a ``VirtualClock``, they are the same on every run.
    public private(set) var lines: [String] = []
    /// Decisions and their results, without times, measurements and reasons for waiting.
    ///
    /// They are the same for a run in real time and its replay, except for the order of nearly simultaneous events.
    public private(set) var decisions: [String] = []

    /// The host time that is 0 in the log.
    private let origin: HostTime

    /// Creates an empty log.
    ///
    /// - Parameter origin: The host time that is 0 in the log. The default is the epoch of the clock, which suits a
    ///   virtual one.
    public init(origin: HostTime = .zero) { self.origin = origin }

    /// Creates the log of `events`; see ``init(origin:)``.
    public init(_ events: some Sequence<PlayerEvent>, origin: HostTime = .zero) {
        self.init(origin: origin)
        for event in events { append(event) }
    }

    /// The ``lines``, each with its line break.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Appends the line of an event.
    public mutating func append(_ event: PlayerEvent) {
        let text = Self.text(event.kind)
        let measured = Self.measured(event.kind)
        if let decision = Self.decision(event.kind) { decisions.append(decision) }
        lines.append("\(Self.seconds(event.hostTime - origin)) \(text)" + (measured.isEmpty ? "" : ", \(measured)"))
    }

    /// Returns nil for events that depend on the speed of the machine, such as a brief reason for waiting.
    static func decision(_ kind: PlayerEvent.Kind) -> String? {
        switch kind {
        case .timeControl(let change) where change.old == change.new: return nil
        // Actions of the app, and consequences of other decisions.
        case .currentItemChanged, .newAccessLogEntry, .newErrorLogEntry: return nil
        default: return text(kind)
        }
    }

    private static func text(_ kind: PlayerEvent.Kind) -> String {
        switch kind {
        case .timeControl(let change):
            "time control \(change.old) -> \(change.new)" + (change.reason.map { " \($0)" } ?? "")
                + ", rate \(change.rate)"
        case .rateChanged(let rate, let reason): "rate \(rate) \(reason)"
        case .currentItemChanged(let id): id == nil ? "no item" : "another item"
        case .itemStatusChanged(let status): "item \(status)"
        case .durationChanged(let duration): "duration \(text(duration))"
        case .playlistLoaded(let load): "playlist \(load.urlString)" + (load.isReload ? " again" : "")
        case .segmentLoaded(let load):
            "segment \(load.mediaSequence) \(load.urlString)" + (load.variantIndex.map { " of variant \($0)" } ?? "")
        case .variantSwitched(let from, let to, _): "variant \(from.map { "\($0.index)" } ?? "none") -> \(to.index)"
        case .pathwayChanged(let from, let to, let reason): "pathway \(from) -> \(to), \(reason.rawValue)"
        case .downloadAbandoned(let load): "abandoned segment \(load.mediaSequence) \(load.urlString)"
        case .playbackLikelyToKeepUpChanged(let isLikely): isLikely ? "likely to keep up" : "not likely to keep up"
        case .playbackBufferFullChanged(let isFull): isFull ? "buffer full" : "buffer not full"
        case .playbackStalled: "stalled"
        case .timeJumped(let time): "jumped to \(text(time))"
        case .trickPlayUnavailable(let obstacle, let rate): "no I-frames at rate \(rate): \(obstacle)"
        case .mediaSelectionChanged(let selection):
            "selected audio \(selection[.audible]?.displayName ?? "none"), "
                + "subtitles \(selection[.legible]?.displayName ?? "none")"
        case .legibleCue(let cue): "cue \(cue.text.split(separator: "\n").joined(separator: " / "))"
        case .dateRange(let phase, let group): "\(phase) date range \(group.id)"
        case .spliceMarker(let marker, _): "marker \(marker.tag)" + (marker.value.isEmpty ? "" : ":\(marker.value)")
        case .timedMetadata(let group): "metadata \(group.items.map(\.key).joined(separator: ", "))"
        case .interstitialEventsChanged(let events): "interstitials \(events.map(\.id).joined(separator: ", "))"
        case .interstitialBreakBegan: "break"
        case .interstitialEventBegan(let event): "interstitial \(event.id)"
        case .interstitialEventEnded(let event, let outcome, _): "interstitial \(event.id) \(outcome.rawValue)"
        case .interstitialEventFailed(let event, let error): "interstitial \(event.id) \(text(error))"
        case .interstitialBreakEnded: "break over"
        case .interstitialAssetListStatusChanged(let event, let status): "asset list of \(event.id) \(status.rawValue)"
        case .interstitialSkippableStateChanged(let event, let state): "interstitial \(event.id) \(state.rawValue)"
        case .interstitialSeekRefused(let event): "interstitial \(event.id) refuses a seek"
        case .contentSkipped(let content): "left out \(text(content.timeRange.start)) to \(text(content.timeRange.end))"
        case .segmentSkipped(let segments): "skipped segments \(segments.first)-\(segments.last): \(segments.cause)"
        case .missingMediaSkipped(let gap): "hole from \(text(gap.start)) to \(text(gap.end))"
        case .mediaUnread(let type, let count): "unread \(type.rawValue) \(count)"
        case .linkTooSlow(let rate, let needed): "link carries \(Int(rate)) of \(Int(needed)) bit/s"
        case .segmentsMissed(let segments): "missed segments \(segments.first)-\(segments.last): \(segments.cause)"
        case .lowLatencyDeclined(let url, let cause): "no low latency \(url): \(cause)"
        case .recoverableError(let error): "recoverable \(text(error))"
        case .warning(let text): "warning \(text)"
        case .eventsLost(let count): "lost \(count) events"
        case .newAccessLogEntry: "access log entry"
        case .newErrorLogEntry(let event): "error log entry \(event.errorDomain.rawValue)"
        case .recommendedTimeOffsetFromLiveChanged(let offset): "recommended offset from live \(text(offset))"
        case .didPlayToEnd: "played to end"
        case .failedToPlayToEnd(let error): "failed \(text(error))"
        }
    }

    private static func measured(_ kind: PlayerEvent.Kind) -> String {
        switch kind {
        case .timeControl(let change): "timebase \(change.timebaseRate) at \(text(change.itemTime))"
        case .playlistLoaded(let load): "\(load.byteCount) bytes in \(seconds(load.duration)) s"
        case .segmentLoaded(let load), .downloadAbandoned(let load):
            "\(load.byteCount) bytes in \(seconds(load.duration)) s, "
                + "\(seconds(load.mediaDuration)) s from \(text(load.itemTime))"
        case .variantSwitched(_, _, let explanation): explanation
        case .playbackStalled(let time), .spliceMarker(_, let time): "at \(text(time))"
        case .interstitialBreakBegan(let time): "at \(text(time))"
        case .interstitialEventEnded(_, _, let played): "after \(text(played))"
        case .interstitialBreakEnded(let time): time.map { "on at \(text($0))" } ?? ""
        case .timedMetadata(let group): "at \(text(group.timeRange.start))"
        case .legibleCue(let cue): "\(text(cue.timeRange.start)) to \(text(cue.timeRange.end))"
        case .segmentSkipped(let segments), .segmentsMissed(let segments): "\(seconds(segments.mediaDuration)) s"
        case .recoverableError(let error), .failedToPlayToEnd(let error): error.detail ?? ""
        default: ""
        }
    }

    private static func text(_ error: HLSError) -> String {
        "\(error.code.rawValue): \(error.cause)" + (error.urlString.map { " \($0)" } ?? "")
    }

    private static func text(_ time: MediaTime) -> String { time.description }

    /// Seconds, to the nanosecond.
    private static func seconds(_ duration: Duration) -> String { duration.decimalText(9, atLeast: 9) }
}
