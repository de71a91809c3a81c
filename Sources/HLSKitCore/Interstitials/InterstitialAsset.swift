import HLSPlaylist

/// What an interstitial plays: one of its assets.
package struct InterstitialAsset: Sendable, Hashable {
    /// Absolute.
    package var url: String
    /// As the list has it; nil while it is not known.
    package var duration: Duration?
    /// What a list says of it in members that start with `X-`.
    package var clientAttributes: [String: JSONDocument] = [:]

    package init(url: String, duration: Duration? = nil) {
        self.url = url
        self.duration = duration
    }
}

extension InterstitialAsset {
    /// The assets of a list that came from `base`. Those whose URI cannot be read are left out.
    static func assets(of list: InterstitialAssetList, base: String) -> [InterstitialAsset] {
        list.assets.compactMap { entry in
            guard let url = URIReference.resolve(entry.uri, against: base) else { return nil }
            var asset = InterstitialAsset(url: url, duration: entry.duration)
            asset.clientAttributes = entry.clientAttributes
            return asset
        }
    }
}
