import HLSKitLoading

extension [AssetVariant] {
    /// The most that an error line names.
    private static let maximumNameCount = 16

    /// Part of an error for when none of them matches: `available: 240p 599344, 480p 1200000`.
    package var offer: String {
        guard !isEmpty else { return "none available" }
        let names = prefix(Self.maximumNameCount).map { candidate in
            (candidate.resolution.map { "\($0.height)p " } ?? "") + "\(candidate.declaredBitRate)"
        }
        return "available: " + names.joined(separator: ", ") + (count > Self.maximumNameCount ? ", ..." : "")
    }
}
