import HLSPlaylist

/// Items of which only the sound is played (``PlayerConfiguration/mediaTypes``).
extension PlaybackEngine {
    var wantsSoundOnly: Bool { configuration.playsAudio && !configuration.playsVideo }

    /// The variants to choose from, of those that are eligible: all qualities, or the one that brings the sound.
    func choice(from eligible: [VariantCandidate]) -> [VariantCandidate] {
        guard item?.isSoundOnly == true else {
            let current = item?.variantIndex.flatMap { index in item?.candidates.first { $0.index == index } }
            return RedundantVariants.withoutOthers(eligible, current: current, base: item?.multivariantURL)
        }
        return cheapestSound(of: eligible).map { [$0] } ?? []
    }

    func cheapestSound(of eligible: [VariantCandidate]) -> VariantCandidate? {
        SoundOnlyRule().choose(from: eligible) { audioURL(of: $0.index) != nil }
    }
}
