import HLSKitCore

/// What `-v` tells about events, and what everybody is told: lines for people.
enum EventText {
    /// The line for `event`; nil where it says nothing at that verbosity.
    static func line(for event: PlayerEvent, verbosity: PlayOptions.Verbosity) -> String? {
        switch verbosity {
        case .quiet: nil
        case .normal: loss(in: event.kind)
        case .verbose: loss(in: event.kind) ?? detail(of: event.kind)
        }
    }

    /// Media that is missing is never passed over in silence.
    private static func loss(in kind: PlayerEvent.Kind) -> String? {
        switch kind {
        case .segmentSkipped(let segments): line("skipped", segments)
        case .segmentsMissed(let segments): line("missed", segments)
        default: nil
        }
    }

    private static func detail(of kind: PlayerEvent.Kind) -> String? {
        switch kind {
        case .recoverableError(let error): warning(error.cause, url: error.url, detail: error.detail)
        case .warning(let text): warning(text, url: nil, detail: nil)
        case .variantSwitched(let from, let to, let explanation):
            "hlsget: variant \(from.map(name) ?? "none") -> \(name(to)): \(TerminalText.escaped(explanation))"
        case .downloadAbandoned(let load):
            "hlsget: segment \(load.mediaSequence) abandoned after \(Decimals.bytes(load.byteCount))"
        case .playbackStalled(let time): "hlsget: stall at \(Decimals.clock(time.finiteSeconds ?? .nan))"
        case .timeJumped(let time): "hlsget: jump to \(Decimals.clock(time.finiteSeconds ?? .nan))"
        default: nil
        }
    }

    private static func line(_ verb: String, _ segments: SkippedSegments) -> String {
        let numbers =
            segments.first == segments.last
            ? "segment \(segments.first)" : "segments \(segments.first)-\(segments.last)"
        let seconds = Decimals.text(segments.mediaDuration.inSeconds, places: 1)
        return warning("\(verb) \(numbers), \(seconds) s of media", url: segments.url, detail: segments.cause)
    }

    private static func warning(_ cause: String, url: String?, detail: String?) -> String {
        ErrorLine.line(cause, url: url, detail: detail, severity: "warning")
    }

    private static func name(_ variant: VariantDescription) -> String {
        let height = variant.height > 0 ? "\(variant.height)p " : ""
        return variant.bandwidth > 0
            ? height + Decimals.bitRate(Double(variant.bandwidth)) : "\(height)#\(variant.index)"
    }
}
