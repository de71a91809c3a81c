import HLSGetKit
import HLSKitCore

/// Options that a stream may be unable to fulfil. Playback continues without them and reports that; with `--strict` it
/// fails.
struct UnmetOptions: Sendable {
    private let options: PlayOptions
    private var hasReportedRate = false
    private var hasReportedBitRate = false

    init(_ options: PlayOptions) { self.options = options }

    /// The option that `event` shows to be unavailable, reported once. `--strict` exits with the error's code.
    mutating func unfulfilled(by event: PlayerEvent, canPlayFastForward: Bool) -> HLSError? {
        switch event.kind {
        case .itemStatusChanged(.readyToPlay):
            // Ordinary playback is limited to this rate; I-frame playback covers the higher ones.
            guard Double(options.rate) > Self.fastestOrdinaryRate, !canPlayFastForward, !hasReportedRate else {
                return nil
            }
            hasReportedRate = true
            return HLSError(
                code: .noEligibleVariant, urlString: options.url,
                cause: "played at \(Decimals.rate(Self.fastestOrdinaryRate)) instead of "
                    + Decimals.rate(Double(options.rate)),
                detail: "higher rates require I-frame playlists")
        case .variantSwitched(_, let variant, _):
            guard let (name, limit) = bitRateLimit, let rate = variant.peakBitRate, rate > limit, !hasReportedBitRate
            else { return nil }
            hasReportedBitRate = true
            return HLSError(
                code: .noEligibleVariant, urlString: options.url,
                cause: "no variant is within \(name) \(Decimals.bitRate(limit))",
                detail: "the lowest has \(Decimals.bitRate(rate))")
        default: return nil
        }
    }

    private var bitRateLimit: (name: String, limit: Double)? {
        let limits = [
            ("--peak-bitrate", options.peakBitRate),
            ("--expensive-peak-bitrate", options.isExpensive ? options.expensivePeakBitRate : nil),
        ]
        return limits.compactMap { name, limit in limit.map { (name, $0) } }.min { $0.1 < $1.1 }
    }

    /// With `--on-gap fail`, the error for missing media without a replacement.
    func gap(of event: PlayerEvent) -> HLSError? {
        guard options.gapAction == .fail else { return nil }
        switch event.kind {
        case .segmentSkipped(let segments), .segmentsMissed(let segments):
            return HLSError(
                code: .incomplete, urlString: segments.urlString, cause: "segment \(segments.first) is missing",
                detail: segments.cause)
        case .missingMediaSkipped(let gap):
            return HLSError(
                code: .incomplete, urlString: options.url, cause: "media is missing",
                detail: "from \(Decimals.clock(gap.start.seconds)) to \(Decimals.clock(gap.end.seconds))")
        default: return nil
        }
    }

    private static let fastestOrdinaryRate = 2.0
}
