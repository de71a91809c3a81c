import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension PlayerEvent: CustomStringConvertible {
    /// A line of text with the time of the event in seconds and its kind, such as `12.345 s: stall at 10.0 s`.
    ///
    /// For a failed item, it includes the error. The wording may change: use ``kind`` in code.
    public var description: String {
        let line = "\(Self.text(hostTime.offset.seconds, places: 3)) s: \(kind)"
        guard case .itemStatusChanged(.failed) = kind, let error = subject?.error else { return line }
        return line + ": \(error)"
    }

    /// Formats decimals without Foundation, so that a line is the same everywhere.
    static func text(_ value: Double, places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        guard value.isFinite, (value * scale).magnitude < 1e15 else { return "\(value)" }
        let units = Int((value * scale).rounded())
        let padded = units.magnitude.digits(places + 1)
        return (units < 0 ? "-" : "") + padded.dropLast(places) + (places == 0 ? "" : "." + padded.suffix(places))
    }
}

extension PlayerEvent.Kind: CustomStringConvertible {
    /// A few words without a line break, such as `waiting to minimize stalls at 3.2 s`.
    ///
    /// The wording may change.
    public var description: String {
        let text =
            switch self {
            case .timeControl(let change): Self.text(change)
            case .rateChanged(let rate, let reason): "rate \(rate): \(reason.words)"
            case .currentItemChanged(let id): id.map { "current \($0)" } ?? "no current item"
            case .itemStatusChanged(.readyToPlay): "ready to play"
            case .itemStatusChanged(.failed): "the item failed"
            case .itemStatusChanged(.unknown): "the item's status is unknown"
            case .durationChanged(let duration): "duration \(Self.text(duration))"
            case .playlistLoaded(let load):
                (load.isMultivariant ? "multivariant playlist" : "playlist") + (load.isReload ? " again" : "")
                    + ": \(load.urlString), \(load.byteCount) bytes in \(Self.text(load.duration))"
            case .segmentLoaded(let load): "segment \(Self.text(load))"
            case .variantSwitched(let old, let new, let explanation):
                "variant \(old.map(Self.text) ?? "none") -> \(Self.text(new)): \(explanation)"
            case .pathwayChanged(let old, let new, let reason): "pathway \(old) -> \(new): \(reason.rawValue)"
            case .downloadAbandoned(let load): "abandoned segment \(Self.text(load))"
            case .playbackLikelyToKeepUpChanged(let isLikely): isLikely ? "likely to keep up" : "not likely to keep up"
            case .playbackBufferFullChanged(let isFull): isFull ? "buffer full" : "buffer not full"
            case .playbackStalled(let time): "stall at \(Self.text(time))"
            case .timeJumped(let time): "jump to \(Self.text(time))"
            case .mediaSelectionChanged(let selection):
                "audio: \(selection[.audible]?.displayName ?? "none"), "
                    + "subtitles: \(selection[.legible]?.displayName ?? "none")"
            case .legibleCue(let cue):
                "cue at \(Self.text(cue.timeRange.start)): "
                    + cue.text.split(separator: "\n").joined(separator: " / ")
            case .dateRange(let phase, let group):
                "\(phase) date range \(group.id)" + (group.classifyingLabel.map { " (\($0))" } ?? "")
                    + (group.timeRange.map { " at \(Self.text($0.start))" } ?? "")
            case .spliceMarker(let marker, let time): "\(Self.text(marker)) at \(Self.text(time))"
            case .timedMetadata(let group): "\(Self.text(group)) at \(Self.text(group.timeRange.start))"
            case .contentSkipped(let content):
                "skipped \(Self.text(content.timeRange.duration)) at \(Self.text(content.timeRange.start))"
                    + (content.dateRangeIDs.isEmpty ? "" : ": " + content.dateRangeIDs.joined(separator: ", "))
            case .interstitialEventsChanged(let events):
                events.isEmpty
                    ? "no interstitials" : events.count == 1 ? "1 interstitial" : "\(events.count) interstitials"
            case .interstitialBreakBegan(let time): "break at \(Self.text(time))"
            case .interstitialEventBegan(let event): "interstitial \(event.id)"
            case .interstitialEventEnded(let event, let outcome, let played):
                "interstitial \(event.id) \(outcome.words) after \(Self.text(played))"
            case .interstitialEventFailed(let event, let error): "interstitial \(event.id) has failed: \(error)"
            case .interstitialBreakEnded(let time): "break ended" + (time.map { ", resumes at \(Self.text($0))" } ?? "")
            case .interstitialAssetListStatusChanged(let event, let status):
                "asset list of \(event.id): \(status.rawValue)"
            case .interstitialSkippableStateChanged(let event, let state):
                "interstitial \(event.id) \(state.words)"
            case .interstitialSeekRefused(let event): "interstitial \(event.id) does not allow seeking"
            case .segmentSkipped(let segments): "skipped \(Self.text(segments))"
            case .missingMediaSkipped(let range):
                "skipped missing media: \(Self.text(range.duration)) at \(Self.text(range.start))"
            case .mediaUnread(let type, let count): "readers of \(type.rawValue) are too slow: \(count) lost"
            case .linkTooSlow(let rate, let needed):
                "the link carries \(Int(rate)) bit/s, but playback needs \(Int(needed)) bit/s"
            case .segmentsMissed(let segments): "missed \(Self.text(segments))"
            case .trickPlayUnavailable(let obstacle, let rate): "no I-frames at the rate \(rate): \(obstacle)"
            case .lowLatencyDeclined(_, let cause): "no low latency: \(cause)"
            case .recoverableError(let error): "recovered from: \(error)"
            case .warning(let text): "warning: \(text)"
            case .eventsLost(let count): count == 1 ? "1 event lost" : "\(count) events lost"
            case .newAccessLogEntry: "new entry in the access log"
            case .newErrorLogEntry(let event):
                "new entry in the error log: \(event.errorComment ?? event.errorDomain.rawValue)"
            case .recommendedTimeOffsetFromLiveChanged(let offset):
                "recommended distance from the live edge: \(Self.text(offset))"
            case .didPlayToEnd: "played to the end"
            case .failedToPlayToEnd(let error): "failed to play to the end: \(error)"
            }
        return text.escapingControls
    }

