import HLSKitMedia
package import HLSKitPlaylist

package struct MediaFileDescription: Sendable, Hashable {
    package var container: String
    /// The size of the file, or `nil` if the server does not report it.
    package var byteCount: Int?
}

extension Asset {
    /// Loads the container of the asset's file. The result is `nil` for playlists.
    package func loadMediaFileDescription() async throws -> MediaFileDescription? {
        guard case .file(let file) = try await inspector.opened() else { return nil }
        return MediaFileDescription(container: file.container, byteCount: file.byteCount)
    }

    /// Reads the tracks of a loaded media playlist from its first segment, or from the newest one if it is live.
    package func loadTracks(of playlist: MediaPlaylist) async throws -> [AssetTrack] {
        try await inspector.tracks(of: playlist)
    }
}

extension MediaFile {
    fileprivate var container: String {
        switch content {
        case .mp4(let header, _, _): header.isFragmented ? "fragmented MP4" : "MP4"
        case .elementary(let head) where head.tracks.allSatisfy(\.isPacked): "packed audio"
        case .elementary: "MPEG-2 transport stream"
        case .container(let file): file.name
        }
    }
}
