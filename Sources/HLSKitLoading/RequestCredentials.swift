/// The credentials of requests for an item, and the origins that may receive them.
///
/// Credentials in the item's URL and fields are sent to the origin of that URL and to origins that the user names (R59,
/// R60).
package struct RequestCredentials: Sendable, Hashable {
    package let origins: Set<URLOrigin>
    package let authorization: TransportField?
    private let ownFields: [TransportField]

    package init(url: String, _ fields: [TransportField] = [], origins: Set<URLOrigin>) {
        let parsed = try? HTTPURL(url)
        self.origins = origins.union([parsed?.origin].compactMap(\.self))
        authorization = parsed?.basicAuthorization
        ownFields = fields
    }

    /// The user's fields, with the authorization of the URL unless they contain one.
    package var fields: [TransportField] { Self.fields(ownFields, authorization) }

    package static func fields(_ fields: [TransportField], _ authorization: TransportField?) -> [TransportField] {
        guard let authorization, !fields.contains(where: { $0.isNamed("Authorization") }) else {
            return fields
        }
        return fields + [authorization]
    }
}
