public import HLSKitPlaylist

/// What an interstitial plays: one of its assets.
public struct InterstitialAsset: Sendable, Hashable {
    /// The absolute URL of a playlist, or of a media file without one, as ``PlayerItem/urlString`` is.
    public var urlString: String
    /// As the list has it; nil while it is not known.
    public var duration: Duration?
    /// What a list says of it in members that start with `X-`.
    public var clientAttributes: [String: JSONDocument] = [:]

    /// Makes an asset.
    ///
    /// - Parameters:
    ///   - urlString: absolute.
    ///   - duration: how long it lasts; nil where that is not known before it is loaded.
    public init(urlString: String, duration: Duration? = nil) {
        self.urlString = urlString
        self.duration = duration
    }
}

extension InterstitialAsset {
    /// The assets of a list that came from `base`. Those whose URI cannot be read are left out.
    static func assets(of list: InterstitialAssetList, base: String) -> [InterstitialAsset] {
        list.assets.compactMap { entry in
            guard let url = URIReference.resolve(entry.uri, against: base) else { return nil }
            var asset = InterstitialAsset(urlString: url, duration: entry.duration)
            asset.clientAttributes = entry.clientAttributes
            return asset
        }
    }
}
