import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Decides when and how to request a steering manifest, and from which URL.
///
/// Source: rfc8216bis §7.4.
struct SteeringMonitor: Sendable {
    /// The manifest, if it is inside the playlist itself.
    private(set) var inlineText: String?
    /// The URL of the next request, or `nil` if there are no more requests.
    private var url: String?
    /// The URL in the `EXT-X-CONTENT-STEERING` tag.
    private var origin: String?
    private var base: String
    private var timeToLive = SteeringManifest.defaultTimeToLive
    /// The last failure, or `nil` after a success.
    private var trouble: String?

    init(_ tag: ContentSteering, base: String) {
        self.base = base
        if Self.isInline(tag.serverURI) {
            inlineText = tag.serverURI
        } else {
            origin = URIReference.resolve(tag.serverURI, against: base)
            url = origin
        }
    }

    /// Called when the playlist was loaded from a fresh URL. The server's URL is refreshed too, unless the server has
    /// named another one.
    mutating func renew(_ tag: ContentSteering?, base: String) {
        self.base = base
        guard let tag, let url, url == origin, let fresh = URIReference.resolve(tag.serverURI, against: base),
            !Self.isInline(fresh)
        else { return }
        (origin, self.url) = (fresh, fresh)
    }

    private static func isInline(_ uri: String) -> Bool { uri.prefix(5).lowercased() == "data:" }

    /// The URL of the next request.
    ///
    /// - Parameter throughput: The throughput in bits per second, or `nil` if it is unknown.
    func request(pathway: String?, throughput: Double?) -> String? {
        // A data URL contains the response, so it gets no parameters.
        if let url, Self.isInline(url) { return url }
        guard let url, var reference = URIReference(url) else { return nil }
        var parameters: [(name: String, value: String)] = []
        if let pathway { parameters.append(("_HLS_pathway", PercentCoding.encoded(pathway))) }
        if let throughput, throughput >= 1 {
            parameters.append(("_HLS_throughput", "\(Int(min(throughput, 1e15)))"))
        }
        let kept = (reference.query ?? "").split(separator: "&").filter { part in
            !["_HLS_pathway", "_HLS_throughput"].contains(part.prefix { $0 != "=" })
        }
        let all = kept.map(String.init) + parameters.map { "\($0.name)=\($0.value)" }
        reference.query = all.isEmpty ? nil : all.joined(separator: "&")
        reference.fragment = nil
        return reference.description
    }

    /// Called when a manifest arrives.
    ///
    /// - Parameter source: The URL of the manifest, or `nil` if it was in the playlist.
    /// - Returns: The time of the next request, or `nil` if there is none.
    mutating func take(_ manifest: SteeringManifest, from source: String?, at now: Duration) -> Duration? {
        timeToLive = manifest.timeToLive
        trouble = nil
        inlineText = nil
        if let uri = manifest.reloadURI {
            url = URIReference.resolve(uri, against: source ?? base) ?? url
        }
        return url == nil ? nil : now + timeToLive
    }

    /// A failed request. The last manifest stays in effect.
    struct Failure: Sendable, Hashable {
        /// The time of the next request, or `nil` if there is none.
        var next: Duration?
        /// Whether the failure differs from the previous one.
        var isNews: Bool
    }

    /// - Parameters:
    ///   - status: The status of the response, or `nil` if there was none.
    ///   - retryAfter: The delay that the response requests.
    mutating func fail(
        _ text: String, status: Int? = nil, retryAfter: Duration? = nil, at now: Duration
    ) -> Failure {
        let isNews = trouble != text
        trouble = text
        inlineText = nil
        if status == 410 { url = nil }
        guard url != nil else { return Failure(next: nil, isNews: isNews) }
        let range = SteeringManifest.timesToLive
        let wait = retryAfter.map { min(max($0, range.lowerBound), range.upperBound) } ?? timeToLive
        return Failure(next: now + wait, isNews: isNews)
    }

    /// The time of a postponed request, because nothing is loaded now.
    func later(than now: Duration) -> Duration? { url == nil ? nil : now + timeToLive }
}

// MARK: - Steering of an item

extension ItemState {
    struct ItemSteering: Sendable {
        var monitor: SteeringMonitor
        var clones = PathwayClones()
        /// The multivariant playlist without clones.
        private(set) var written: MultivariantPlaylist
        private(set) var manifest: SteeringManifest?

        init(_ tag: ContentSteering, of playlist: MultivariantPlaylist, base: String) {
            monitor = SteeringMonitor(tag, base: base)
            written = playlist
        }

        /// The pathway order that the server wants, with the pathways named as in the playlist.
        var priority: [String] { manifest?.priority.map(clones.name) ?? [] }

        /// Applies a manifest. Returns the playlist with its clones, or `nil` if the playlist does not change.
        mutating func take(_ manifest: SteeringManifest, base: String) -> MultivariantPlaylist? {
            self.manifest = manifest
            let own = Set(written.variants.map(\.pathway))
            return clones.take(manifest.clones, except: own) ? clones.playlist(of: written, base: base) : nil
        }

        mutating func renew(_ playlist: MultivariantPlaylist, base: String) -> MultivariantPlaylist {
            written = playlist
            monitor.renew(playlist.contentSteering, base: base)
            return clones.isEmpty ? playlist : clones.playlist(of: playlist, base: base)
        }
    }
}
