/// The rules that decide which of the user's header fields an origin receives.
///
/// Any field may hold a secret, so only the user's origins receive all of them. Other origins receive known harmless
/// fields.
///
/// Source: RFC 9110 §17.16 (disclosure in fields); the browsers' handling of `Referer` for other origins.
package enum UserFields {
    /// In lower case. They describe the client and its abilities, and are the same for all servers.
    private static let harmless: Set<String> = [
        "user-agent", "accept", "accept-encoding", "accept-language", "accept-charset", "cache-control", "pragma",
        "dnt",
        "origin", "sec-gpc", "upgrade-insecure-requests", "x-playback-session-id",
    ]
    /// Only the user's origins receive these, even if an app sets them for one request.
    private static let credentials: Set<String> = ["authorization", "cookie", "proxy-authorization"]

    package static func sent(_ request: TransportRequest, to origin: URLOrigin) -> [TransportField] {
        guard !request.credentialOrigins.contains(origin) else { return request.fields }
        lazy var isOwnOrigin = URLOrigin(of: request.urlString) == origin
        return request.fields.compactMap { field in
            let name = field.name.lowercased()
            if isHarmless(name) { return field }
            if !credentials.contains(name), request.ownFieldNames.contains(name), isOwnOrigin { return field }
            // Like browsers, send the site but not the page.
            if name == "referer", let site = URLOrigin(of: field.value) {
                return TransportField(name: field.name, value: "\(site)/")
            }
            return nil
        }
    }

    package static func isHarmless(_ name: String) -> Bool {
        harmless.contains(name) || name.hasPrefix("cmcd-") || name.hasPrefix("sec-ch-")
    }

    /// Returns the lower-case names of fields that are new in `changed` or have another value.
    static func names(addedTo request: TransportRequest, by changed: TransportRequest) -> Set<String> {
        guard request.fields != changed.fields else { return [] }
        let before = Set(request.fields)
        return Set(changed.fields.filter { !before.contains($0) }.map { $0.name.lowercased() })
    }
}

extension TransportField {
    package func isNamed(_ other: String) -> Bool { ResponseHead.isEqual(name, other) }
}
