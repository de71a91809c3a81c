import HLSKitMedia

/// Chooses the variant to load when no one takes video: the audio, and as little else as can be.
///
/// Audio that is apart from the video is loaded alone, so the variant of the lowest `BANDWIDTH` that has it does. Of
/// variants that have it among their video, the lowest of those with the best audio.
///
/// What is saved is the best: of the variants whose audio is apart, or that have nothing else, the best; where there are none,
/// the best of all. How good audio among video is, only `BANDWIDTH` tells.
package struct SoundOnlyRule: Sendable {
    private let wantsBest: Bool

    /// - Parameter wantsBest: the audio is saved.
    package init(wantsBest: Bool = false) { self.wantsBest = wantsBest }

    /// - Parameter isApart: whether the audio of a variant has a playlist of its own.
    package func choose(
        from eligible: [AssetVariant], isApart: (AssetVariant) -> Bool
    ) -> AssetVariant? {
        let alone = eligible.filter { isApart($0) || !$0.hasVideo }
        if wantsBest, let best = RecordingRule.best(of: alone) { return best }
        if let cheapest = alone.lowestBandwidth { return cheapest }
        let rank = eligible.map(\.soundRank).max()
        let ranked = eligible.filter { $0.soundRank == rank }
        return wantsBest ? RecordingRule.best(of: ranked) : ranked.lowestBandwidth
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
