package import HLSKitLoading
package import HLSKitSelection
import HLSKitTime

/// All settings of an item. ``PlayerItem`` has them under the same names and describes them.
///
/// They are read at each decision, so that a change takes effect with the next segment.
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
    package var video: QualityExpression?
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

    /// ``liveCatchUpRate`` rounded to thousandths, to remove the rounding error of the conversion.
    var catchUpRate: Double { (Double(liveCatchUpRate) * 1000).rounded() / 1000 }

    /// ``preferredForwardBufferDuration``, at most a day. `nil` if it is not above zero, so that the player decides.
    var forwardBuffer: Duration? {
        guard let wish = preferredForwardBufferDuration, wish > .zero else { return nil }
        return min(wish, .seconds(86_400))
    }
}
