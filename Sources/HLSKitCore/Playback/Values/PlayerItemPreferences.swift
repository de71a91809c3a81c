import HLSKitTime

/// The settings of an item, together: what ``PlayerItem`` has under the same names, where they are described.
///
/// Read at each decision, so that a change takes effect at the next segment.
struct PlayerItemPreferences: Sendable, Hashable {
    var preferredForwardBufferDuration: Duration?
    var preferredPeakBitRate: Double?
    var preferredMaximumResolution: PixelSize?
    var preferredPeakBitRateForExpensiveNetworks: Double?
    var preferredMaximumResolutionForExpensiveNetworks: PixelSize?
    var variantPreferences: VariantPreferences = []
    var variantPolicy = VariantPolicy.automatic
    var displaySize: PixelSize?
    var startsOnFirstEligibleVariant = false
    var quality: QualityExpression?
    var preferredPathway: String?
    var audio: QualityExpression?
    var subtitles: QualityExpression?
    var startPosition = StartPosition.automatic
    var endPosition = EndPosition.automatic
    var configuredTimeOffsetFromLive: Duration?
    var automaticallyPreservesTimeOffsetFromLive = false
    var liveCatchUpRate: Float = 1
    var stalePolicy = StalePolicy.fail
    var staleLimit: Duration?
    var canUseNetworkResourcesForLiveStreamingWhilePaused = false
    var fellBehindPolicy = FellBehindPolicy.jumpToEdge

    /// ``liveCatchUpRate`` in its steps of a hundredth, so that what it means is what was written.
    var catchUpRate: Double { (Double(liveCatchUpRate) * 1000).rounded() / 1000 }

    /// ``preferredForwardBufferDuration``, a day at most; nil where the player decides, and where it is not above zero.
    var forwardBuffer: Duration? {
        guard let wish = preferredForwardBufferDuration, wish > .zero else { return nil }
        return min(wish, .seconds(86_400))
    }
}
