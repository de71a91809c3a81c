/// Which header fields of a user an origin gets to see.
///
/// A field may hold a secret whatever its name is, so all are for the user's origins alone but those that are known to
/// hold none. Source: RFC 9110 §17.16 (disclosure in fields); what browsers send of `Referer` to other origins.
package enum UserFields {
    /// In lower case. They tell what a client is and takes, and are the same for all servers.
    private static let harmless: Set<String> = [
        "user-agent", "accept", "accept-encoding", "accept-language", "accept-charset", "cache-control", "pragma",
        "dnt",
        "origin", "sec-gpc", "upgrade-insecure-requests", "x-playback-session-id",
    ]
    /// These are for the user's origins even where a program sets them for one request.
    private static let credentials: Set<String> = ["authorization", "cookie", "proxy-authorization"]

    /// Those of the request's fields that go to `origin`.
    package static func sent(_ request: TransportRequest, to origin: URLOrigin) -> [TransportField] {
        guard !request.credentialOrigins.contains(origin) else { return request.fields }
        lazy var isOwnOrigin = URLOrigin(of: request.urlString) == origin
        return request.fields.compactMap { field in
            let name = field.name.lowercased()
            if isHarmless(name) { return field }
            if !credentials.contains(name), request.ownFieldNames.contains(name), isOwnOrigin { return field }
            // As browsers do: which site it is, not which page.
            if name == "referer", let site = URLOrigin(of: field.value) {
                return TransportField(name: field.name, value: "\(site)/")
            }
            return nil
        }
    }

    /// Fields of this name, in lower case, hold no secret.
    package static func isHarmless(_ name: String) -> Bool {
        harmless.contains(name) || name.hasPrefix("cmcd-") || name.hasPrefix("sec-ch-")
    }

    /// The names, in lower case, of fields that `changed` has and `request` has not, or with another value.
    static func names(addedTo request: TransportRequest, by changed: TransportRequest) -> Set<String> {
        guard request.fields != changed.fields else { return [] }
        let before = Set(request.fields)
        return Set(changed.fields.filter { !before.contains($0) }.map { $0.name.lowercased() })
    }
}

extension TransportField {
    package func isNamed(_ other: String) -> Bool { ResponseHead.isEqual(name, other) }
}
