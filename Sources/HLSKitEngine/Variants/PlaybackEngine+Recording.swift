import HLSKitPlaylist
import HLSKitSelection

/// One variant for the whole item (``VariantPolicy/best(isFixed:)``), as ``VariantChooser`` keeps it.
extension PlaybackEngine {
    /// Applies the current variant policy. The item's outlook then reflects whether there is a choice of variants.
    mutating func noteVariantPolicy() {
        let keepsBest = preferences.variantPolicy.keepsBest
        item?.variants.follow(keepsBest: keepsBest)
        preferPathway()
    }

    /// Whether the variant may no longer change, because media of it is loaded and the policy is fixed.
    var isVariantFixed: Bool { preferences.variantPolicy.isFixed && item?.hasPresentable == true }

    /// Forgives earlier failures, if possible, before the variant of the segment at `time` is chosen.
    mutating func forgivePassed(upTo time: Duration) {
        let past = VariantChooser.Past(
            isPaced: configuration.pacing == .realTime, isLive: item?.isLive == true,
            next: item?.lanes[.main]?.segments.first?.job.start)
        if item?.variants.forgivesPassed(upTo: time, past) == true { item?.variants.forgive() }
    }

    /// Called when a segment was skipped. The next one may come from the recorded variant.
    mutating func forgiveLost(at start: Duration) {
        guard !isVariantFixed, item?.variants.forgivesLost(at: start) == true else { return }
        item?.variants.forgive()
        let (eligible, next) = (eligibility().eligible, item?.lanes[.main]?.segments.first)
        guard let next, item?.variants.isReloaded(from: next.job.start, behind: start, among: eligible) == true else {
            return
        }
        goBack(to: next.id)
    }
}
