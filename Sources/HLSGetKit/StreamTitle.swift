package import HLSKitCore

package enum StreamTitle {
    /// The title that the stream declares, or one derived from its URL. Sources are `EXT-X-SESSION-DATA` with
    /// `com.apple.hls.title`, MP4 user data and ID3.
    package static func title(of asset: Asset) async -> String {
        let items = (try? await asset.load(.commonMetadata)) ?? []
        for item in items where item.commonKey == .title {
            let text = (try? await item.load(.stringValue)) ?? nil
            if let text, !text.trimmed().isEmpty { return text.trimmed() }
        }
        return DownloadTarget.name(of: asset.urlString)
    }
}
