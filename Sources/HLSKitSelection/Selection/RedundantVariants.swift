/// Merges redundant variants, which differ only in their servers, into one choice. Rules select a quality, and only
/// pathways select a server.
///
/// Source: RFC 8216 §6.2.4 (redundant streams); rfc8216bis §7 (pathways).
package enum RedundantVariants {
    /// Returns one variant of each quality in the order of `variants`: the one at `place`, otherwise the current one,
    /// otherwise the first.
    ///
    /// - Parameters:
    ///   - place: The preferred server, or nil if all variants have the same one.
    ///   - placeOf: Returns the server of a variant by its index.
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

    package static func areSame(_ one: AssetVariant, _ other: AssetVariant) -> Bool { Quality(one) == Quality(other) }

    /// All attributes that a viewer, a listener or the network could notice.
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
