import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist

extension AssetVariant {
    package static func list(of playlist: MultivariantPlaylist) -> [AssetVariant] {
        // The variants of a group share its options, because separate arrays would multiply both counts.
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

    package static func list(of playlist: MultivariantPlaylist, judgedIn context: SelectionContext) -> [AssetVariant] {
        let variants = list(of: playlist)
        let reasons = VariantEligibility.reasons(variants, in: context)
        return variants.map { variant in
            AssetVariant(variant.facts, ineligibilityReasons: reasons[variant.index] ?? [])
        }
    }

    package init(onlyVariantAt url: String) { self.init(Facts(index: 0, uri: url, bandwidth: 0)) }
}

extension Rendition {
    /// An identifier that renditions of several groups share if they stand for the same choice.
    package var optionID: String {
        stableRenditionID
            ?? "\(name)|\(language ?? "")|\(assocLanguage ?? "")|\(characteristics.joined(separator: ","))|\(isForced)"
    }
}

extension VariantStream {
    /// The entries of `REQ-VIDEO-LAYOUT`, and the names of unknown requirements.
    package var requiredLayouts: [String] {
        let layouts = requiredVideoLayout?.split(whereSeparator: { $0 == "," || $0 == "/" }).map(String.init) ?? []
        return layouts + unknownRequirements
    }

    /// The content of `ALLOWED-CPC` with one entry per label.
    fileprivate var contentProtectionLabels: [String] {
        (allowedCPC ?? "").split(separator: ",").flatMap { entry -> [String] in
            let parts = entry.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return [] }
            return parts[1].split(separator: "/").map { "\(parts[0]):\($0)" }
        }
    }
}
