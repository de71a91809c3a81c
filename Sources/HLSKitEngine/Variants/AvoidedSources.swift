import HLSKitLoading

/// Variants and rendition playlists that failed recently and are avoided for a while.
///
/// Variants are identified by index, renditions by playlist URL.
struct AvoidedSources: Sendable {
    /// The time that each source is avoided.
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

    mutating func forgiveVariants() { variants = PenaltyBox(duration: duration) }

    func renditions(at now: Duration) -> Set<String> { renditions.penalized(at: now) }

    /// Returns variants that failed and variants whose audio rendition failed.
    ///
    /// - Parameter sources: The variants and their renditions, or nil without a multivariant playlist.
    func variants(of sources: @autoclosure () -> VariantSources?, at now: Duration) -> Set<Int> {
        let (indices, urls) = (variants.penalized(at: now), renditions(at: now))
        return urls.isEmpty ? indices : indices.union(sources()?.variants(withAudioFrom: urls) ?? [])
    }
}
