package import HLSKitCore

/// The title of a stream, for the names of files.
package enum StreamTitle {
    /// As the stream declares it (`EXT-X-SESSION-DATA` of `com.apple.hls.title`, user data of MP4, ID3), else what its URL says.
    package static func title(of asset: Asset) async -> String {
        let items = (try? await asset.load(.commonMetadata)) ?? []
        for item in items where item.commonKey == .title {
            let text = (try? await item.load(.stringValue)) ?? nil
            if let text, !text.trimmed().isEmpty { return text.trimmed() }
        }
        return DownloadTarget.name(of: asset.urlString)
    }
}
