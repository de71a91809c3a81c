/// Where a variant is loaded from: its pathway where the playlist names one, else its server.
struct VariantPlace: Sendable, Hashable {
    private let name: String

    /// - Parameter base: the URL of the multivariant playlist.
    init(_ variant: AssetVariant, base: String?) {
        if let pathway = variant.pathwayID {
            name = pathway
        } else {
            let url = base.flatMap { URIReference.resolve(variant.uri, against: $0) } ?? variant.uri
            name = Origin(of: url)?.description ?? ""
        }
    }
}

/// Variants that are the same but for where they come from are one choice with several places: a rule chooses among
/// qualities, and only a failure leads from one place to another.
///
/// Source: RFC 8216 §6.2.4 (redundant streams); rfc8216bis §7 (pathways).
enum RedundantVariants {
    /// One variant of each quality, in the order of `variants`: the one in use, else the one from where that comes, else
    /// the first.
    static func withoutOthers(
        _ variants: [AssetVariant], current: AssetVariant?, base: String?
    ) -> [AssetVariant] {
        var kept: [AssetVariant] = []
        var positions: [Quality: Int] = [:]
        let place = current.map { VariantPlace($0, base: base) }
        for variant in variants {
            let quality = Quality(variant)
            guard let position = positions[quality] else {
                positions[quality] = kept.count
                kept.append(variant)
                continue
            }
            let other = kept[position]
            guard other.index != current?.index else { continue }
            let isNearer =
                variant.index == current?.index
                || VariantPlace(variant, base: base) == place && VariantPlace(other, base: base) != place
            if isNearer { kept[position] = variant }
        }
        return kept
    }

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
