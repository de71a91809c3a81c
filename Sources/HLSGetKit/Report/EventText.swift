package import HLSKitCore

package enum EventText {
    /// Returns the line for `event`, or `nil` if there is none at that verbosity.
    package static func line(
        for event: PlayerEvent, verbosity: PlayOptions.Verbosity, showsCues: Bool = false
    ) -> String? {
        if case .legibleCue(let cue) = event.kind {
            return verbosity == .verbose || showsCues && verbosity == .normal ? line(cue) : nil
        }
        return switch verbosity {
        case .quiet: nil
        case .normal: loss(in: event.kind)
        case .verbose: loss(in: event.kind) ?? detail(of: event.kind)
        }
    }

    package static func change(from: AssetVariant, to: AssetVariant, because explanation: String) -> String {
        ErrorLine.line(
            "from here on \(name(to)) instead of \(name(from))", url: nil, detail: explanation, severity: "note")
    }

    private static func line(_ cue: LegibleCue) -> String {
        let text = cue.text.split(separator: "\n").joined(separator: " / ")
        // The text comes from the stream, not from the command.
        return "  \(clock(cue.timeRange.start))–\(clock(cue.timeRange.end))  \(TerminalText.escaped(text))"
    }

    /// Minutes, seconds and tenths.
    private static func clock(_ time: MediaTime) -> String {
        let seconds = time.finiteSeconds ?? .nan
        guard seconds.isFinite else { return Decimals.clock(seconds) }
        let tenths = (max(0, seconds) * 10).rounded()
        return Decimals.clock((tenths / 10).rounded(.down)) + "."
            + Decimals.text(
                tenths.truncatingRemainder(dividingBy: 10), places: 0)
    }

    private static func loss(in kind: PlayerEvent.Kind) -> String? {
        switch kind {
        case .segmentSkipped(let segments): line("skipped", segments)
        case .segmentsMissed(let segments): line("missed", segments)
        case .interstitialSeekRefused: InterstitialText.line(for: kind)
        case .linkTooSlow(let rate, let needed):
            warning(
                "the link carries \(Decimals.bitRateWithUnit(rate)), but playback needs \(Decimals.bitRateWithUnit(needed))",
                url: nil,
                detail: "there is no lower variant")
        case .recoverableError(let error) where error.code == .trackOmitted:
            warning(error.cause, url: error.urlString, detail: error.detail)
        default: nil
        }
    }

    private static func detail(of kind: PlayerEvent.Kind) -> String? {
        switch kind {
        case .recoverableError(let error): warning(error.cause, url: error.urlString, detail: error.detail)
        case .warning(let text): warning(text, url: nil, detail: nil)
        case .variantSwitched(let from, let to, let explanation):
            "hlsget: variant \(from.map(name) ?? "none") -> \(name(to)): \(TerminalText.escaped(explanation))"
        case .pathwayChanged(let old, let new, let reason):
            "hlsget: pathway \(TerminalText.escaped(old)) -> \(TerminalText.escaped(new)): \(reason.rawValue)"
        case .downloadAbandoned(let load):
            "hlsget: segment \(load.mediaSequence) abandoned after \(Decimals.bytes(load.byteCount))"
        case .trickPlayUnavailable(let obstacle, let rate):
            warning("no I-frames at \(Decimals.rate(Double(rate)))", url: nil, detail: obstacle.rawValue)
        case .lowLatencyDeclined(let url, let cause): warning("no low latency", url: url, detail: cause)
        case .dateRange(let phase, let group): line(group, phase)
        case .spliceMarker(let marker, let time): line(marker, time)
        case .timedMetadata(let group): line(group)
        case .missingMediaSkipped(let gap):
            warning(
                "\(Decimals.text(gap.duration.finiteSeconds ?? 0, places: 1)) s of missing media skipped",
                url: nil,
                detail: "at \(Decimals.clock(gap.start.finiteSeconds ?? .nan))")
        case .contentSkipped(let content): line(content)
        case .interstitialEventBegan, .interstitialEventEnded, .interstitialEventFailed,
            .interstitialAssetListStatusChanged,
            .interstitialSkippableStateChanged, .interstitialBreakEnded:
            InterstitialText.line(for: kind)
        case .playbackStalled(let time): "hlsget: stall at \(Decimals.clock(time.finiteSeconds ?? .nan))"
        case .timeJumped(let time): "hlsget: jump to \(Decimals.clock(time.finiteSeconds ?? .nan))"
        default: nil
        }
    }

    private static func line(_ group: DateRangeMetadataGroup, _ phase: DateRangePhase) -> String {
        let kinds = [
            group.classifyingLabel, group.dateRange.scte35Command.map { _ in "SCTE35-CMD" },
            group.dateRange.scte35Out.map { _ in "SCTE35-OUT" }, group.dateRange.scte35In.map { _ in "SCTE35-IN" },
        ].compactMap(\.self)
        let label = ([group.id] + (kinds.isEmpty ? [] : ["(\(kinds.joined(separator: ", ")))"])).joined(separator: " ")
        let length = group.timeRange?.duration.finiteSeconds.map { ", \(Decimals.text($0, places: 1)) s long" } ?? ""
        return "hlsget: date range \(TerminalText.escaped(Redaction.text(label))) \(phase)" + length
    }

    private static func line(_ content: SkippedContent) -> String {
        let (start, length) = (content.timeRange.start.finiteSeconds, content.timeRange.duration.finiteSeconds)
        var text = "hlsget: skipped \(Decimals.text(length ?? .nan, places: 1)) s at \(Decimals.clock(start ?? .nan))"
        var causes = content.dateRangeIDs.isEmpty ? [] : [content.dateRangeIDs.joined(separator: ", ")]
        if content.numberOfSegments > 0 { causes.append(Decimals.count(content.numberOfSegments, "segment")) }
        if !causes.isEmpty { text += ": " + causes.joined(separator: ", ") }
        return TerminalText.escaped(Redaction.text(text))
    }

    private static func line(_ marker: SpliceMarker, _ time: MediaTime) -> String {
        let value = marker.value.isEmpty || marker.scte35 == marker.value ? "" : ":" + marker.value
        let splice = marker.spliceInformation.map { " (\($0))" } ?? ""
        let text = TerminalText.escaped(Redaction.text("\(marker.tag)\(value)\(splice)"))
        return "hlsget: marker \(text) at \(Decimals.clock(time.finiteSeconds ?? .nan))"
    }

    private static func line(_ group: TimedMetadataGroup) -> String {
        let what: String
        if let splice = group.spliceInformation {
            let time = group.spliceTime.map { " for \(Decimals.clock($0.finiteSeconds ?? .nan))" } ?? ""
            what = "\(splice)" + time
        } else {
            what = "metadata " + group.items.map(\.key).joined(separator: ", ")
        }
        let place = Decimals.clock(group.timeRange.start.finiteSeconds ?? .nan)
        return "hlsget: \(TerminalText.escaped(Redaction.text(what))) at \(place)"
    }

    private static func line(_ verb: String, _ segments: SkippedSegments) -> String {
        let numbers =
            segments.first == segments.last
            ? "segment \(segments.first)" : "segments \(segments.first)-\(segments.last)"
        let seconds = Decimals.text(segments.mediaDuration.inSeconds, places: 1)
        return warning("\(verb) \(numbers), \(seconds) s of media", url: segments.urlString, detail: segments.cause)
    }

    private static func warning(_ cause: String, url: String?, detail: String?) -> String {
        ErrorLine.line(cause, url: url, detail: detail, severity: "warning")
    }

    private static func name(_ variant: AssetVariant) -> String {
        if variant.peakBitRate != nil { return variant.name() }
        return (variant.rows.map { "\($0)p " } ?? "") + "#\(variant.index)"
    }
}
