import HLSKitMedia

/// Chooses the variant to load when no one takes video: the audio, and as little else as can be.
///
/// Audio that is apart from the video is loaded alone, so the variant of the lowest `BANDWIDTH` that has it does. Of
/// variants that have it among their video, the lowest of those with the best audio.
package struct SoundOnlyRule: Sendable {
    package init() {}
    /// - Parameter isApart: whether the audio of a variant has a playlist of its own.
    package func choose(
        from eligible: [AssetVariant], isApart: (AssetVariant) -> Bool
    ) -> AssetVariant? {
        if let cheapest = eligible.filter({ isApart($0) || !$0.hasVideo }).lowestBandwidth { return cheapest }
        let best = eligible.map(\.soundRank).max()
        return eligible.filter { $0.soundRank == best }.lowestBandwidth
    }
}

extension AssetVariant {
    /// How good its audio is, as far as its codecs say: the more a codec makes up of what was left out, the less.
    fileprivate var soundRank: Int {
        let ranks = codecs.filter { CodecString(rawValue: $0).mediaType == .audio }.map { codec in
            switch codec {
            case "mp4a.40.29": 1
            case "mp4a.40.5": 2
            default: 3
            }
        }
        return ranks.max() ?? (codecs.isEmpty ? 3 : 0)
    }
}
