import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist

extension AssetVariant {
    /// The variants of a playlist, in its order.
    package static func list(of playlist: MultivariantPlaylist) -> [AssetVariant] {
        // Variants of one group share its options: each with a list of its own would cost both numbers multiplied.
        let groups = Dictionary(grouping: playlist.renditions.filter { $0.type == .audio }, by: \.groupID)
        let options = groups.mapValues { $0.map(AudioRendition.init) }
        var names = Names()
        return playlist.variants.enumerated().map { index, variant in
            let hasVideo =
                variant.resolution != nil || variant.video != nil || variant.codecs.isEmpty
                || variant.codecs.contains { CodecString(rawValue: $0).mediaType == .video }
            return AssetVariant(
                Facts(
                    id: names.name(of: variant), index: index, uri: variant.uri, url: playlist.resolve(variant.uri),
                    bandwidth: Double(variant.bandwidth), averageBandwidth: variant.averageBandwidth.map(Double.init),
                    codecs: variant.codecs,
                    resolution: variant.resolution.map { PixelSize(width: $0.width, height: $0.height) },
                    frameRate: variant.frameRate, videoRange: variant.effectiveVideoRange, hdcpLevel: variant.hdcpLevel,
                    score: variant.score, audioGroup: variant.audio,
                    audioOptions: variant.audio.flatMap { options[$0] } ?? [], pathway: variant.pathwayID,
                    hasVideo: hasVideo, requiredVideoLayouts: variant.requiredLayouts,
                    allowedCPC: variant.contentProtectionLabels))
        }
    }

    /// The same, with why they are not played.
    package static func list(of playlist: MultivariantPlaylist, judgedIn context: SelectionContext) -> [AssetVariant] {
        let variants = list(of: playlist)
        let reasons = VariantEligibility.reasons(variants, in: context)
        return variants.map { variant in
            AssetVariant(variant.facts, ineligibilityReasons: reasons[variant.index] ?? [])
        }
    }

    /// The variant of what has no multivariant playlist.
    package init(onlyVariantAt url: String) { self.init(Facts(index: 0, uri: url, bandwidth: 0)) }
}

extension Rendition {
    /// The same for renditions of several groups that stand for the same choice (docs/behaviour/media-selection.md).
    package var optionID: String {
        stableRenditionID
            ?? "\(name)|\(language ?? "")|\(assocLanguage ?? "")|\(characteristics.joined(separator: ","))|\(isForced)"
    }
}

extension VariantStream {
    /// The entries of `REQ-VIDEO-LAYOUT`, and the names of requirements that this client has never heard of.
    package var requiredLayouts: [String] {
        let layouts = requiredVideoLayout?.split(whereSeparator: { $0 == "," || $0 == "/" }).map(String.init) ?? []
        return layouts + unknownRequirements
    }

    /// `ALLOWED-CPC` with one entry per label.
    fileprivate var contentProtectionLabels: [String] {
        (allowedCPC ?? "").split(separator: ",").flatMap { entry -> [String] in
            let parts = entry.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return [] }
            return parts[1].split(separator: "/").map { "\(parts[0]):\($0)" }
        }
    }
}
