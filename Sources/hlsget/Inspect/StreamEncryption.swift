import HLSGetKit
import HLSKitCore

/// The methods that encrypt a stream, such as `AES-128`, each with its key system unless that is `identity`.
struct StreamEncryption: Sendable, Equatable {
    let methods: [String]

    init(of keys: some Sequence<EncryptionKey>) {
        var methods: [String] = []
        for key in keys {
            let format = key.effectiveKeyFormat
            let method = key.method.rawValue + (format == "identity" ? "" : " \(format)")
            if !methods.contains(method) { methods.append(method) }
        }
        self.methods = methods
    }

    init(of playlist: MediaPlaylist) { self.init(of: playlist.segments.keySets.joined()) }

    /// Returns `nil` if the playlist announces no keys, which says nothing about the media.
    init?(announcedBy playlist: MultivariantPlaylist) {
        guard !playlist.sessionKeys.isEmpty else { return nil }
        self.init(of: playlist.sessionKeys)
    }

    var text: String { methods.isEmpty ? "not encrypted" : "encrypted (\(methods.joined(separator: ", ")))" }
}

extension PlaylistInput {
    /// Finds out whether the media of a multivariant playlist is encrypted.
    ///
    /// The answer follows from the keys that the playlist announces, otherwise from the playlist of its first variant.
    /// It is `nil` if that playlist cannot be loaded.
    func encryption(of playlist: Playlist) async -> StreamEncryption? {
        guard case .multivariant(let playlist) = playlist else { return nil }
        if let announced = StreamEncryption(announcedBy: playlist) { return announced }
        guard baseURL == nil, let url = (try? url()) ?? nil, let loader = try? loader(of: url),
            let variant = playlist.variants.first.flatMap({ playlist.resolve($0.uri) }),
            case .media(let media)? = try? await loader.load(variant, namedBy: playlist.url)
        else { return nil }
        return StreamEncryption(of: media)
    }
}
