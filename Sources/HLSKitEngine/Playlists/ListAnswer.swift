import HLSKitPlaylist

/// The result of a request for a lane's playlist.
enum ListAnswer: Sendable {
    case useless(PlaylistFailure)
    /// The playlist of a variant or rendition that was left in the meantime. It changes nothing.
    case late(MediaPlaylist, LoadedPlaylist)
    case first(MediaPlaylist, LoadedPlaylist)
    /// A newer state of the known playlist.
    case newer(MediaPlaylist, LoadedPlaylist)

    /// - Parameters:
    ///   - url: The URL of the lane's playlist, or nil if the lane no longer exists.
    ///   - isKnown: Whether the lane has a playlist.
    init(
        _ result: Result<LoadedPlaylist, PlaylistFailure>, to request: RequestUnderWay, leadsTo url: String?,
        isKnown: Bool
    ) {
        switch result {
        case .failure(let failure): self = .useless(failure)
        case .success(let loaded):
            guard case .media(let playlist) = loaded.playlist else {
                self = .useless(
                    PlaylistFailure(
                        kind: .malformed, url: loaded.url,
                        text: "a multivariant playlist where a media playlist belongs"))
                return
            }
            guard url == request.url else {
                self = .late(playlist, loaded)
                return
            }
            self = request.isReload && isKnown ? .newer(playlist, loaded) : .first(playlist, loaded)
        }
    }

    var loaded: LoadedPlaylist? {
        switch self {
        case .useless: nil
        case .late(_, let loaded), .first(_, let loaded), .newer(_, let loaded): loaded
        }
    }
}

extension MediaPlaylist {
    /// Returns why nothing can be loaded from the playlist, or nil if it has or may get segments.
    func emptiness(at url: String) -> PlaylistFailure? {
        guard segments.isEmpty, isComplete else { return nil }
        return PlaylistFailure(kind: .malformed, url: url, text: "the playlist lists no segment")
    }
}
