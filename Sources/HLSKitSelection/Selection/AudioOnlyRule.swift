import HLSKitMedia

/// Selects the variant to load if no output takes video, to load the audio and as little else as possible.
///
/// Separate audio is loaded alone, so the variant with the lowest `BANDWIDTH` suffices. If audio is only muxed with
/// video, the rule takes the lowest of the variants with the best audio.
///
/// If the audio is saved, the rule takes the best variant with separate or only audio, otherwise the best of all. For
/// muxed audio, `BANDWIDTH` is the only indication of quality.
package struct AudioOnlyRule: Sendable {
    private let wantsBest: Bool

    /// - Parameter wantsBest: Whether the audio is saved.
    package init(wantsBest: Bool = false) { self.wantsBest = wantsBest }

    /// - Parameter isApart: Whether the audio of a variant has a separate playlist.
    package func choose(
        from eligible: [AssetVariant], isApart: (AssetVariant) -> Bool
    ) -> AssetVariant? {
        let alone = eligible.filter { isApart($0) || !$0.hasVideo }
        if wantsBest, let best = RecordingRule.best(of: alone) { return best }
        if let cheapest = alone.lowestBandwidth { return cheapest }
        let rank = eligible.map(\.audioRank).max()
        let ranked = eligible.filter { $0.audioRank == rank }
        return wantsBest ? RecordingRule.best(of: ranked) : ranked.lowestBandwidth
    }
}

extension AssetVariant {
    /// The rank of its audio by the codecs. A codec that synthesizes more of the audio ranks lower.
    fileprivate var audioRank: Int {
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
