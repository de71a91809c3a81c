/// What a server is asked for besides a playlist: to wait until something is listed, and to leave out what is known.
///
/// Source: rfc8216bis §6.2.5, §6.3.7.
package struct DeliveryDirectives: Sendable {
    /// The answer is held until this is listed, by the numbers of the server.
    package var awaited: PartPosition?
    package var delta: DeltaUpdate?

    package init(awaited: PartPosition? = nil, delta: DeltaUpdate? = nil) {
        self.awaited = awaited
        self.delta = delta
    }

    package var isEmpty: Bool { awaited == nil && delta == nil }

    /// By their names: caches keep one answer then.
    private var parameters: [String] {
        var parameters: [String] = []
        if let awaited {
            parameters.append("_HLS_msn=\(awaited.sequence)")
            if let part = awaited.part { parameters.append("_HLS_part=\(part)") }
        }
        if let delta { parameters.append("_HLS_skip=\(delta.value)") }
        return parameters
    }

    /// The URL that asks for it.
    package func url(of playlist: String) -> String {
        let parameters = parameters
        guard !parameters.isEmpty else { return playlist }
        let plain = playlist.prefix { $0 != "#" }
        return plain + (plain.contains("?") ? "&" : "?") + parameters.joined(separator: "&")
    }

    /// The URL of the playlist whose answer came from there.
    package func url(answering url: String) -> String {
        var url = url
        for parameter in parameters.reversed() {
            guard let mark = ["?", "&"].first(where: { url.hasSuffix($0 + parameter) }) else { continue }
            url.removeLast(parameter.count + mark.count)
        }
        return url
    }
}
