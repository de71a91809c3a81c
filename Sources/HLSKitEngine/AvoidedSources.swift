import HLSKitLoading

/// The variants and the playlists of renditions that failed of late, which are avoided for a while.
///
/// Variants are named by their indices, renditions by the URLs of their playlists.
struct AvoidedSources: Sendable {
    /// How long each is avoided.
    let duration: Duration
    private var variants: PenaltyBox<Int>
    private var renditions: PenaltyBox<String>

    init(duration: Duration = RetryPolicies().penalty) {
        self.duration = duration
        variants = PenaltyBox(duration: duration)
        renditions = PenaltyBox(duration: duration)
    }

    mutating func avoid(variants indices: [Int], at now: Duration) {
        for index in indices { variants.add(index, at: now) }
    }

    mutating func avoid(rendition url: String, at now: Duration) { renditions.add(url, at: now) }

    /// All variants may be used again.
    mutating func forgiveVariants() { variants = PenaltyBox(duration: duration) }

    func renditions(at now: Duration) -> Set<String> { renditions.penalized(at: now) }

    /// Variants that failed, and those that would be played with audio that did.
    ///
    /// - Parameter sources: nil without a multivariant playlist.
    func variants(of sources: @autoclosure () -> VariantSources?, at now: Duration) -> Set<Int> {
        let (indices, urls) = (variants.penalized(at: now), renditions(at: now))
        return urls.isEmpty ? indices : indices.union(sources()?.variants(withAudioFrom: urls) ?? [])
    }
}
