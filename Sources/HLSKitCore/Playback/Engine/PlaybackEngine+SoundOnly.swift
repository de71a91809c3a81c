import HLSPlaylist

/// Items of which nobody takes the pictures.
extension PlaybackEngine {
    /// Nobody takes pictures, as far as is known when the variant is chosen.
    var wantsSoundOnly: Bool {
        configuration.playsAudio && (!configuration.playsVideo || outputLimits.isSoundOnly)
    }

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

    /// An output that takes pictures has come: they are loaded from the playhead on, with the sound that belongs to them.
    mutating func showPicturesIfWanted() {
        guard let item, item.isSoundOnly, !wantsSoundOnly, item.error == nil, item.pendingFailure == nil else { return }
        self.item?.isSoundOnly = false
        self.item?.seen = [:]
        self.item?.choiceLimits = nil
        let choice = InitialVariantRule().choose(
            from: self.choice(from: eligibility().eligible), knownThroughput: loading.estimatedBitsPerSecond(at: now),
            startsOnFirstEligibleVariant: preferences.startsOnFirstEligibleVariant)
        guard let choice else { return }
        use(choice.variantIndex, explanation: "pictures are wanted: \(choice.explanation)")
        guard item.start != nil else { return }
        seek(SeekRequest(destination: .time(playhead), isOwn: true, isJump: false), reloads: true)
    }
}
