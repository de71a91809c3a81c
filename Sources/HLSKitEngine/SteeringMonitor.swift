import HLSKitPlaylist

/// Decides when a steering server is asked, where, and how; and what of its answers holds.
///
/// Source: rfc8216bis §7.4; docs/behaviour/pathways.md.
struct SteeringMonitor: Sendable {
    /// The manifest is in the playlist itself.
    private(set) var inlineText: String?
    /// Where it is asked for next; nil where it is not any more.
    private var url: String?
    /// Where the tag says that it is.
    private var origin: String?
    private var base: String
    private var timeToLive = SteeringManifest.defaultTimeToLive
    /// What went wrong last; nil since an answer came.
    private var trouble: String?

    /// - Parameters:
    ///   - tag: what the multivariant playlist says.
    ///   - base: the URL of that.
    init(_ tag: ContentSteering, base: String) {
        self.base = base
        if Self.isInline(tag.serverURI) {
            inlineText = tag.serverURI
        } else {
            origin = URIReference.resolve(tag.serverURI, against: base)
            url = origin
        }
    }

    /// The playlist comes from a fresh URL, and so may the server's, unless that has named another one since.
    mutating func renew(_ tag: ContentSteering?, base: String) {
        self.base = base
        guard let tag, let url, url == origin, let fresh = URIReference.resolve(tag.serverURI, against: base),
            !Self.isInline(fresh)
        else { return }
        (origin, self.url) = (fresh, fresh)
    }

    private static func isInline(_ uri: String) -> Bool { uri.prefix(5).lowercased() == "data:" }

    /// The URL to ask.
    ///
    /// - Parameters:
    ///   - pathway: the one in use.
    ///   - throughput: in bits per second; nil while nothing is known.
    func request(pathway: String?, throughput: Double?) -> String? {
        // Nobody is asked: what comes is in the URL.
        if let url, Self.isInline(url) { return url }
        guard let url, var reference = URIReference(url) else { return nil }
        var parameters: [(name: String, value: String)] = []
        if let pathway { parameters.append(("_HLS_pathway", QueryCoding.encoded(pathway))) }
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

    /// An answer came.
    ///
    /// - Parameter source: the URL that answered; nil for that in the playlist.
    /// - Returns: when to ask again; nil where nobody is to be asked.
    mutating func take(_ manifest: SteeringManifest, from source: String?, at now: Duration) -> Duration? {
        timeToLive = manifest.timeToLive
        trouble = nil
        inlineText = nil
        if let uri = manifest.reloadURI {
            url = URIReference.resolve(uri, against: source ?? base) ?? url
        }
        return url == nil ? nil : now + timeToLive
    }

    /// No answer came, or none of use: the last one holds.
    struct Failure: Sendable, Hashable {
        /// nil for never.
        var next: Duration?
        /// It is something new.
        var isNews: Bool
    }

    /// - Parameters:
    ///   - status: the status of the answer; nil without one.
    ///   - retryAfter: what it says about when to ask again.
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

    /// Nothing is loaded now: it is asked for later.
    func later(than now: Duration) -> Duration? { url == nil ? nil : now + timeToLive }
}
