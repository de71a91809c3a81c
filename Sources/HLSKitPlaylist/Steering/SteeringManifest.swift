/// The response of a steering server: the pathways, their order, and the time until the next request.
///
/// Any bytes can be parsed. Unusable members of an otherwise valid manifest are omitted, and ``issues`` names them.
/// Source: rfc8216bis §7.2 and §7.3.
package struct SteeringManifest: Sendable, Hashable {
    /// The largest accepted text, in bytes. Longer lists are cut.
    package static let maximumByteCount = 1 << 18
    package static let maximumCount = 64
    /// The default if a manifest has no `TTL`.
    package static let defaultTimeToLive = Duration.seconds(300)
    /// Shorter and longer times are clamped to this range.
    package static let timesToLive = Duration.seconds(1)...Duration.seconds(86_400)

    /// The time from the response to the next request (`TTL`).
    package var timeToLive = SteeringManifest.defaultTimeToLive
    /// The URI of the next request as written (`RELOAD-URI`), or nil for the same URI.
    package var reloadURI: String?
    /// The pathways, the best first and each once (`PATHWAY-PRIORITY`). Never empty.
    package var priority: [String]
    /// The pathway clones (`PATHWAY-CLONES`), in the order of their creation.
    package var clones: [PathwayClone] = []
    package var issues: [String] = []

    package struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        package var description: String
        package init(description: String) { self.description = description }
    }

    package init(priority: [String]) { self.priority = priority }

    package static func read(_ bytes: some Collection<UInt8>) -> Result<SteeringManifest, Invalid> {
        do throws(Invalid) { return .success(try SteeringManifest(parsing: bytes)) } catch { return .failure(error) }
    }

    package init(parsing bytes: some Collection<UInt8>) throws(Invalid) {
        guard bytes.count <= Self.maximumByteCount else {
            throw Invalid(description: "larger than \(Self.maximumByteCount) bytes")
        }
        guard let document = JSONDocument(parsing: bytes), case .object = document else {
            throw Invalid(description: "not a JSON object")
        }
        guard document["VERSION"]?.number == 1 else { throw Invalid(description: "VERSION is not 1") }
        var issues: [String] = []
        var ids: [String] = []
        for entry in document["PATHWAY-PRIORITY"]?.array ?? [] {
            guard let id = entry.string, !id.isEmpty, !ids.contains(id), ids.count < Self.maximumCount else {
                issues.append("PATHWAY-PRIORITY has an entry that is not a new pathway")
                continue
            }
            if !Self.isLegal(id) { issues.append("a pathway has characters that none may have") }
            ids.append(id)
        }
        guard !ids.isEmpty else { throw Invalid(description: "PATHWAY-PRIORITY names no pathway") }
        self.init(priority: ids)
        readTime(document, &issues)
        if let uri = document["RELOAD-URI"] {
            reloadURI = uri.string.flatMap { $0.isEmpty ? nil : $0 }
            if reloadURI == nil { issues.append("RELOAD-URI is not a URI") }
        }
        if let list = document["PATHWAY-CLONES"] {
            if list.array == nil { issues.append("PATHWAY-CLONES is not an array") }
            for entry in list.array ?? [] {
                guard clones.count < Self.maximumCount, let clone = PathwayClone(entry),
                    !clones.contains(where: { $0.id == clone.id })
                else {
                    issues.append("PATHWAY-CLONES has an entry that is not a new clone")
                    continue
                }
                clones.append(clone)
            }
        }
        self.issues = Array(issues.prefix(8))
    }

    private mutating func readTime(_ document: JSONDocument, _ issues: inout [String]) {
        guard let value = document["TTL"] else { return }
        guard let seconds = value.number, seconds >= 0 else { return issues.append("TTL is not a time") }
        // A number of any size.
        let (least, most) = (Self.timesToLive.lowerBound, Self.timesToLive.upperBound)
        timeToLive = seconds < 1 ? least : seconds > 86_400 ? most : .milliseconds(Int64(seconds * 1000))
        if seconds < 1 || seconds > 86_400 { issues.append("TTL is not between 1 and 86400 s") }
    }

    package static func isLegal(_ id: String) -> Bool {
        id.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || ".-_".utf8.contains(byte)
        }
    }
}

