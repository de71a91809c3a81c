public import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
public import HLSKitTime

/// The resources that ``Asset/preload(_:)`` loads ahead of an item.
public enum PreloadScope: Sendable, Hashable {
    /// The asset's first playlist. Costs one request.
    case multivariant
    /// Also the keys that the multivariant playlist announces (`EXT-X-SESSION-KEY`).
    case keys
    /// Also the first variant's media playlist, its audio, and this much media from the start position.
    ///
    /// The range is 0 to 1,000,000 s. Longer times are limited to it. A time that is not above zero, or not a number,
    /// loads no media.
    case media(MediaTime)
}

extension Asset {
    /// Loads the resources that an item of the asset requests first.
    ///
    /// The asset keeps them in memory, up to 64 MiB, for all items that you create from it. The variant is the one that
    /// fits ``AssetOptions/initialBitRateHint``. If a player knows more about the network, its item may start on
    /// another variant, which it then loads itself. Live playlists are loaded again when they change. Cancelling the
    /// task stops loading but keeps the resources that have been loaded.
    /// - Throws: ``HLSError``.
    public func preload(_ scope: PreloadScope) async throws(HLSError) {
        switch scope {
        case .multivariant: break
        case .keys: cache.keepKeys()
        case .media: cache.keepMedia()
        }
        try await HLSError.typed { try await inspector.preload(scope) }
    }
}

extension AssetInspector {
    fileprivate func preload(_ scope: PreloadScope) async throws {
        let opened = try await opened()
        if scope == .multivariant { return }
        if case .multivariant(let playlist) = opened { try await preloadKeys(of: playlist) }
        guard case .media(let time) = scope, time > .zero, time.isNumeric || time.isPositiveInfinity,
            let length = min(time, .seconds(1_000_000)).duration,
            let (main, variant) = try await primary()
        else { return }
        async let audio: Void = preloadAudio(of: variant, length)
        let parent: MultivariantPlaylist? = if case .multivariant(let playlist) = opened { playlist } else { nil }
        let isApart = parent?.playedRendition(.audio, group: variant?.audio, except: variant?.uri ?? "")?.uri != nil
        let declared = ClientDataFacts.ObjectType(codecs: variant?.codecs ?? [])
        try await preloadSegments(of: main, length, declared == .muxed && isApart ? .video : declared)
        try await audio
    }

    private func preloadKeys(of playlist: MultivariantPlaylist) async throws {
        for key in client.keyRules.sessionKeys(of: playlist, at: playlist.url) {
            try await client.preload(key.url, .key, namedBy: playlist.url, key: key)
        }
    }

    private func preloadAudio(of variant: VariantStream?, _ length: Duration) async throws {
        guard let variant, case .multivariant(let parent) = try await opened(),
            let uri = parent.playedRendition(.audio, group: variant.audio, except: variant.uri)?.uri
        else { return }
        try await preloadSegments(of: try await mediaPlaylist(uri, of: parent), length, .audio)
    }

    private func preloadSegments(
        of playlist: MediaPlaylist, _ length: Duration, _ type: ClientDataFacts.ObjectType?
    ) async throws {
        var rest = length
        var loaded: Set<Piece> = []
        for segment in playlist.segments.dropFirst(playlist.startIndex) where rest > .zero {
            rest -= segment.duration
            if segment.isGap { continue }
            for keys in [segment.keys, segment.map?.keys ?? []] {
                let chosen = try? client.keyRules.choose(
                    of: keys, base: playlist.url, mediaSequence: segment.mediaSequence)
                guard let key = chosen?.resource, loaded.insert(Piece(url: key.url)).inserted else { continue }
                try await client.preload(key.url, .key, namedBy: playlist.url, key: key)
            }
            if let map = segment.map, let url = playlist.resolve(map.uri),
                loaded.insert(Piece(url: url, range: map.loadedRange)).inserted
            {
                try await client.preload(
                    url, .initializationSection, range: map.loadedRange, namedBy: playlist.url)
            }
            guard let url = playlist.resolve(segment.uri) else { continue }
            let facts = ClientDataFacts(segmentOf: segment.duration, type, isLive: !playlist.isComplete)
            try await client.preload(
                url, .segment, range: segment.loadedRange, namedBy: playlist.url,
                clientData: client.options.clientData == nil ? nil : ClientDataNote(facts))
        }
    }
}

private struct Piece: Hashable {
    var url: String
    var range: Range<UInt64>?
}

extension ResourceClient {
    fileprivate func preload(
        _ url: String, _ resourceClass: ResourceClass, range: Range<UInt64>? = nil, namedBy source: String,
        key: ResourceID? = nil, clientData: ClientDataNote? = nil
    ) async throws {
        let limit =
            resourceClass == .key ? AssetInspector.maximumKeyByteCount : AssetInspector.maximumSegmentByteCount
        try await load(
            url, resourceClass, range: range, limit: limit, namedBy: source, key: key, clientData: clientData
        ) { DroppingReader() }
    }
}

/// Discards the bytes, because the cache below has kept them.
private struct DroppingReader: ResourceReader {
    mutating func begin(_ response: TransportResponse) {}
    mutating func take(_ bytes: [UInt8]) -> Void? { nil }
    mutating func finish() {}
}

extension MediaPlaylist {
    /// The index of the segment that playback starts with: the first one or, if live, the one at the hold-back.
    fileprivate var startIndex: Int {
        guard !isComplete else { return 0 }
        var distance = serverControl?.holdBack ?? targetDuration * 3
        for index in segments.indices.reversed() {
            distance -= segments[index].duration
            if distance <= .zero { return index }
        }
        return 0
    }
}
