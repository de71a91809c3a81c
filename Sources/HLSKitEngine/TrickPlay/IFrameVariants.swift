import HLSKitPlaylist

/// The I-frame variants of an item that can be decoded.
struct IFrameVariants: Sendable {
    /// Sorted by `BANDWIDTH`, lowest first.
    private let variants: [VariantStream]
    /// Whether the item lists any I-frame variants, decodable or not.
    private let isDeclared: Bool

    /// - Parameter canPlay: Returns whether a codec can be played, or nil to accept all.
    init(_ variants: [VariantStream], canPlay: ((String) -> Bool)?) {
        let playable = variants.filter { variant in
            guard let canPlay else { return true }
            return variant.codecs.allSatisfy(canPlay)
        }
        isDeclared = !variants.isEmpty
        self.variants = playable.sorted { $0.bandwidth < $1.bandwidth }
    }

    /// Returns the rates that I-frames make possible.
    ///
    /// - Parameter isPaced: Whether the item is presented in real time.
    func capabilities(isPaced: Bool) -> TimeControlMachine.RateCapabilities {
        guard obstacle(isPaced: isPaced) == nil else { return TimeControlMachine.RateCapabilities() }
        return TimeControlMachine.RateCapabilities(
            canPlayFastForward: true, canPlayReverse: true, canPlaySlowReverse: true, canPlayFastReverse: true)
    }

    /// Returns why I-frames are not played, or nil if they can be.
    func obstacle(isPaced: Bool) -> TrickPlayObstacle? {
        if !isDeclared { return .noIFrames }
        if variants.isEmpty { return .undecodable }
        return isPaced ? nil : .unpaced
    }

    /// Returns the best variant that loads fast enough and is no larger than the regular video.
    ///
    /// - Parameter height: The height of the regular video, or nil or 0 if unknown.
    func best(at rate: Float, height: Int?, bitsPerSecond: Double) -> VariantStream? {
        let fitting = variants.filter { variant in
            guard let own = variant.resolution?.height, let height, height > 0 else { return true }
            return own <= height
        }
        let speed = Double(max(1, abs(rate)))
        return fitting.last { Double($0.bandwidth) * speed <= bitsPerSecond } ?? fitting.first ?? variants.first
    }
}
