import HLSKitPlaylist

/// What a request for a lane's playlist has brought.
enum ListAnswer: Sendable {
    case useless(PlaylistFailure)
    /// The list of a variant or rendition that was left in the meantime: it changes nothing.
    case late(MediaPlaylist, LoadedPlaylist)
    case first(MediaPlaylist, LoadedPlaylist)
    /// A newer state of the one that is known.
    case newer(MediaPlaylist, LoadedPlaylist)

    /// - Parameters:
    ///   - url: of the lane's playlist; nil for a lane that is gone.
    ///   - isKnown: the lane has a list.
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
    /// Why there is nothing to load from it; nil where there is something, or may yet be.
    func emptiness(at url: String) -> PlaylistFailure? {
        guard segments.isEmpty, isComplete else { return nil }
        return PlaylistFailure(kind: .malformed, url: url, text: "the playlist lists no segment")
    }
}
