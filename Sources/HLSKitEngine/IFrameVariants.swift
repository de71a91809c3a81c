import HLSKitPlaylist

/// The I-frames of an item that can be decoded: which of them are played.
struct IFrameVariants: Sendable {
    /// Lowest `BANDWIDTH` first.
    private let variants: [VariantStream]
    /// Some are listed, whether they can be decoded or not.
    private let isDeclared: Bool

    /// - Parameter canPlay: nil plays everything.
    init(_ variants: [VariantStream], canPlay: ((String) -> Bool)?) {
        let playable = variants.filter { variant in
            guard let canPlay else { return true }
            return variant.codecs.allSatisfy(canPlay)
        }
        isDeclared = !variants.isEmpty
        self.variants = playable.sorted { $0.bandwidth < $1.bandwidth }
    }

    /// The rates that they make possible, of an item that is presented in real time.
    func capabilities(isPaced: Bool) -> TimeControlMachine.RateCapabilities {
        guard obstacle(isPaced: isPaced) == nil else { return TimeControlMachine.RateCapabilities() }
        return TimeControlMachine.RateCapabilities(
            canPlayFastForward: true, canPlayReverse: true, canPlaySlowReverse: true, canPlayFastReverse: true)
    }

    /// Why they are not played; nil where they can be.
    func obstacle(isPaced: Bool) -> TrickPlayObstacle? {
        if !isDeclared { return .noIFrames }
        if variants.isEmpty { return .undecodable }
        return isPaced ? nil : .unpaced
    }

    /// The best that can be loaded as fast as they are shown and are no larger than the variant's pictures.
    ///
    /// - Parameter height: of the variant's pictures; nil and 0 where it is not known.
    func best(at rate: Float, height: Int?, bitsPerSecond: Double) -> VariantStream? {
        let fitting = variants.filter { variant in
            guard let own = variant.resolution?.height, let height, height > 0 else { return true }
            return own <= height
        }
        let speed = Double(max(1, abs(rate)))
        return fitting.last { Double($0.bandwidth) * speed <= bitsPerSecond } ?? fitting.first ?? variants.first
    }
}
