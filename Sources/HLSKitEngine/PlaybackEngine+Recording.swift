import HLSKitPlaylist
import HLSKitSelection

/// One variant from beginning to end (``VariantPolicy/best(isFixed:)``), as ``VariantChooser`` keeps it.
extension PlaybackEngine {
    /// Whoever looks at the item knows whether there is a choice.
    mutating func noteVariantPolicy() {
        let keepsBest = preferences.variantPolicy.keepsBest
        item?.variants.follow(keepsBest: keepsBest)
        preferPathway()
    }

    /// There is media of a variant that is to be the only one.
    var isVariantFixed: Bool { preferences.variantPolicy.isFixed && item?.hasPresentable == true }

    /// A segment at `time` is to be decided about: what failed before it may be forgiven.
    mutating func forgivePassed(upTo time: Duration) {
        let past = VariantChooser.Past(
            isPaced: configuration.pacing == .realTime, isLive: item?.isLive == true,
            next: item?.lanes[.main]?.segments.first?.job.start)
        if item?.variants.forgivesPassed(upTo: time, past) == true { item?.variants.forgive() }
    }

    /// A segment was skipped. The one behind it may come from the variant that is recorded.
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
