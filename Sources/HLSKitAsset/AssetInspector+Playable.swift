import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// Determines whether an asset can be played on this machine, from its codecs, its keys and, if needed, its media.
extension AssetInspector {
    func isPlayable() async throws -> Bool {
        guard case .multivariant(let parent) = try await opened() else {
            return try await reasons(against: nil).isEmpty
        }
        var failure: (any Error)?
        for index in eligibleVariants(of: parent).prefix(Self.maximumVariantTryCount) {
            do {
                if try await reasons(against: parent.variants[index]).isEmpty { return true }
            } catch let error as HLSError {
                // Another variant may be available.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return false
    }

    /// Returns why a variant is not played here: the reasons from the multivariant playlist, then from its media
    /// playlist.
    func ineligibilityReasons(of variant: AssetVariant) async throws -> [IneligibilityReason] {
        guard let listed = try await variants().first(where: { $0.id == variant.id }) else {
            throw HLSError(
                code: .noEligibleVariant, urlString: url, cause: "the asset has no such variant",
                detail: variant.description)
        }
        guard case .multivariant(let parent) = try await opened() else { return try await reasons(against: nil) }
        let own = try await reasons(against: parent.variants[listed.index])
        return listed.ineligibilityReasons + own.filter { !listed.ineligibilityReasons.contains($0) }
    }

    /// Returns the reasons from the variant's media playlist and, if no codecs are declared, from its media.
    ///
    /// - Parameter variant: The variant, or `nil` if the asset has no multivariant playlist.
    private func reasons(against variant: VariantStream?) async throws -> [IneligibilityReason] {
        let playlist: MediaPlaylist
        switch (try await opened(), variant) {
        case (.file(let file), _): return Self.reasons(against: try await facts(of: file).tracks, acceptsAllCodecs)
        case (.media(let only), _): playlist = only
        case (.multivariant(let parent), let variant?): playlist = try await mediaPlaylist(variant.uri, of: parent)
        case (.multivariant, nil): return []
        }
        guard isDecryptable(playlist) else { return [.keySystem] }
        guard variant?.codecs.isEmpty ?? true, !acceptsAllCodecs else { return [] }
        do {
            let hasKeys = playlist.segments.contains { !$0.keys.isEmpty }
            let tracks = try await head(of: playlist).tracks.filter(TrackFacts.canPlay)
            if tracks.isEmpty { return [.codec] }
            return tracks.contains { $0.encryption == nil || hasKeys } ? [] : [.keySystem]
        } catch let error as HLSError where error.code == .contentKey {
            // The app has the keys, and only a player requests them.
            return []
        }
    }

    private static func reasons(against tracks: [TrackFacts], _ acceptsAllCodecs: Bool) -> [IneligibilityReason] {
        if tracks.contains(where: { acceptsAllCodecs ? $0.description.encryption == nil : $0.isPlayable }) { return [] }
        let isDecoded = acceptsAllCodecs || tracks.contains { TrackFacts.canPlay($0.description) }
        return [isDecoded && !tracks.isEmpty ? .keySystem : .codec]
    }

    func isDecryptable(_ playlist: MediaPlaylist) -> Bool {
        let rules = client.keyRules
        var judged: Set<[EncryptionKey]> = []
        for segment in playlist.segments where !segment.isGap && judged.insert(segment.keys).inserted {
            do throws(HLSError) {
                _ = try rules.choose(of: segment.keys, base: playlist.url, mediaSequence: segment.mediaSequence)
            } catch {
                return false
            }
        }
        return true
    }

    private var acceptsAllCodecs: Bool { client.options.acceptsAllCodecs }
}
