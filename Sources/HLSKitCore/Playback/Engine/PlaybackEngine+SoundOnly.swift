import HLSPlaylist

/// Items of which only the sound is played (``PlayerConfiguration/mediaTypes``).
extension PlaybackEngine {
    var wantsSoundOnly: Bool { configuration.playsAudio && !configuration.playsVideo }

    /// The variants whose audio is apart from the frames, if only audio is played; else nil.
    var variantsWithSeparateAudio: Set<Int>? {
        guard let item, item.isSoundOnly else { return nil }
        return Set(item.candidates.map(\.index).filter { audioURL(of: $0) != nil })
    }

    func cheapestSound(of eligible: [VariantCandidate]) -> VariantCandidate? {
        SoundOnlyRule().choose(from: eligible) { audioURL(of: $0.index) != nil }
    }
}
