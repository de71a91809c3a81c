import HLSKitLoading

extension [AssetVariant] {
    private static let maximumNameCount = 16

    /// The part of an error that lists the variants if none matches: `available: 240p 599344, 480p 1200000`.
    package var offer: String {
        guard !isEmpty else { return "none available" }
        let names = prefix(Self.maximumNameCount).map { candidate in
            (candidate.resolution.map { "\($0.height)p " } ?? "") + "\(candidate.declaredBitRate)"
        }
        return "available: " + names.joined(separator: ", ") + (count > Self.maximumNameCount ? ", ..." : "")
    }
}