/// A pathway derived from another one by rewriting its URIs: an entry of `PATHWAY-CLONES`.
package struct PathwayClone: Sendable, Hashable {
    package var id: String
    package var baseID: String
    /// Replaces the host of each URI, and its port if it contains one. nil leaves it unchanged.
    package var host: String?
    /// Replace parameters of the same names in each URI's query, or are added in the order of their names.
    package var parameters: [String: String] = [:]
    /// URIs by `STABLE-VARIANT-ID` and `STABLE-RENDITION-ID`. Their hosts are not replaced.
    package var variantURIs: [String: String] = [:]
    package var renditionURIs: [String: String] = [:]

    package init(id: String, baseID: String) {
        self.id = id
        self.baseID = baseID
    }

    init?(_ document: JSONDocument) {
        guard let id = document["ID"]?.string, !id.isEmpty, let baseID = document["BASE-ID"]?.string, id != baseID,
            let replacement = document["URI-REPLACEMENT"], case .object = replacement
        else { return nil }
        self.init(id: id, baseID: baseID)
        host = replacement["HOST"]?.string.flatMap { Self.isHost($0) ? $0 : nil }
        parameters = Self.strings(replacement["PARAMS"])
        variantURIs = Self.strings(replacement["PER-VARIANT-URIS"])
        renditionURIs = Self.strings(replacement["PER-RENDITION-URIS"])
    }

    private static func strings(_ document: JSONDocument?) -> [String: String] {
        guard case .object(let members)? = document else { return [:] }
        return members.compactMapValues(\.string).filter { !$0.key.isEmpty }
    }

    /// Whether a text is a name or address with an optional port, without characters that would begin another part of a
    /// URI.
    private static func isHost(_ text: String) -> Bool {
        guard !text.isEmpty, !text.utf8.contains(where: { "/?#@\\ ".utf8.contains($0) }),
            let reference = URIReference("//" + text)
        else { return false }
        return reference.host?.isEmpty == false
    }

    /// The largest number of bytes by which a clone's URI can be longer than its base's.
    var addedByteCount: Int {
        let own = max(variantURIs.longest, renditionURIs.longest)
        return parameters.reduce(own + (host?.utf8.count ?? 0)) { count, parameter in
            count + 2 + 3 * (parameter.key.utf8.count + parameter.value.utf8.count)
        }
    }

    /// Returns the clone's URI for a URI of the base pathway.
    ///
    /// - Parameters:
    ///   - own: The URI that the clone declares for its stable ID.
    ///   - base: The URL of the playlist that names it.
    func rewritten(_ uri: String, own: String?, base: String) -> String {
        guard let text = URIReference.resolve(own ?? uri, against: base), var target = URIReference(text) else {
            return own ?? uri
        }
        if own == nil, let host, target.host != nil, let replacement = URIReference("//" + host) {
            target.host = replacement.host
            if let port = replacement.port { target.port = port }
        }
        target.query = query(target.query)
        return target.description
    }

    private func query(_ query: String?) -> String? {
        guard !parameters.isEmpty else { return query }
        let coded = parameters.map { (PercentCoding.encoded($0.key), PercentCoding.encoded($0.value)) }
            .sorted { $0.0 < $1.0 }
        let names = Set(coded.map(\.0))
        let kept = (query ?? "").split(separator: "&").filter { part in
            !names.contains(String(part.prefix { $0 != "=" }))
        }
        return (kept.map(String.init) + coded.map { "\($0.0)=\($0.1)" }).joined(separator: "&")
    }
}

extension [String: String] {
    fileprivate var longest: Int { values.reduce(0) { Swift.max($0, $1.utf8.count) } }
}
