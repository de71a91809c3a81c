/// What requests for an item carry, and who may see all of it.
///
/// Credentials in the item's URL and in its fields go to the origin of that URL and to those that the user names.
///
/// See R59 and R60 in docs/behaviour/faults.md, and docs/behaviour/credentials.md.
package struct RequestCredentials: Sendable, Hashable {
    /// Where all of the fields may go.
    package let origins: Set<URLOrigin>
    /// What the user information of the item's URL says.
    package let authorization: TransportField?
    private let ownFields: [TransportField]

    /// - Parameters:
    ///   - url: the item's, as its user gave it.
    ///   - fields: the user's.
    ///   - origins: the user's, besides that of `url`.
    package init(url: String, _ fields: [TransportField] = [], origins: Set<URLOrigin>) {
        let parsed = try? HTTPURL(url)
        self.origins = origins.union([parsed?.origin].compactMap(\.self))
        authorization = parsed?.basicAuthorization
        ownFields = fields
    }

    /// The user's fields; those of the URL where they name no others.
    package var fields: [TransportField] { Self.fields(ownFields, authorization) }

    /// `fields`, and `authorization` where they have none.
    package static func fields(_ fields: [TransportField], _ authorization: TransportField?) -> [TransportField] {
        guard let authorization, !fields.contains(where: { $0.isNamed("Authorization") }) else {
            return fields
        }
        return fields + [authorization]
    }
}
