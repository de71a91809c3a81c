/// Variants that are the same but for where they come from are one choice with several places: a rule chooses among
/// qualities, and only pathways lead from one place to another.
///
/// Source: RFC 8216 §6.2.4 (redundant streams); rfc8216bis §7 (pathways).
package enum RedundantVariants {
    /// One variant of each quality, in the order of `variants`: the one of `place`, else the one in use, else the first.
    ///
    /// - Parameters:
    ///   - place: nil where all come from one.
    ///   - placeOf: where a variant comes from, by its index.
    package static func withoutOthers(
        _ variants: [AssetVariant], current: Int?, at place: String?, of placeOf: (Int) -> String?
    ) -> [AssetVariant] {
        var kept: [AssetVariant] = []
        var positions: [Quality: Int] = [:]
        for variant in variants {
            let quality = Quality(variant)
            guard let position = positions[quality] else {
                positions[quality] = kept.count
                kept.append(variant)
                continue
            }
            let other = kept[position]
            let isHere = place != nil && placeOf(variant.index) == place
            let isOtherHere = place != nil && placeOf(other.index) == place
            guard isHere == isOtherHere else {
                if isHere { kept[position] = variant }
                continue
            }
            if variant.index == current { kept[position] = variant }
        }
        return kept
    }

    /// One is in the place of the other.
    package static func areSame(_ one: AssetVariant, _ other: AssetVariant) -> Bool { Quality(one) == Quality(other) }

    /// All that a listener or viewer, or the network, could tell.
    private struct Quality: Hashable {
        private var facts: AssetVariant.Facts

        init(_ variant: AssetVariant) {
            facts = variant.facts
            facts.id = AssetVariant.ID(rawValue: "")
            facts.index = 0
            facts.uri = ""
            facts.url = nil
            facts.pathway = nil
            facts.audioGroup = nil
        }
    }
}