    private static func text(_ change: TimeControlChange) -> String {
        let place = " at \(text(change.itemTime))"
        return switch change.new {
        case .paused: "paused" + place
        case .playing: "playing" + place + ", rate \(change.timebaseRate)"
        case .waitingToPlayAtSpecifiedRate: "waiting" + (change.reason.map { " \($0.words)" } ?? "") + place
        }
    }

    private static func text(_ marker: SpliceMarker) -> String {
        marker.tag + (marker.value.isEmpty ? "" : ":" + marker.value)
    }

    private static func text(_ group: TimedMetadataGroup) -> String {
        group.spliceInformation.map { "\($0)" } ?? "metadata " + group.items.map(\.key).joined(separator: ", ")
    }

    private static func text(_ load: SegmentLoad) -> String {
        "\(load.mediaSequence): \(load.urlString), \(load.byteCount) bytes in \(text(load.duration))"
    }

    private static func text(_ segments: SkippedSegments) -> String {
        let numbers =
            segments.first == segments.last
            ? "segment \(segments.first)" : "segments \(segments.first)-\(segments.last)"
        let place = segments.cause.contains(segments.urlString) ? "" : ": \(segments.urlString)"
        return "\(numbers), \(text(segments.mediaDuration)) of media: \(segments.cause)\(place)"
    }

    static func text(_ variant: AssetVariant) -> String {
        let height = variant.videoAttributes?.presentationSize.map { "\($0.height)p " } ?? ""
        return height + (variant.peakBitRate.map { "\(Int($0) / 1000)k" } ?? "#\(variant.index)")
    }

    private static func text(_ duration: Duration) -> String { "\(PlayerEvent.text(duration.seconds, places: 3)) s" }

    private static func text(_ time: MediaTime) -> String {
        time.isNumeric ? "\(PlayerEvent.text(time.seconds, places: 1)) s" : time.isIndefinite ? "indefinite" : "\(time)"
    }
}

extension WaitingReason {
    /// The words after "waiting".
    var words: String {
        switch self {
        case .noItemToPlay: "for an item"
        case .evaluatingBufferingRate: "to measure the download rate"
        case .toMinimizeStalls: "to minimize stalls"
        case .interstitialEvent: "for an interstitial to end"
        case .coordinatedPlayback: "for other players"
        }
    }
}

extension InterstitialEvent.Outcome {
    /// The words after the event.
    fileprivate var words: String {
        switch self {
        case .played: "ended"
        case .playedInPart: "ended, partly unavailable,"
        case .skipped: "skipped"
        case .cancelled: "cancelled"
        case .left: "left"
        case .failed: "unavailable: skipped"
        }
    }
}

extension InterstitialEvent.SkippableEventState {
    /// The words after the event.
    fileprivate var words: String {
        switch self {
        case .notSkippable: "cannot be skipped"
        case .notYetEligible: "can be skipped later"
        case .eligible: "can be skipped"
        case .noLongerEligible: "can no longer be skipped"
        }
    }
}

extension RateChangeReason {
    fileprivate var words: String {
        switch self {
        case .setRateCalled: "set by the app"
        case .setRateFailed: "the rate cannot be played"
        case .reachedLiveEdge: "the live edge was reached"
        case .reachedStart: "the start was reached"
        case .itemEnded: "the item ended"
        case .itemFailed: "the item failed"
        case .stalled: "the buffer ran empty"
        case .restrictedByInterstitial: "an interstitial allows no other"
        case .interstitialEnded: "the interstitial ended"
        }
    }
}
