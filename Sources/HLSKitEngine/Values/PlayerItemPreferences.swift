package import HLSKitLoading
package import HLSKitSelection
import HLSKitTime

/// The settings of an item, together: what ``PlayerItem`` has under the same names, where they are described.
///
/// Read at each decision, so that a change takes effect at the next segment.
package struct PlayerItemPreferences: Sendable, Hashable {
    package var preferredForwardBufferDuration: Duration?
    package var preferredPeakBitRate: Double?
    package var preferredMaximumResolution: PixelSize?
    package var preferredPeakBitRateForExpensiveNetworks: Double?
    package var preferredMaximumResolutionForExpensiveNetworks: PixelSize?
    package var variantPreferences: VariantPreferences = []
    package var variantPolicy = VariantPolicy.automatic
    package var displaySize: PixelSize?
    package var startsOnFirstEligibleVariant = false
    package var quality: QualityExpression?
    package var preferredPathway: String?
    package var audio: QualityExpression?
    package var subtitles: QualityExpression?
    package var startPosition = StartPosition.automatic
    package var endPosition = EndPosition.automatic
    package var configuredTimeOffsetFromLive: Duration?
    package var automaticallyPreservesTimeOffsetFromLive = false
    package var liveCatchUpRate: Float = 1
    package var stalePolicy = StalePolicy.fail
    package var staleLimit: Duration?
    package var canUseNetworkResourcesForLiveStreamingWhilePaused = false
    package var fellBehindPolicy = FellBehindPolicy.jumpToEdge

    package init() {}

    /// ``liveCatchUpRate`` in its steps of a hundredth, so that what it means is what was written.
    var catchUpRate: Double { (Double(liveCatchUpRate) * 1000).rounded() / 1000 }

    /// ``preferredForwardBufferDuration``, a day at most; nil where the player decides, and where it is not above zero.
    var forwardBuffer: Duration? {
        guard let wish = preferredForwardBufferDuration, wish > .zero else { return nil }
        return min(wish, .seconds(86_400))
    }
}
