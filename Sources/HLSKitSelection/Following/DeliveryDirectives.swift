/// The delivery directives of a playlist request: a blocking reload, a delta update, or both.
///
/// Source: rfc8216bis §6.2.5, §6.3.7.
package struct DeliveryDirectives: Sendable {
    /// The part or segment that blocks the response until it is listed, numbered as on the server.
    package var awaited: PartPosition?
    package var delta: DeltaUpdate?

    package init(awaited: PartPosition? = nil, delta: DeltaUpdate? = nil) {
        self.awaited = awaited
        self.delta = delta
    }

    package var isEmpty: Bool { awaited == nil && delta == nil }

    /// In alphabetical order, so that a cache keeps a single copy of the response.
    private var parameters: [String] {
        var parameters: [String] = []
        if let awaited {
            parameters.append("_HLS_msn=\(awaited.sequence)")
            if let part = awaited.part { parameters.append("_HLS_part=\(part)") }
        }
        if let delta { parameters.append("_HLS_skip=\(delta.value)") }
        return parameters
    }

    package func url(of playlist: String) -> String {
        let parameters = parameters
        guard !parameters.isEmpty else { return playlist }
        let plain = playlist.prefix { $0 != "#" }
        return plain + (plain.contains("?") ? "&" : "?") + parameters.joined(separator: "&")
    }

    /// Returns the URL of the playlist for a response URL that may contain these directives.
    package func url(answering url: String) -> String {
        var url = url
        for parameter in parameters.reversed() {
            guard let mark = ["?", "&"].first(where: { url.hasSuffix($0 + parameter) }) else { continue }
            url.removeLast(parameter.count + mark.count)
        }
        return url
    }
}
