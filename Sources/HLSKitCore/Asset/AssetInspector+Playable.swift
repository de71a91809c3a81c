import HLSMedia
import HLSPlaylist

/// Whether an asset can be played on this machine: its codecs, its keys, and where nothing tells the codecs its media.
extension AssetInspector {
    func isPlayable() async throws -> Bool {
        switch try await opened() {
        case .file(let file):
            let tracks = try await facts(of: file).tracks
            return tracks.contains { acceptsAllCodecs ? $0.description.encryption == nil : $0.isPlayable }
        case .media(let playlist): return try await isPlayable(playlist, codecs: [])
        case .multivariant(let parent):
            var failure: (any Error)?
            for index in eligibleVariants(of: parent).prefix(Self.maximumVariantTryCount) {
                let variant = parent.variants[index]
                do {
                    if try await isPlayable(mediaPlaylist(variant.uri, of: parent), codecs: variant.codecs) {
                        return true
                    }
                } catch let error as AssetError {
                    // Another one may be there.
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return false
        }
    }

    /// - Parameter codecs: of an eligible variant, which are known to be decoded here; empty if undeclared.
    private func isPlayable(_ playlist: MediaPlaylist, codecs: [String]) async throws -> Bool {
        guard isDecryptable(playlist) else { return false }
        guard codecs.isEmpty, !acceptsAllCodecs else { return true }
        do {
            let hasKeys = playlist.segments.contains { !$0.keys.isEmpty }
            return try await head(of: playlist).tracks.contains { track in
                TrackFacts.canPlay(track) && (track.encryption == nil || hasKeys)
            }
        } catch let error as AssetError where error.code == .contentKey {
            // The program has the keys, and only a player asks for them.
            return true
        }
    }

    /// There is a key that can be had for everything that is encrypted, by a method that is known.
    func isDecryptable(_ playlist: MediaPlaylist) -> Bool {
        let formats = client.options.hooks.keyFormats
        return playlist.segments.allSatisfy { segment in
            segment.isGap || segment.keys.isEmpty
                || segment.keys.contains { $0.uri != nil && $0.decrypts(with: formats) }
        }
    }

    private var acceptsAllCodecs: Bool { client.options.acceptsAllCodecs }
}
