public import HLSKitPlaylist

/// An asset that an interstitial plays.
public struct InterstitialAsset: Sendable, Hashable {
    /// The absolute URL of a playlist, or of a media file without a playlist, as in ``PlayerItem/urlString``.
    public var urlString: String
    /// The duration according to the asset list, or `nil` if it is not known.
    public var duration: Duration?
    /// The asset's attributes in an asset list whose names start with `X-`.
    public var clientAttributes: [String: JSONDocument] = [:]

    /// Creates an asset.
    ///
    /// - Parameters:
    ///   - urlString: The absolute URL of the asset.
    ///   - duration: The duration, or `nil` if it is not known before the asset is loaded.
    public init(urlString: String, duration: Duration? = nil) {
        self.urlString = urlString
        self.duration = duration
    }
}

extension InterstitialAsset {
    static func assets(of list: InterstitialAssetList, base: String) -> [InterstitialAsset] {
        list.assets.compactMap { entry in
            guard let url = URIReference.resolve(entry.uri, against: base) else { return nil }
            var asset = InterstitialAsset(urlString: url, duration: entry.duration)
            asset.clientAttributes = entry.clientAttributes
            return asset
        }
    }
}
