import HLSKitMedia

/// The container of a media file without a playlist, apart from its tracks.
package struct MediaFileDescription: Sendable, Hashable {
    /// As in `MP4`.
    package var container: String
    /// nil if the server does not say.
    package var byteCount: Int?
}

extension Asset {
    /// The container of the asset's file; nil for playlists.
    package func loadMediaFileDescription() async throws -> MediaFileDescription? {
        guard case .file(let file) = try await inspector.opened() else { return nil }
        return MediaFileDescription(container: file.container, byteCount: file.byteCount)
    }
}

extension MediaFile {
    fileprivate var container: String {
        switch content {
        case .mp4(let header, _, _): header.isFragmented ? "fragmented MP4" : "MP4"
        case .elementary(let head) where head.tracks.allSatisfy(\.isPacked): "packed audio"
        case .elementary: "MPEG-2 transport stream"
        }
    }
}
