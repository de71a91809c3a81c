import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Limits on the choice of variants that are decided elsewhere: by the user, by outputs, and by failures.
struct SelectionLimits: Sendable, Equatable {
    var preferences = PlayerItemPreferences()
    var networkConditions = NetworkConditions()
    var outputs = OutputLimits()
    var penalized: Set<Int> = []
    /// The pathways in order of use, or an empty array if all variants have the same one.
    var pathways: [String] = []
    /// The selected audio, or `nil` if there is no choice.
    var audibleOption: AudioRendition?
    /// The maximum bit rate, in bits per second, that servers want to serve, or `nil` if they do not say.
    var serverPeakBitRate: Double?

    func limit(_ context: inout SelectionContext) {
        context.penalizedVariants = penalized
        let limits = preferences.limits(in: networkConditions)
        context.preferredPeakBitRate = [limits.peakBitRate, serverPeakBitRate].compactMap(\.self).min()
        context.preferredMaximumResolution = limits.resolution
        context.prefersLosslessAudio = preferences.variantPreferences.contains(.lossless)
        switch preferences.variantPolicy {
        case .automatic, .best: break
        case .bounded(let bitRates): context.bitRateBounds = bitRates
        case .pinned(let id, _): context.pinnedVariant = id
        }
        context.display = outputs.display ?? preferences.displaySize.map { DisplayArea(size: $0) }
        if outputs.needsStandardRange { context.supportedVideoRanges = [.sdr] }
        context.quality = preferences.quality
        context.audibleOption = audibleOption
        if let count = outputs.maximumChannelCount {
            context.maximumChannelCount = min(count, context.maximumChannelCount ?? count)
        }
    }
}

extension HLSError {
    init(
        noneOf candidates: [AssetVariant], _ eligibility: VariantEligibility, quality: QualityExpression?,
        url: String?, decoderFailure: String?
    ) {
        if let quality, eligibility.exclusions.values.allSatisfy({ $0 == .limits }) {
            self.init(
                code: .noEligibleVariant, urlString: url, cause: "no variant matches \"\(quality)\"",
                detail: candidates.offer)
            return
        }
        var reasons = eligibility.exclusions.sorted { $0.key < $1.key }.prefix(8).map { "#\($0.key): \($0.value)" }
        if let decoderFailure { reasons.append(decoderFailure) }
        self.init(
            code: .noEligibleVariant, urlString: url, cause: "no variant can be played",
            detail: reasons.joined(separator: ", "))
    }
}

extension SelectionContext {
    init(_ configuration: EngineConfiguration, wantsFrames: Bool) {
        self.init()
        limit(to: configuration.capabilities)
        isPassThrough = configuration.canPlayCodec == nil
        self.wantsFrames = wantsFrames
        if let canPlay = configuration.canPlayCodec {
            canDecode = { codec in
                canPlay(codec) || !wantsFrames && CodecString(rawValue: codec).mediaType == .video
            }
        }
    }
}

extension PlayerItemPreferences {
    /// The limits in effect. On an expensive network, the lower one of each pair applies.
    fileprivate func limits(in conditions: NetworkConditions) -> (peakBitRate: Double?, resolution: PixelSize?) {
        var (peakBitRate, resolution) = (preferredPeakBitRate.flatMap(Self.limit), preferredMaximumResolution)
        guard conditions.isExpensive else { return (peakBitRate, resolution) }
        if let rate = preferredPeakBitRateForExpensiveNetworks.flatMap(Self.limit) {
            peakBitRate = min(peakBitRate ?? rate, rate)
        }
        if let size = preferredMaximumResolutionForExpensiveNetworks {
            resolution = PixelSize(
                width: min(resolution?.width ?? .max, size.width), height: min(resolution?.height ?? .max, size.height))
        }
        return (peakBitRate, resolution)
    }

    /// Returns the bit rate, or `nil` if it is 0 or less and therefore means no limit.
    private static func limit(_ bitRate: Double) -> Double? { bitRate > 0 ? bitRate : nil }
}
